r"""Several computed classifiers averaged: ``average``.

.. math::  f(x) = \sum_m v_m \log p_m(x), \qquad v_m \ge 0, \quad \sum_m v_m = 1,

the logarithmic pool of members that differ in what they can express. The weights are those under which labels that no
member saw are likeliest (:func:`anchored.audit.judges.combine`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from anchored._errors import InputError
from anchored.methods.boosted import BoostedTrees
from anchored.methods.closed_form import ClosedForm, ComputedHead
from anchored.methods.neighbours import NearestNeighbours
from anchored.methods.probe import LinearProbe
from anchored.methods.ridge import AnchoredLeastSquares, KernelLeastSquares

__all__ = ["MEMBERS", "Average", "AverageHead"]

MEMBERS: Mapping[str, type[ClosedForm]] = {
    "ridge": AnchoredLeastSquares,
    "kernel-ridge": KernelLeastSquares,
    "boosted": BoostedTrees,
    "probe": LinearProbe,
    "neighbours": NearestNeighbours,
}
"""The methods that may be averaged."""


class AverageHead(ComputedHead):
    """Heads whose log-probabilities are averaged with fixed weights.

    Args:
        heads: The members' heads.
    """

    names: ClassVar[tuple[str, ...]] = ("weights",)
    weights: Tensor

    def __init__(self, heads: Mapping[str, ComputedHead]) -> None:
        super().__init__()
        self.members = nn.ModuleDict(heads)

    def forward(self, features: Tensor) -> Tensor:
        """Compute averaged log-probabilities ``(n, k)`` of features ``(n, d)``."""
        each = [head(features).log_softmax(dim=1) for head in self.members.values()]
        return (torch.stack(each, dim=2) * self.weights).sum(dim=2)

    def put(self, tensors: Mapping[str, Tensor]) -> None:
        """Take computed tensors, those of a member under its name and a dot; see the base class."""
        for name, head in self.members.items():
            assert isinstance(head, ComputedHead)
            start = f"{name}."
            head.put({key[len(start) :]: value for key, value in tensors.items() if key.startswith(start)})
        super().put(tensors)

    def check(self) -> None:
        """Refuse weights that are not one for each member."""
        if self.weights.shape != (len(self.members),):
            raise InputError("the tensors of this average do not fit together; train it again")


class Average(ClosedForm):
    """``average``: computed classifiers, pooled."""

    title: ClassVar[str] = "Average of closed forms"
    about: ClassVar[str] = "several computed classifiers, averaged with the weights that predict unseen labels best"

    @dataclass(frozen=True)
    class Options:
        """Settings of the average.

        Attributes:
            members: Names of methods, joined by commas.
            weights: Their weights, joined by commas; empty for equal ones.
            balanced: Whether every class has the same total weight, in the members that know of it.
            gamma: Sharpness of the kernel, in the members that have one; 0 chooses it by leave-one-out.
        """

        members: str = "ridge,kernel-ridge"
        weights: str = ""
        balanced: bool = False
        gamma: float = 0.0

        def __post_init__(self) -> None:
            """Refuse members that cannot be averaged and weights that are none."""
            for name in self.members.split(","):
                if name not in MEMBERS:
                    raise InputError(
                        f"method.options.members: {name!r} cannot be averaged; there are {', '.join(MEMBERS)}"
                    )
            if len(shares_of(self.weights, self.members)) != len(self.members.split(",")):
                raise InputError(f"method.options.weights must be one number per member, got {self.weights!r}")

    def _parts(self) -> dict[str, ClosedForm]:
        parts = {}
        for name in self.options.members.split(","):
            kind = MEMBERS[name]
            part = kind.__new__(kind)
            part.context, part.method, part.left_out = self.context, self.method, None
            takes = kind.Options.__dataclass_fields__.keys() & {"balanced", "gamma"}
            part.options = kind.Options(**{each: getattr(self.options, each) for each in takes})
            parts[name] = part
        return parts

    def blank_head(self) -> ComputedHead:
        """Make the heads before their tensors are known."""
        return AverageHead({name: part.blank_head() for name, part in self._parts().items()})

    def compute(self, rows: Tensor, labels: Tensor, weights: Tensor | None) -> tuple[Mapping[str, Tensor], Tensor]:
        """Compute every member; arguments and result as in the base class."""
        shares = torch.tensor(shares_of(self.options.weights, self.options.members), dtype=torch.float64)
        tensors: dict[str, Tensor] = {"weights": shares}
        left_out = torch.zeros(len(rows), self.context.k, dtype=torch.float64)
        for share, (name, part) in zip(shares.tolist(), self._parts().items(), strict=True):
            own, unseen = part.compute(rows, labels, weights)
            tensors |= {f"{name}.{key}": value for key, value in own.items()}
            left_out += share * unseen.log_softmax(dim=1)
        return tensors, left_out


def shares_of(weights: str, members: str) -> list[float]:
    """Read the weights of an average.

    Args:
        weights: Numbers joined by commas; empty for equal ones.
        members: Names joined by commas.

    Returns:
        Shares with the sum one.

    Example:
        >>> shares_of("3,1", "ridge,probe")
        [0.75, 0.25]
    """
    count = len(members.split(","))
    try:
        values = [float(value) for value in weights.split(",")] if weights else [1.0] * count
    except ValueError:
        values = []
    total = sum(values)
    if not values or min(values) < 0 or not 0 < total < float("inf"):
        raise InputError(f"method.options.weights must be numbers that are not negative, got {weights!r}")
    return [value / total for value in values]
