r"""The labels of the most similar training samples: ``neighbours``.

.. math::  p(j \mid x) = \frac{a \pi_j + \sum_{l \in N_m(x)} s_l\, c_l\, [y_l = j]}{a + \sum_l s_l\, c_l},
           \qquad s_l = e^{(\cos(x, x_l) - 1)/\tau},

where :math:`N_m(x)` are the m training samples most similar by the cosine along principal axes, as they are or half
whitened, c their weights and :math:`\pi` the classes' shares. The number, the width and the space are those under which
the given labels are likeliest, leave-one-out. A model of its own it is rarely the best, but it errs on other samples
than a line does, so that both together are better (``average``).

The head keeps the training samples along at most 256 axes, so they are limited in number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import normalize

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored._random import stream
from anchored.methods.axes import principal_axes, standard_of
from anchored.methods.closed_form import ClosedForm, ComputedHead
from anchored.methods.nearest import choose_votes, find_nearest, spaces_of, votes_of
from anchored.ridge import ArrayRows, groups_of, row_keys

__all__ = ["MOST_KEPT", "NearestNeighbours", "NeighboursHead"]

MOST_KEPT = 30_000
"""Most training samples that a model keeps."""
_MOST_SCORED = 4_000
"""Samples on which number, width and space are chosen."""
_ASKED = 4_096
"""Samples that are compared with all training samples at once."""


class NeighboursHead(ComputedHead):
    """Training samples with their labels, and how they vote."""

    names: ClassVar[tuple[str, ...]] = ("mean", "turn", "kept", "labels", "weights", "shares", "ranks", "settings")
    dtypes: ClassVar[Mapping[str, torch.dtype]] = {"kept": torch.float32, "labels": torch.int64, "ranks": torch.int64}
    mean: Tensor
    turn: Tensor
    kept: Tensor
    labels: Tensor
    weights: Tensor
    shares: Tensor
    ranks: Tensor
    """One for each neighbour that is asked: a number that is a shape does not depend on data, so it can be exported."""
    settings: Tensor
    """One over the width, and the sharpness."""

    def forward(self, features: Tensor) -> Tensor:
        """Compute logits ``(n, k)`` of features ``(n, d)``."""
        turned = normalize(((features.to(self.turn.dtype) - self.mean) @ self.turn).to(self.kept.dtype), dim=1)
        near, index = (turned @ self.kept.T).topk(len(self.ranks), dim=1)
        votes = votes_of(self.labels[index], self.weights[index], self.shares, near, self.settings[0])
        return self.settings[1] * votes

    def check(self) -> None:
        """Refuse tensors that do not fit together."""
        n, k = len(self.labels), len(self.shares)
        fits = (
            self.turn.ndim == 2
            and self.turn.shape[0] == len(self.mean)
            and self.kept.shape == (n, self.turn.shape[1])
            and self.weights.shape == (n,)
            and self.settings.shape == (2,)
        )
        if not fits or (n and not (0 <= int(self.labels.min()) <= int(self.labels.max()) < k)):
            raise InputError("the tensors of these neighbours do not fit together; train it again")
        if n and not 1 <= len(self.ranks) <= n:
            raise InputError(f"these neighbours ask {len(self.ranks)} of {n} samples; train it again")


class NearestNeighbours(ClosedForm):
    """``neighbours``: votes of the most similar training samples."""

    title: ClassVar[str] = "Nearest neighbours"
    about: ClassVar[str] = "the labels of the most similar training samples, leave-one-out"

    @dataclass(frozen=True)
    class Options:
        """Settings of the neighbours.

        Attributes:
            most_kept: Most training samples that the model keeps; of more, these are drawn at random.
        """

        most_kept: int = MOST_KEPT

        def __post_init__(self) -> None:
            """Refuse numbers that cannot be."""
            check_integer("method.options.most_kept", self.most_kept, low=2)

    def blank_head(self) -> ComputedHead:
        """Make the head before its tensors are known."""
        return NeighboursHead()

    def compute(self, rows: Tensor, labels: Tensor, weights: Tensor | None) -> tuple[Mapping[str, Tensor], Tensor]:
        """Keep the samples and choose how they vote; arguments and result as in the base class."""
        k, n = self.context.k, len(rows)
        each = torch.ones(n, dtype=torch.float64) if weights is None else weights.double()
        known = each.nonzero()[:, 0]
        if len(known) > self.options.most_kept:
            drawn = torch.randperm(len(known), generator=stream(self.context.seed, "neighbours"))
            known = known[drawn[: self.options.most_kept].sort().values]
        if len(known) < 2:
            raise InputError("neighbours need at least two samples to learn from")
        standard = standard_of(rows)
        plain = standard.of(rows)
        variances, axes = principal_axes(plain)
        along = plain @ axes
        shares = torch.zeros(k, dtype=torch.float64).index_add_(0, labels[known], each[known])
        shares = (shares + 1.0) / (shares.sum() + k)
        groups = groups_of(row_keys(ArrayRows(rows[known].numpy()).read(0, len(known))))
        copies = None if groups is None else torch.from_numpy(groups)
        own, weight = labels[known], each[known]
        part = torch.arange(0, len(known), max(1, -(-len(known) // _MOST_SCORED)))
        factors = spaces_of(variances)
        spaces = [normalize(along[known] * factor, dim=1) for factor in factors]
        chosen = choose_votes(
            spaces,
            lambda turned, count: find_nearest(turned, copies, count, part),
            lambda index, near, width: votes_of(own[index], weight[index], shares, near, 1.0 / width),
            own[part],
            weight[part],
            k,
        )
        assert chosen is not None
        kept = spaces[chosen.space]
        tensors = {
            "mean": standard.mean,
            "turn": standard.inverse[:, None] * (axes * factors[chosen.space]).double(),
            "kept": kept,
            "labels": own,
            "weights": weight,
            "shares": shares,
            "ranks": torch.arange(chosen.count),
            "settings": torch.tensor([1.0 / chosen.width, chosen.sharpness], dtype=torch.float64),
        }
        index, near = find_nearest(kept, copies, chosen.count)
        left_out = torch.empty(n, k, dtype=torch.float64)
        left_out[known] = chosen.sharpness * votes_of(own[index], weight[index], shares, near, 1.0 / chosen.width)
        others = torch.ones(n, dtype=torch.bool)
        others[known] = False
        if bool(others.any()):
            head = self.blank_head()
            head.put(tensors)
            with torch.no_grad():
                left_out[others] = torch.cat([head(block) for block in torch.split(rows[others], _ASKED)])
        return tensors, left_out
