"""What a judge is given, what it answers, and what is kept of its answer.

A judge looks at vectors and their given labels, and says of every sample which class it looks like, **without having
seen the label of this sample**. The alphabet: ``n`` samples, ``d`` features, ``k`` classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from anchored._checks import check_integer, check_labels
from anchored._errors import InputError
from anchored.methods.axes import AXES, principal_axes, standard_of
from anchored.ridge import ArrayRows, groups_of, row_keys

__all__ = ["AXES", "Judge", "Opinion", "Vectors"]


@dataclass(frozen=True, eq=False)
class Vectors:
    """Samples as vectors, with the labels that are to be judged.

    Attributes:
        X: Features ``(n, d)``, finite, of any real type.
        labels: Classes ``(n,)`` in 0..k-1, as given.
        k: Number of classes.
        weights: How much each sample counts ``(n,)``; None for one each. A sample of weight 0 is judged like
            all others, but nobody learns from it.
        seed: Seed of folds and samples.
        found: What judges have chosen on the way, for whoever fits the same model: ``gamma``, the kernel's sharpness.
    """

    X: Tensor
    labels: Tensor
    k: int
    weights: Tensor | None = None
    seed: int = 0
    found: dict[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def check(cls, X: Tensor, labels: Tensor, k: int, *, weights: Tensor | None = None, seed: int = 0) -> Vectors:
        """Make vectors from what a user gave.

        Args:
            X: Features ``(n, d)``.
            labels: Classes ``(n,)``.
            k: Number of classes.
            weights: ``(n,)`` numbers >= 0; None for one each.
            seed: Seed of folds and samples.

        Returns:
            The checked vectors.

        Raises:
            InputError: If shapes do not fit, a number is not finite, or there is nothing to learn from.

        Example:
            >>> len(Vectors.check(torch.eye(4), torch.tensor([0, 1, 0, 1]), 2))
            4
        """
        check_integer("k", k, low=2, way_out="labels of a single class cannot be judged")
        labels = check_labels(labels, k)
        if X.ndim != 2 or len(X) != len(labels) or not len(labels):
            raise InputError(
                f"X must be (n, d) with a row per label, got {tuple(X.shape)} for {len(labels)} labels; "
                f"leave samples without a label out"
            )
        ArrayRows(X.detach().cpu().numpy()).read(0, len(X))  # refuses numbers that are not finite, with their place
        if weights is not None:
            weights = weights.to(torch.float64)
            fits = weights.shape == labels.shape and bool(torch.isfinite(weights).all())
            if not fits or float(weights.min()) < 0 or not float(weights.sum()):
                raise InputError(
                    f"weights must be {len(labels)} numbers >= 0, not all 0, got shape {tuple(weights.shape)}"
                )
        return cls(X.detach().cpu(), labels, k, weights, seed)

    @cached_property
    def each(self) -> Tensor:
        """Weights ``(n,)``, float64; ones if none were given."""
        return torch.ones(len(self), dtype=torch.float64) if self.weights is None else self.weights

    @cached_property
    def learnt(self) -> Tensor:
        """The given labels as one-hot rows ``(n, k)``, float64."""
        return torch.nn.functional.one_hot(self.labels, self.k).to(torch.float64)

    @cached_property
    def standardised(self) -> Tensor:
        """Features with mean 0 and deviation 1 in every column ``(n, d)``, float32; constant columns are left out.

        The mean is subtracted in float64: a column of 1e8 plus small numbers keeps its digits.
        """
        standard = standard_of(self.X)
        kept = standard.inverse > 0
        return standard.of(self.X)[:, kept] if not bool(kept.all()) else standard.of(self.X)

    @cached_property
    def principal(self) -> tuple[Tensor, Tensor]:
        """Variances ``(m,)`` along the largest principal axes, at most 256, and standardised features along them."""
        variances, axes = principal_axes(self.standardised)
        return variances, self.standardised @ axes

    @cached_property
    def copies(self) -> Tensor | None:
        """Group ``(n,)`` of each sample, equal for exact copies of a row; None if no row occurs twice.

        A sample that occurs twice would vouch for its own label, so copies are always left out together.
        """
        groups = groups_of(row_keys(ArrayRows(self.X.numpy()).read(0, len(self))))
        return None if groups is None else torch.from_numpy(groups)

    def subset(self, index: Tensor) -> Vectors:
        """Return the samples at ``index`` alone."""
        return Vectors(
            self.X[index],
            self.labels[index],
            self.k,
            None if self.weights is None else self.weights[index],
            self.seed,
        )


Judge = Callable[[Vectors], Tensor]
"""From vectors to logits ``(n, k)`` of any scale, float64, of models that did not see the sample's own label."""


@dataclass(frozen=True, eq=False)
class Opinion:
    """What one judge says of every sample, and how well it predicts the given labels.

    Attributes:
        name: Name of the judge.
        logits: Log-probabilities ``(n, k)``, float64, out of sample, calibrated by one temperature.
        log_likelihood: Mean log-probability of the given labels.
        accuracy: Share of the given labels that are the likeliest class.
        weight: Weight of the judge among all; None before they were combined.
        seconds: How long the judge took.
    """

    name: str
    logits: Tensor
    log_likelihood: float
    accuracy: float
    weight: float | None = None
    seconds: float = 0.0

    def as_dict(self) -> dict[str, str | float | None]:
        """Return what the judge is worth as plain values, without what it says and how long it took."""
        return {
            "judge": self.name,
            "log_likelihood": self.log_likelihood,
            "accuracy": self.accuracy,
            "weight": self.weight,
        }
