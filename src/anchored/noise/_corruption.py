r"""The receipt of a corruption: clean and observed labels, and every rate that follows from the two.

.. math::  \hat T_{ij} = \frac{\#\{\text{clean } i,\ \text{observed } j\}}{\#\{\text{clean } i\}},
           \qquad \hat\eta_i = 1 - \hat T_{ii}.

Only the labels and the transition that was asked for are stored; all rates are computed from them,
so a receipt cannot disagree with its labels. A class without samples has no rate: ``None``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

__all__ = ["Corruption"]


@dataclass(frozen=True, eq=False, repr=False)
class Corruption:
    r"""Observed labels together with what was asked for and what was realised.

    .. math::  \hat T_{ij} = \frac{\#\{\text{clean } i,\ \text{observed } j\}}{\#\{\text{clean } i\}},
               \qquad \hat\eta_i = 1 - \hat T_{ii}.

    Attributes:
        labels: Observed labels ``(n,)``, int64.
        clean: The labels as they were given ``(n,)``, a copy.
        k: Number of classes.
        procedure: What was done, e.g. ``"symmetric (exact)"``.
        eta: The rate that was asked for; ``None`` if a whole matrix was asked for.
        asked_matrix: Transition asked for ``(k, k)``, float64; row ``i`` is the distribution of the
            observed label of class ``i``. A row of NaN: nothing can be said about an absent class.

    Example:
        >>> clean = torch.tensor([0, 0, 0, 0, 2, 2])
        >>> swap = torch.tensor([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]).double()
        >>> receipt = Corruption(torch.tensor([0, 1, 0, 1, 2, 2]), clean, 3, "by hand", 0.5, swap)
        >>> receipt.rate, receipt.per_class
        (0.3333333333333333, (0.5, None, 0.0))
    """

    labels: Tensor
    clean: Tensor
    k: int
    procedure: str
    eta: float | None
    asked_matrix: Tensor

    @cached_property
    def flipped(self) -> Tensor:
        """Mask ``(n,)``: true if the observed label is not the clean one."""
        return self.labels != self.clean

    @cached_property
    def counts(self) -> Tensor:
        """Realised transitions ``(k, k)`` as numbers of samples, int64: row clean, column observed."""
        pairs = self.clean * self.k + self.labels
        return torch.bincount(pairs, minlength=self.k * self.k).reshape(self.k, self.k)

    @cached_property
    def matrix(self) -> Tensor:
        """Realised transition matrix ``(k, k)``, float64; the row of an absent class is NaN."""
        return self.counts.double() / self.counts.sum(dim=1, keepdim=True)

    @property
    def rate(self) -> float:
        """Share of all labels that were changed."""
        return self.flipped.double().mean().item()

    @property
    def per_class(self) -> tuple[float | None, ...]:
        """Share changed within each clean class, ``None`` for a class without samples."""
        # From the counts and not from 1 - diagonal: 4 of 10 is then exactly 0.4.
        total = self.counts.sum(dim=1)
        changed = total - self.counts.diagonal()
        return tuple(c / n if n else None for c, n in zip(changed.tolist(), total.tolist(), strict=True))

    @property
    def asked_per_class(self) -> tuple[float | None, ...]:
        """Rate asked for in each clean class, ``None`` if it is unknown."""
        rates = (1 - self.asked_matrix.diagonal()).tolist()
        return tuple(None if math.isnan(rate) else round(rate, 12) for rate in rates)

    @property
    def asked_rate(self) -> float:
        """Share of all labels that should have changed, given how many samples each class has."""
        sizes = self.counts.sum(dim=1).cpu()
        wrong = 1 - self.asked_matrix.diagonal().cpu()
        present = sizes > 0
        return ((sizes[present] * wrong[present]).sum() / sizes.sum()).item()

    def check(self, sigmas: float = 6.0) -> Corruption:
        """Return this receipt, or raise if the rate of a class is further from the one asked for than chance allows.

        The allowance is ``sigmas`` standard deviations of independent flips, plus one sample for rounding.

        Raises:
            RuntimeError: If a class is outside the allowance.
        """
        for j, (asked, got) in enumerate(zip(self.asked_per_class, self.per_class, strict=True)):
            if asked is None or got is None:
                continue
            n = int(self.counts[j].sum())
            if abs(got - asked) > sigmas * math.sqrt(max(asked * (1 - asked), 0.0) / n) + 1 / n:
                raise RuntimeError(
                    f"{self.procedure}: class {j} was asked for noise {asked:.4f} and got {got:.4f} on {n} labels"
                )
        return self

    def as_dict(self) -> dict[str, object]:
        """Return everything but the labels, in types that JSON knows; absent is ``None``."""
        rows = [None if math.isnan(row[0]) else row for row in self.matrix.tolist()]
        return {
            "procedure": self.procedure,
            "n": self.labels.numel(),
            "k": self.k,
            "eta": self.eta,
            "asked_rate": self.asked_rate,
            "rate": self.rate,
            "asked_per_class": list(self.asked_per_class),
            "per_class": list(self.per_class),
            "matrix": rows,
        }

    def summary(self) -> str:
        """Return the receipt as a few lines of text: the total, then one line per class."""
        lines = [
            f"{self.procedure}: {int(self.flipped.sum())} of {self.labels.numel()} labels changed, "
            f"rate {self.rate:.4f} (asked {self.asked_rate:.4f})",
            "class  samples   asked  realised",
        ]
        for j, (asked, got) in enumerate(zip(self.asked_per_class, self.per_class, strict=True)):
            cells = ["-" if value is None else f"{value:.4f}" for value in (asked, got)]
            lines.append(f"{j:>5}  {int(self.counts[j].sum()):>7}  {cells[0]:>6}  {cells[1]:>8}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Corruption({self.procedure!r}, n={self.labels.numel()}, k={self.k}, rate={self.rate:.4f})"
