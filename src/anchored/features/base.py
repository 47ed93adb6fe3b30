"""An encoder turns what people have (photos, texts, rows of a table) into vectors.

Some encoders are pretrained and need no data (``efficientnet-lite0``); others learn something from the training inputs
first (a table's categories, the directions of tf-idf). Labels are never seen by an encoder. What an encoder has learnt
is plain data, JSON and tensors, so that a model can carry it to another machine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from torch import Tensor

from anchored.data import Inputs

__all__ = ["Encoder"]


class Encoder(ABC):
    """A map from inputs to vectors ``(n, d)``, float32.

    Attributes:
        name: The name that :func:`anchored.features.get` knows the encoder by.
        kind: What it encodes: ``"image"``, ``"text"``, ``"table"``, or ``"any"`` if it takes what it is given.
        cached: Whether its vectors are worth keeping on disk; not if making them again is as fast as reading them.
    """

    name: str
    kind: ClassVar[str] = "any"
    cached: ClassVar[bool] = False

    @property
    @abstractmethod
    def dim(self) -> int:
        """Number of features d of one encoded input."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """Hexadecimal digest of everything that decides the vectors: weights, settings, fitted state."""

    def fit(self, inputs: Inputs) -> Self:
        """Learn from the training inputs and return the fitted encoder; pretrained encoders return themselves."""
        return self

    @abstractmethod
    def transform(self, inputs: Inputs) -> Tensor:
        """Encode inputs.

        Args:
            inputs: Images, texts or the rows of a table, as the encoder takes them.

        Returns:
            Features ``(n, d)``, float32, finite.
        """

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what must be kept to make this encoder again: plain JSON values, and tensors by name."""

    @classmethod
    @abstractmethod
    def from_state(cls, about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Self:
        """Make the encoder from what :meth:`state` returned; the values are checked, since files are untrusted.

        Args:
            about: Plain JSON values.
            tensors: Tensors by name.

        Raises:
            InputError: If a value is missing or damaged.
        """
