"""Methods without epochs: a classifier that is computed from the data at once.

Such a method has one stage that trains nothing. Its network passes inputs on as they are, and its head holds what was
computed. What the method says of each training sample without having seen it comes with the computation, so nothing
has to be held out.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from anchored._errors import InputError
from anchored._random import stream
from anchored.losses import CrossEntropy
from anchored.methods.base import BuildContext, Network, Procedure, Stage, StageData

__all__ = ["ClosedForm", "ComputedHead", "FlatNetwork", "folds_of"]


class ComputedHead(nn.Module):
    """A head whose tensors are computed or loaded; their shapes are not known before.

    Subclasses name their tensors and say how they fit together.
    """

    names: ClassVar[tuple[str, ...]] = ()
    """Names of the tensors."""
    dtypes: ClassVar[Mapping[str, torch.dtype]] = {}
    """Types of those that are not float64."""

    def __init__(self) -> None:
        super().__init__()
        for name in self.names:
            self.register_buffer(name, torch.zeros(0, dtype=self.dtypes.get(name, torch.float64)))

    def put(self, tensors: Mapping[str, Tensor]) -> None:
        """Take computed tensors.

        Args:
            tensors: One tensor for each of ``names``.

        Raises:
            InputError: If they do not fit together.
        """
        for name in self.names:
            setattr(self, name, tensors[name].detach().to(self.dtypes.get(name, torch.float64)))
        self.check()

    @abstractmethod
    def check(self) -> None:
        """Refuse tensors that do not fit together."""

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:  # noqa: ANN401
        # The shapes are those of the file, whose size bounds the memory that they take.
        for name in self.names:
            value = state_dict.get(prefix + name)
            if isinstance(value, Tensor):
                setattr(self, name, torch.empty_like(value, dtype=self.dtypes.get(name, getattr(self, name).dtype)))
        super()._load_from_state_dict(state_dict, prefix, *rest)
        self.check()


class FlatNetwork(Network):
    """Passes inputs on to the head as vectors.

    Args:
        input_shape: Shape of one input.
        head: Maps vectors ``(n, d)`` to logits ``(n, k)``.
    """

    def __init__(self, input_shape: tuple[int, ...], head: nn.Module) -> None:
        super().__init__()
        self.input_shape = tuple(input_shape)
        self.head = head

    def features(self, inputs: Tensor) -> Tensor:
        """Return the inputs ``(n, d)`` as vectors."""
        return inputs.flatten(1)


class ClosedForm(Procedure):
    """One stage without training, whose head is computed from all training samples.

    Args:
        context: What the network is built from.
    """

    head: ClassVar[Mapping[str, object]] = {"head": "computed"}
    goes_with: ClassVar[tuple[str, ...]] = ()
    computed: ClassVar[bool] = True

    def __init__(self, context: BuildContext) -> None:
        super().__init__(context)
        self.left_out: Tensor | None = None

    @abstractmethod
    def blank_head(self) -> ComputedHead:
        """Make the head before its tensors are known."""

    @abstractmethod
    def compute(self, rows: Tensor, labels: Tensor, weights: Tensor | None) -> tuple[Mapping[str, Tensor], Tensor]:
        """Compute the head.

        Args:
            rows: Features ``(n, d)``.
            labels: ``(n,)``.
            weights: ``(n,)``, how much each sample counts; None for one each.

        Returns:
            The head's tensors by name, and logits ``(n, k)`` of every sample from models that did not see it.
        """

    def network(self) -> Network:
        """Build the network with a blank head."""
        return FlatNetwork(self.context.shape, self.blank_head())

    def stages(self) -> tuple[Stage, ...]:
        """Return the one stage, which computes."""
        return (Stage(name="closed form", loss=CrossEntropy(), trained=False, fill=self.fill),)

    def fill(self, network: Network, data: StageData) -> None:
        """Compute the head of ``network`` from the training data."""
        inputs, labels, weights = data.samples()
        rows = inputs.flatten(1)
        if not bool(torch.isfinite(rows).all()):
            raise InputError("the training inputs hold values that are not finite; fill or drop them")
        tensors, left_out = self.compute(rows, labels, weights)
        head = network.head
        assert isinstance(head, ComputedHead)
        head.put(tensors)
        self.left_out = left_out


def folds_of(labels: Tensor, folds: int, seed: int) -> list[npt.NDArray[np.int64]]:
    """Divide samples at random into folds in which each class has the same share, up to one sample.

    Args:
        labels: ``(n,)``.
        folds: Number of folds.
        seed: Seed of the division.

    Returns:
        The places of each fold's samples, sorted.

    Example:
        >>> [len(fold) for fold in folds_of(torch.arange(11) % 2, 3, seed=0)]
        [4, 4, 3]
    """
    shuffled = torch.randperm(len(labels), generator=stream(seed, "folds"))
    grouped = shuffled[labels[shuffled].argsort(stable=True)].numpy()
    return [np.sort(grouped[number::folds]) for number in range(folds)]
