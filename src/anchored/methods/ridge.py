r"""Anchored least squares as methods of a run: ``ridge`` on the inputs, ``kernel-ridge`` on Gaussian kernel features.

.. math::  f(x) = \frac{1}{T}\bigl((\phi(x) - \mu)\,A + a\bigr),

with slope and offset in closed form; see :mod:`anchored.ridge`. Strength and width are those under which the given
labels are likeliest by leave-one-out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored.methods.closed_form import ClosedForm, ComputedHead
from anchored.ridge import Ridge, fit_ridge

__all__ = ["AnchoredLeastSquares", "KernelLeastSquares", "RidgeHead"]


class RidgeHead(ComputedHead):
    r"""The fitted map of :class:`anchored.ridge.Ridge`: :math:`(\phi(x) - \mu) A + a`, already divided by T.

    Example:
        >>> from anchored.ridge import fit_ridge
        >>> X = torch.eye(3).repeat(20, 1)
        >>> ridge = fit_ridge(X, torch.arange(60) % 3, 3)
        >>> head = RidgeHead.of(ridge)
        >>> bool(torch.allclose(head(X), ridge.logits(X)))
        True
    """

    names: ClassVar[tuple[str, ...]] = ("mean", "slope", "offset", "centre", "inverse", "landmarks", "mix", "gamma")
    mean: Tensor
    slope: Tensor
    offset: Tensor
    centre: Tensor
    inverse: Tensor
    landmarks: Tensor
    mix: Tensor
    gamma: Tensor

    @classmethod
    def of(cls, ridge: Ridge) -> RidgeHead:
        """Make the head of a fitted model."""
        head = cls()
        head.put(ridge_tensors(ridge))
        return head

    def forward(self, features: Tensor) -> Tensor:
        """Compute logits ``(n, k)`` of features ``(n, d)``."""
        rows = features.to(self.slope.dtype)
        if len(self.landmarks):
            points = (rows - self.centre) * self.inverse
            squares = (points**2).sum(1, keepdim=True) + (self.landmarks**2).sum(1) - 2 * points @ self.landmarks.T
            rows = torch.exp(-self.gamma * squares.clamp(min=0)) @ self.mix
        return (rows - self.mean) @ self.slope + self.offset

    def check(self) -> None:
        """Refuse tensors that do not fit together."""
        r, k = len(self.mean), len(self.offset)
        fits = self.slope.shape == (r, k)
        if len(self.landmarks):
            m, d = self.landmarks.shape if self.landmarks.ndim == 2 else (0, 0)
            fits = fits and self.mix.shape == (m, r) and self.centre.shape == self.inverse.shape == (d,)
            fits = fits and self.gamma.shape == (1,)
        if not fits:
            raise InputError("the tensors of this ridge model do not fit together; train it again")


def ridge_tensors(ridge: Ridge) -> dict[str, Tensor]:
    """Return the tensors of a :class:`RidgeHead` for a fitted model."""
    none = torch.zeros(0, dtype=torch.float64)
    kernel = ridge.kernel
    return {
        "mean": ridge.mean,
        "slope": ridge.slope / ridge.temperature,
        "offset": ridge.offset / ridge.temperature + ridge.shift,
        "centre": none if kernel is None else kernel.mean,
        "inverse": none if kernel is None else kernel.inverse,
        "landmarks": none if kernel is None else kernel.landmarks,
        "mix": none if kernel is None else kernel.mix,
        "gamma": none if kernel is None else torch.tensor([kernel.gamma], dtype=torch.float64),
    }


class AnchoredLeastSquares(ClosedForm):
    """``ridge``: least squares onto the anchors, linear in the inputs."""

    title: ClassVar[str] = "Anchored least squares"
    about: ClassVar[str] = "least squares onto the anchors in closed form, strength by leave-one-out"
    loss: ClassVar[str] = "anchored-squared"
    kernel: ClassVar[str | None] = None

    @dataclass(frozen=True)
    class Options:
        """Settings of the closed form.

        Attributes:
            alpha: Strength of the penalty; 0 chooses it by leave-one-out.
            balanced: Whether every class has the same total weight.
        """

        alpha: float = 0.0
        balanced: bool = False

        def __post_init__(self) -> None:
            """Refuse a strength that cannot be."""
            if not 0 <= float(self.alpha) < float("inf"):
                raise InputError(f"method.options.alpha must be positive, or 0 to choose it, got {self.alpha!r}")

    def blank_head(self) -> ComputedHead:
        """Make the head before its tensors are known."""
        return RidgeHead()

    def compute(self, rows: Tensor, labels: Tensor, weights: Tensor | None) -> tuple[Mapping[str, Tensor], Tensor]:
        """Solve; arguments and result as in the base class."""
        seen = torch.ones(len(rows), dtype=torch.bool) if weights is None else weights > 0
        ridge = fit_ridge(
            rows,
            labels,
            self.context.k,
            alpha=self.options.alpha or "loo",
            kernel=self.kernel,
            class_weight="balanced" if self.options.balanced else None,
            weights=weights,
        )
        left_out = ridge.logits(rows)  # of samples that do not count, any model is out of sample
        left_out[seen] = ridge.loo_logits
        return ridge_tensors(ridge), left_out


class KernelLeastSquares(AnchoredLeastSquares):
    """``kernel-ridge``: the same on Gaussian kernel features, or on the inputs if those predict labels better."""

    title: ClassVar[str] = "Anchored kernel least squares"
    about: ClassVar[str] = "least squares onto the anchors on kernel features, width and strength by leave-one-out"
    kernel: ClassVar[str | None] = "auto"
