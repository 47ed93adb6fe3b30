"""The data of a run as the run itself saw it: spoiled and corrected in the same way, split at the same place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from anchored.data import Dataset, Split
from anchored.data.holdout import held_out_mask
from anchored.runs import open_data, prepare
from anchored.training import RunConfig

__all__ = ["RunData", "run_data"]


@dataclass(frozen=True, eq=False)
class RunData:
    """The parts of a run's data.

    Attributes:
        labelled: Everything that training was given, in the order of the source; an audit counts in it.
        held_out: The part of it that was kept aside, where one was.
        held_index: Its places in the whole.
        test: The test part, where the source has a labelled one.
    """

    labelled: Dataset
    held_out: Dataset | None
    held_index: Tensor | None
    test: Dataset | None

    @property
    def unseen(self) -> tuple[str, Dataset] | None:
        """The best data to judge the model by: the test part, else what was held out; and which of them it is."""
        if self.test is not None:
            return "test", self.test
        return None if self.held_out is None else ("held_out", self.held_out)


def run_data(config: RunConfig, split: Split | None = None, *, root: str | Path | None = None) -> RunData:
    """The data that ``config`` names; ``split`` where it is open already, ``root`` where it lies elsewhere by now.

    Example:
        >>> from anchored.training import validate
        >>> config = validate({"data": {"source": "digits", "corrupt": ["symmetric=0.4"], "hold_out": 0.1}})
        >>> data = run_data(config)
        >>> len(data.labelled), len(data.held_out), data.unseen[0]
        (1437, 144, 'test')
    """
    asked = config.data
    if split is None:
        split = open_data(asked, root=root)
    data = prepare(split.train, config).dataset
    share = asked.hold_out
    held_index: Tensor | None = None
    if not isinstance(share, str) and share > 0:
        held_index = held_out_mask(data, share, config.train.seed).nonzero()[:, 0]
    held_out = None if held_index is None else data.subset(held_index)
    test = split.test
    return RunData(data, held_out, held_index, test if test is not None and len(test) and test.labelled else None)
