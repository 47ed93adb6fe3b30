"""Several encoders side by side, e.g. ``wordllama+tfidf``: their vectors one after the other.

Each part is divided by the root of its mean squared length on the training inputs, so that none outweighs the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored.data import Inputs
from anchored.features.base import Encoder
from anchored.features.weights import digest_of

__all__ = ["Joined"]


class Joined(Encoder):
    """Vectors of several encoders, joined: ``(x_1 / s_1, x_2 / s_2, ...)`` with ``s_j`` the root mean square length.

    Args:
        parts: The encoders, two or more, each with a name of its own.
        scales: What each part is divided by; measured by :meth:`fit` if left out.
    """

    def __init__(self, parts: Sequence[Encoder], scales: Sequence[float] | None = None) -> None:
        names = [part.name for part in parts]
        if len(parts) < 2 or len(set(names)) != len(names):
            raise InputError(f"joined encoders must be two or more different ones, got {'+'.join(names) or 'none'}")
        self.parts = tuple(parts)
        self.scales = None if scales is None else tuple(float(scale) for scale in scales)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The names of the parts with plus signs between."""
        return "+".join(part.name for part in self.parts)

    @property
    def kind(self) -> str:  # type: ignore[override]
        """What the first part encodes."""
        return self.parts[0].kind

    @property
    def fitted(self) -> bool:
        """Whether the scales are known and every part is fitted."""
        return self.scales is not None and all(getattr(part, "fitted", True) for part in self.parts)

    @property
    def dim(self) -> int:
        """Sum over the parts."""
        return sum(part.dim for part in self.parts)

    @cached_property
    def _digest(self) -> str:
        scales = None if self.scales is None else list(self.scales)
        return digest_of({"parts": [part.digest for part in self.parts], "scales": scales}, {})

    @property
    def digest(self) -> str:
        """Digest of the parts and their scales."""
        return self._digest

    def fit(self, inputs: Inputs) -> Self:
        """Fit every part and measure the length of its vectors."""
        parts = [part.fit(inputs) for part in self.parts]
        lengths = [float(part.transform(inputs).double().square().sum(dim=1).mean().sqrt()) for part in parts]
        return type(self)(parts, [length if length > 0 else 1.0 for length in lengths])

    def transform(self, inputs: Inputs) -> Tensor:
        """Encode with every part and join the vectors."""
        if self.scales is None:
            raise InputError(f"{self.name} must measure the lengths of its parts first; call fit")
        return torch.cat(
            [part.transform(inputs) / scale for part, scale in zip(self.parts, self.scales, strict=True)], dim=1
        )

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return the states of the parts, their tensors named ``0.matrix`` and so on."""
        about: dict[str, Any] = {"encoder": self.name, "parts": [], "scales": None}
        tensors: dict[str, Tensor] = {}
        for number, part in enumerate(self.parts):
            described, held = part.state()
            about["parts"].append(described)
            tensors |= {f"{number}.{name}": tensor for name, tensor in held.items()}
        about["scales"] = None if self.scales is None else list(self.scales)
        return about, tensors

    @classmethod
    def from_state(cls, about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Self:
        """Make the encoder from what :meth:`state` returned.

        Args:
            about: The descriptions of the parts, and the scales.
            tensors: The tensors of all parts.

        Raises:
            InputError: If a part is unknown or damaged.
        """
        from anchored.features.names import restore

        described, scales = about.get("parts"), about.get("scales")
        if not isinstance(described, list) or not all(isinstance(part, Mapping) for part in described):
            raise InputError("the stored encoder: its parts are missing; make the model again")
        parts = []
        for number, part in enumerate(described):
            if "+" in str(part.get("encoder", "")):
                raise InputError("the stored encoder: a part may not be joined itself; make the model again")
            front = f"{number}."
            held = {name.removeprefix(front): tensor for name, tensor in tensors.items() if name.startswith(front)}
            parts.append(restore(part, held))
        if scales is not None and not (
            isinstance(scales, list) and len(scales) == len(parts) and all(_is_positive(scale) for scale in scales)
        ):
            raise InputError("the stored encoder: its scales are damaged; make the model again")
        return cls(parts, scales)


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value < float("inf")
