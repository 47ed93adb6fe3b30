r"""Boosted trees that regress onto the anchors: ``boosted``, for tables.

.. math::  f(x) = \frac1T W \hat w(x), \qquad \hat w_j(x) = b_j + \sum_t v_{jt}(x),

where tree t of coordinate j gives x the value of the leaf that it falls into. The squared loss does not chase single
wrong labels as the logarithmic one does; under symmetric noise the regression only shrinks. The trees are those of
scikit-learn's ``HistGradientBoostingRegressor`` and are kept as plain tensors.

References:
    Ke et al., 2017. LightGBM: A Highly Efficient Gradient Boosting Decision Tree. NeurIPS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored._random import seed_of
from anchored.methods.closed_form import ClosedForm, ComputedHead, folds_of
from anchored.prototypes import simplex
from anchored.ridge import as_targets, fit_sharpness

__all__ = ["BoostedTrees", "TreesHead"]

Floats = npt.NDArray[np.float64]

_WEIGHTED_BINS = 32
"""Bins of each column if samples are weighted."""


class TreesHead(ComputedHead):
    """Regression trees as tensors: a node knows its feature, threshold and two children; a leaf is its own child."""

    names: ClassVar[tuple[str, ...]] = (
        "feature", "threshold", "left", "right", "value", "roots", "outputs", "depth", "base", "anchors",
    )  # fmt: skip
    feature: Tensor
    threshold: Tensor
    left: Tensor
    right: Tensor
    value: Tensor
    roots: Tensor
    outputs: Tensor
    depth: Tensor
    base: Tensor
    anchors: Tensor
    levels: int = 0
    """Steps from a root to its lowest leaf, as a plain number: the same for every input."""

    def forward(self, features: Tensor) -> Tensor:
        """Compute logits ``(n, k)`` of features ``(n, d)``."""
        rows = features.to(self.threshold.dtype)
        feature, left, right = self.feature.long(), self.left.long(), self.right.long()
        place = torch.zeros_like(rows[:, :1], dtype=torch.int64) + self.roots.long()  # one row per sample
        for _ in range(self.levels):
            goes_left = rows.gather(1, feature[place]) <= self.threshold[place]
            place = torch.where(goes_left, left[place], right[place])
        # One column per coordinate: the sum of its own trees.
        own = torch.nn.functional.one_hot(self.outputs.long(), len(self.base)).to(rows.dtype)
        return (self.value[place] @ own + self.base) @ self.anchors.T

    def check(self) -> None:
        """Refuse tensors that do not fit together."""
        n = len(self.feature)
        nodes = (self.threshold, self.left, self.right, self.value)
        fits = all(tensor.shape == (n,) for tensor in nodes) and self.roots.shape == self.outputs.shape
        fits = fits and self.anchors.ndim == 2 and self.anchors.shape[1] == len(self.base)
        for places in (self.left, self.right, self.roots):
            fits = fits and bool(((places >= 0) & (places < max(n, 1))).all())
        fits = fits and bool(((self.outputs >= 0) & (self.outputs < max(len(self.base), 1))).all())
        if not fits or self.depth.numel() != 1 or not 0 <= float(self.depth) <= 1_000:
            raise InputError("the tensors of these trees do not fit together; train the model again")
        self.levels = int(self.depth)


class BoostedTrees(ClosedForm):
    """``boosted``: gradient boosting with the squared loss on the anchors' coordinates."""

    title: ClassVar[str] = "Boosted trees onto the anchors"
    about: ClassVar[str] = "boosted trees with the squared loss onto the anchors, judged by cross-fitting"
    loss: ClassVar[str] = "anchored-squared"

    @dataclass(frozen=True)
    class Options:
        """Settings of the trees.

        Attributes:
            iterations: Trees of each coordinate.
            folds: Folds of the cross-fitting.
        """

        iterations: int = 100
        folds: int = 5

        def __post_init__(self) -> None:
            """Refuse numbers that cannot be."""
            check_integer("method.options.iterations", self.iterations, low=1)
            check_integer("method.options.folds", self.folds, low=2)

    def blank_head(self) -> ComputedHead:
        """Make the head before its trees are known."""
        return TreesHead()

    def compute(self, rows: Tensor, labels: Tensor, weights: Tensor | None) -> tuple[Mapping[str, Tensor], Tensor]:
        """Grow the trees; arguments and result as in the base class."""
        k = self.context.k
        anchors = simplex(k, k - 1, dtype=torch.float64).numpy()
        x, y = rows.numpy(), labels.numpy()
        each = None if weights is None else weights.numpy().astype(np.float64)
        left_out = np.empty((len(x), k))
        for fold in folds_of(labels, self.options.folds, self.context.seed):
            seen = np.setdiff1d(np.arange(len(x)), fold)
            trained = self._grow(x[seen], anchors[y[seen]], None if each is None else each[seen])
            left_out[fold] = np.stack([one.predict(x[fold]) for one in trained], axis=1) @ anchors.T
        sharpness = fit_sharpness(left_out, as_targets(y, k), each)
        trees = _tensors(self._grow(x, anchors[y], each))
        return {**trees, "anchors": torch.from_numpy(sharpness * anchors)}, torch.from_numpy(sharpness * left_out)

    def _grow(self, x: Floats, targets: Floats, weights: Floats | None) -> list[Any]:
        from sklearn.ensemble import HistGradientBoostingRegressor

        seed = seed_of(self.context.seed, "trees") % 2**31
        # With weights scikit-learn finds its bins one by one, which takes longer than all trees.
        bins = 255 if weights is None else _WEIGHTED_BINS
        return [
            HistGradientBoostingRegressor(
                max_iter=self.options.iterations, early_stopping=False, random_state=seed, max_bins=bins
            ).fit(x, column, sample_weight=weights)
            for column in targets.T
        ]


def _tensors(regressors: list[Any]) -> dict[str, Tensor]:
    """The trees of scikit-learn's regressors, one of each coordinate, as the tensors of a :class:`TreesHead`."""
    nodes, roots, outputs, start = [], [], [], 0
    for output, regressor in enumerate(regressors):
        for (tree,) in regressor._predictors:
            nodes.append((tree.nodes, start))
            roots.append(start)
            outputs.append(output)
            start += len(tree.nodes)
    own = [np.arange(len(tree)) + first for tree, first in nodes]
    leaf = [tree["is_leaf"].astype(bool) for tree, _ in nodes]

    def child(name: str) -> Floats:
        parts = [np.where(leaf[i], own[i], tree[name] + first) for i, (tree, first) in enumerate(nodes)]
        return np.concatenate(parts).astype(np.float64)

    def column(name: str) -> Floats:
        return np.concatenate([tree[name] for tree, _ in nodes]).astype(np.float64)

    threshold = np.where(np.concatenate(leaf), 0.0, column("num_threshold"))
    values = {
        "feature": np.where(np.concatenate(leaf), 0.0, column("feature_idx")),
        "threshold": np.clip(threshold, -np.finfo(np.float64).max, np.finfo(np.float64).max),
        "left": child("left"),
        "right": child("right"),
        "value": column("value"),
        "roots": np.array(roots, dtype=np.float64),
        "outputs": np.array(outputs, dtype=np.float64),
        "depth": np.array([max(int(tree["depth"].max()) for tree, _ in nodes)], dtype=np.float64),
        "base": np.array([float(np.ravel(one._baseline_prediction)[0]) for one in regressors]),
    }
    return {name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in values.items()}
