"""The data of a run: as the source gives it, then corrupted, corrected and encoded, as asked; prepared once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._progress import EncodingProgress
from anchored.data import (
    Dataset,
    Split,
    correct,
    corrupt,
    held_out_mask,
    open_source,
    read_corrections,
)
from anchored.data.file_inputs import MEMORY_LIMIT
from anchored.features import Encoder
from anchored.runs.features import NOT_ENCODED, encode_data, may_encode_images, table_form
from anchored.runs.moved import moved
from anchored.training import FeaturesConfig, Parts, RunConfig

__all__ = ["RunData", "open_data"]


def open_data(config: RunConfig, *, root: str | Path | None = None) -> Split:
    """Open the data of a run as its configuration names it, neither corrupted nor corrected nor encoded yet.

    Args:
        config: The settings as asked for, or the configuration of a run.
        root: Where the data lies now, if it was moved; see :func:`anchored.runs.moved.moved`.

    Returns:
        The training part, and the test part if the source has one. Images that may be encoded stay on the disk.

    Example:
        >>> from anchored.training import validate
        >>> len(open_data(validate({"data": {"source": "digits"}})).train)
        1437
    """
    data = moved(config.data, root)
    return open_source(
        data.source,
        root=data.root,
        label=data.label,
        image=data.image,
        test=data.test,
        side=data.side,
        below_label=data.below_label,
        memory_limit=0 if may_encode_images(config) else MEMORY_LIMIT,
        form=table_form(config),
    )


@dataclass(frozen=True, eq=False)
class RunData:
    """Training data as a run uses it, and how it came about.

    Attributes:
        labelled: Everything that training is given, in the order of the source; looks and audits count in it. Vectors,
            if the inputs were encoded.
        uncorrected: The same samples under their labels before corrections.
        test: The test part in the form of ``labelled``, or None.
        encoder: The fitted encoder that turned ``raw`` into ``labelled``; None if nothing was encoded.
        features: The settings of that encoder; nothing in them is ``auto``.
        unencoded: ``labelled`` before it was encoded; None if nothing was encoded.
        corruption: What :func:`anchored.data.corrupt` did; empty if nothing was asked for.
        corrections: What :func:`anchored.data.correct` did; empty if nothing was asked for.
    """

    labelled: Dataset
    uncorrected: Dataset
    test: Dataset | None = None
    encoder: Encoder | None = None
    features: FeaturesConfig = NOT_ENCODED
    unencoded: Dataset | None = None
    corruption: dict[str, Any] = field(default_factory=dict)
    corrections: dict[str, Any] = field(default_factory=dict)

    @property
    def raw(self) -> Dataset:
        """The samples of ``labelled`` as people see them: photos, texts, rows of a table."""
        return self.labelled if self.unencoded is None else self.unencoded

    @classmethod
    def open(
        cls,
        split: Split,
        config: RunConfig,
        *,
        own_module: bool = False,
        encoder: Encoder | None = None,
        progress: Callable[[], EncodingProgress] = EncodingProgress,
    ) -> RunData:
        """Corrupt and correct the training part of ``split``, and encode both parts if the run does.

        Args:
            split: The data as the source gives it.
            config: The settings as asked for, or as a run keeps them; then corrections are read as they were at its
                start.
            own_module: Whether the user has given a backbone of their own, which takes inputs as they are.
            encoder: The encoder of a trained model, to use instead of the one that ``config`` says.
            progress: Makes a listener for each part that is encoded.

        Returns:
            The data of the run.

        Example:
            >>> from anchored.data import load_digits
            >>> from anchored.training import validate
            >>> data = RunData.open(load_digits(), validate({"data": {"corrupt": ["symmetric=0.4"]}}))
            >>> data.corruption["noise"]["flipped"], data.corrections, len(data.labelled)
            (570, {}, 1437)
        """
        dataset, settings, corruption = split.train, config.data, dict[str, Any]()
        if settings.corrupt:
            corrupted = corrupt(dataset, settings.corrupt, seed=config.train.seed)
            dataset, corruption = corrupted.dataset, corrupted.receipt
        before, corrections = dataset, dict[str, Any]()
        if settings.corrections is not None:
            lines = read_corrections(settings.corrections, digest=settings.corrections_digest)
            corrected = correct(dataset, lines)
            dataset, corrections = corrected.dataset, corrected.receipt
        elif settings.corrections_digest is not None:
            raise InputError("data.corrections_digest says in which state data.corrections is read; give both or none")
        found = encode_data(dataset, split.test, config, own_module=own_module, encoder=encoder, progress=progress)
        return cls(
            found.train,
            found.train
            if before is dataset
            else replace(before, inputs=found.train.inputs, columns=found.train.columns),
            found.test,
            found.encoder,
            found.config,
            None if found.encoder is None else dataset,
            corruption,
            corrections,
        )

    def held_index(self, config: RunConfig) -> Tensor | None:
        """Return the places in ``labelled`` that a run of the resolved ``config`` holds out, or None if there are none.

        Example:
            >>> from anchored.data import load_digits
            >>> from anchored.training import validate
            >>> config = validate({"data": {"hold_out": 0.1}})
            >>> len(RunData.open(load_digits(), config).held_index(config))
            144
        """
        share = config.data.hold_out
        assert not isinstance(share, str), "resolved before"
        if share <= 0:
            return None
        return held_out_mask(self.labelled, share, config.train.seed).nonzero()[:, 0]

    def parts(self, config: RunConfig, trusted: Dataset | None = None) -> Parts:
        """Divide the data for training.

        Args:
            config: The resolved configuration of the run.
            trusted: ``labelled`` with labels weighted by trust, to train on instead of it; or None.

        Returns:
            The part to train on, the part held out under the labels given, and the test part.

        Example:
            >>> from anchored.data import load_digits
            >>> from anchored.training import validate
            >>> config = validate({"data": {"hold_out": 0.1}})
            >>> parts = RunData.open(load_digits(), config).parts(config)
            >>> len(parts.train), len(parts.held_out), len(parts.test)
            (1293, 144, 360)
        """
        learnt, held = self.labelled if trusted is None else trusted, self.held_index(config)
        if held is None:
            return Parts(learnt, None, self.test)
        kept = torch.ones(len(learnt), dtype=torch.bool)
        kept[held] = False
        return Parts(learnt.subset(kept.nonzero()[:, 0]), self.labelled.subset(held), self.test)

    def unseen(self, config: RunConfig) -> tuple[str, Dataset] | None:
        """Return the best data to judge a model of ``config`` by, after its name: ``"test"``, else ``"held_out"``."""
        if self.test is not None and len(self.test) and self.test.labelled:
            return "test", self.test
        held = self.held_index(config)
        return None if held is None else ("held_out", self.labelled.subset(held))

    def check_trainable(self) -> None:
        """Refuse data that no classifier can be trained on.

        Raises:
            InputError: A sample has no label, or there is only one class, or a class has no sample.
        """
        data = self.labelled
        if not data.labelled:
            raise InputError(f"{data.name}: every training sample needs a label; give a label column or class folders")
        if data.k < 2:
            raise InputError(f"{data.name}: only one class, {data.class_names[0]!r}; a classifier needs at least two")
        missing = [name for name, count in zip(data.class_names, data.counts.tolist(), strict=True) if count == 0]
        if missing:
            raise InputError(
                f"{data.name}: no training sample of class {missing[0]!r}; add some, or leave the class out"
            )
