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
    squares: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("squares", torch.zeros(0, dtype=torch.float64), persistent=False)

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
            squares = (points**2).sum(1, keepdim=True) + self.squares - 2 * points @ self.landmarks.T
            rows = torch.exp(-self.gamma * squares.clamp(min=0))
            if not len(self.mix):
                return rows @ self.slope + self.offset
            rows = rows @ self.mix  # models of earlier versions
        return (rows - self.mean) @ self.slope + self.offset

    def check(self) -> None:
        """Refuse tensors that do not fit together."""
        r, k = len(self.mean), len(self.offset)
        fits = self.slope.shape == (r, k)
        if len(self.landmarks):
            m, d = self.landmarks.shape if self.landmarks.ndim == 2 else (0, 0)
            fits = self.slope.shape == (m, k) if not len(self.mix) else fits and self.mix.shape == (m, r)
            fits = fits and self.centre.shape == self.inverse.shape == (d,) and self.gamma.shape == (1,)
        if not fits:
            raise InputError("the tensors of this ridge model do not fit together; train it again")
        self.squares = (self.landmarks**2).sum(-1)


def ridge_tensors(ridge: Ridge) -> dict[str, Tensor]:
    r"""Return the tensors of a :class:`RidgeHead` for a fitted model.

    Of a kernel model :math:`\phi(x) = K(x, L) M`, and the slope is :math:`MA`: one small product for each prediction.
    """
    none, kernel = torch.zeros(0, dtype=torch.float64), ridge.kernel
    slope, offset = ridge.slope / ridge.temperature, ridge.offset / ridge.temperature + ridge.shift
    if kernel is None:
        own = dict.fromkeys(("centre", "inverse", "landmarks", "mix", "gamma"), none)
        return {"mean": ridge.mean, "slope": slope, "offset": offset, **own}
    return {
        "mean": none,
        "slope": kernel.mix @ slope,
        "offset": offset - ridge.mean @ slope,
        "centre": kernel.mean,
        "inverse": kernel.inverse,
        "landmarks": kernel.landmarks,
        "mix": none,
        "gamma": torch.tensor([kernel.gamma], dtype=torch.float64),
    }


class AnchoredLeastSquares(ClosedForm):
    """``ridge``: least squares onto the anchors, linear in the inputs."""

    title: ClassVar[str] = "Anchored least squares"
    about: ClassVar[str] = "least squares onto the anchors in closed form, strength by leave-one-out"
    loss: ClassVar[str] = "anchored-squared"

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

    def kernel_and_gamma(self) -> tuple[str | None, float | None]:
        """Return the kernel, as for :func:`anchored.ridge.fit_ridge`, and its sharpness if that is given."""
        return None, None

    def compute(self, rows: Tensor, labels: Tensor, weights: Tensor | None) -> tuple[Mapping[str, Tensor], Tensor]:
        """Solve; arguments and result as in the base class."""
        seen = torch.ones(len(rows), dtype=torch.bool) if weights is None else weights > 0
        kernel, gamma = self.kernel_and_gamma()
        ridge = fit_ridge(
            rows,
            labels,
            self.context.k,
            alpha=self.options.alpha or "loo",
            kernel=kernel,
            gamma=gamma,
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

    @dataclass(frozen=True)
    class Options(AnchoredLeastSquares.Options):
        """Settings of the closed form on a kernel.

        Attributes:
            alpha: Strength of the penalty; 0 chooses it by leave-one-out.
            balanced: Whether every class has the same total weight.
            gamma: Sharpness of the kernel; 0 chooses it, or no kernel at all, by leave-one-out.
        """

        gamma: float = 0.0

        def __post_init__(self) -> None:
            """Refuse a strength or sharpness that cannot be."""
            AnchoredLeastSquares.Options.__post_init__(self)
            if not 0 <= float(self.gamma) < float("inf"):
                raise InputError(f"method.options.gamma must be positive, or 0 to choose it, got {self.gamma!r}")

    def kernel_and_gamma(self) -> tuple[str | None, float | None]:
        """Return the kernel of the options."""
        return ("rbf", self.options.gamma) if self.options.gamma else ("auto", None)
