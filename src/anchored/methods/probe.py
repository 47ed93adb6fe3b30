r"""A regularised linear probe: ``probe``, multinomial logistic regression on standardised inputs.

The loss is in :mod:`anchored.methods.logistic`; above 256 columns it looks along the 256 largest principal axes. The
strength is the one whose cross-fitted probabilities make the given labels likeliest. Beside the closed form it is
the better linear model if there are many classes with few samples of each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored.methods.axes import AXES, principal_axes, standard_of
from anchored.methods.closed_form import ClosedForm, ComputedHead, folds_of
from anchored.methods.logistic import STRENGTHS, LogisticFit
from anchored.ridge import as_targets, fit_sharpness, log_likelihood

__all__ = ["LinearProbe", "ProbeHead"]


class ProbeHead(ComputedHead):
    r"""A linear map of standardised features: :math:`((x - \mu) / \sigma) B + b`."""

    names: ClassVar[tuple[str, ...]] = ("mean", "inverse", "slope", "offset")
    mean: Tensor
    inverse: Tensor
    slope: Tensor
    offset: Tensor

    def forward(self, features: Tensor) -> Tensor:
        """Compute logits ``(n, k)`` of features ``(n, d)``."""
        return ((features.to(self.slope.dtype) - self.mean) * self.inverse) @ self.slope + self.offset

    def check(self) -> None:
        """Refuse tensors that do not fit together."""
        if self.slope.shape != (len(self.mean), len(self.offset)) or self.inverse.shape != self.mean.shape:
            raise InputError("the tensors of this linear probe do not fit together; train it again")


class LinearProbe(ClosedForm):
    """``probe``: a linear classifier with cross entropy, strength by cross-fitting."""

    title: ClassVar[str] = "Linear probe"
    about: ClassVar[str] = "logistic regression on standardised inputs, strength by cross-fitting"

    @dataclass(frozen=True)
    class Options:
        """Settings of the probe.

        Attributes:
            folds: Folds of the cross-fitting.
        """

        folds: int = 3

        def __post_init__(self) -> None:
            """Refuse numbers that cannot be."""
            check_integer("method.options.folds", self.folds, low=2)

    def blank_head(self) -> ComputedHead:
        """Make the head before its tensors are known."""
        return ProbeHead()

    def compute(self, rows: Tensor, labels: Tensor, weights: Tensor | None) -> tuple[Mapping[str, Tensor], Tensor]:
        """Fit the probe; arguments and result as in the base class."""
        k = self.context.k
        each = torch.ones(len(rows), dtype=torch.float64) if weights is None else weights.double()
        standard = standard_of(rows)
        x, turn = standard.of(rows), None
        if x.shape[1] > AXES:
            _, turn = principal_axes(x)
            x = x @ turn
        fold = torch.empty(len(x), dtype=torch.int64)
        for number, places in enumerate(folds_of(labels, self.options.folds, self.context.seed)):
            fold[torch.from_numpy(places)] = number
        targets, weight = as_targets(labels.numpy(), k), each.numpy()
        hot = torch.nn.functional.one_hot(labels, k)
        best, strengths, left_out, sharp = -math.inf, list[float](), torch.zeros(0), 1.0
        models = [LogisticFit(x, hot, each * (fold != number)) for number in range(self.options.folds)]
        for strength in STRENGTHS:  # from the smoothest on, until weaker penalties predict worse
            unseen = torch.empty(len(x), k, dtype=torch.float64)
            for number, model in enumerate(models):
                model.solve(strength)
                unseen[fold == number] = model.answer(x[fold == number])
            sharpness = fit_sharpness(unseen.numpy(), targets, weight)
            likely = log_likelihood(sharpness * unseen.numpy(), targets, weight)
            if likely < best:
                break
            strengths.append(strength)
            best, left_out, sharp = likely, sharpness * unseen, sharpness
        final = LogisticFit(x, hot, each)
        for strength in strengths:
            final.solve(strength)
        slope = final.slope.double() if turn is None else turn.double() @ final.slope.double()
        tensors = {
            "mean": standard.mean,
            "inverse": standard.inverse,
            "slope": sharp * slope,
            "offset": sharp * final.offset.double(),
        }
        if not all(bool(torch.isfinite(each).all()) for each in tensors.values()):
            raise InputError("logistic regression on these inputs does not converge; scale them, or use method ridge")
        return tensors, left_out
