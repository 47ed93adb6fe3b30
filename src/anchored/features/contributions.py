r"""Which columns speak for or against a class: a linear map on features, folded back to the columns of the table.

With features of mean 0 and logits ``f = x W + b``, the part of column C in the lead of class s over class y is

.. math::  c_C(x) = \sum_{j \in C} x_j \,(W_{js} - W_{jy}),

and the parts of all columns add up to the lead, apart from the intercepts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored.data import TableInputs
from anchored.features.table import TableEncoder

__all__ = ["Reason", "contributions", "parts_against", "reasons"]


@dataclass(frozen=True)
class Reason:
    """How far one cell speaks against a row's label.

    Args:
        column: The column.
        value: The cell as people read it, None if it is missing.
        against: Its part in the lead of the suggested class over the given one; positive speaks against the label.
    """

    column: str
    value: str | None
    against: float


def contributions(features: Tensor, weights: Tensor, feature_columns: Tensor) -> Tensor:
    r"""Fold the terms of a linear map back to columns: ``out[i, c, k] = Σ_{j in c} x_ij W_jk``.

    Args:
        features: Encoded rows ``(n, d)``.
        weights: The linear map ``(d, k)``.
        feature_columns: Which column each feature comes from ``(d,)``, as :attr:`TableEncoder.feature_columns`.

    Returns:
        ``(n, columns, k)``; summed over columns it is ``features @ weights``.

    Raises:
        InputError: If the sizes do not fit.

    Example:
        >>> x, w = torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[1.0], [10.0], [100.0]])
        >>> contributions(x, w, torch.tensor([0, 0, 1])).tolist()
        [[[21.0], [300.0]]]
    """
    if features.ndim != 2 or weights.ndim != 2 or not features.shape[1] == weights.shape[0] == len(feature_columns):
        raise InputError(
            f"features (n, d), weights (d, k) and one column per feature must fit, got {tuple(features.shape)}, "
            f"{tuple(weights.shape)} and {len(feature_columns)}"
        )
    count = int(feature_columns.max()) + 1 if len(feature_columns) else 0
    folded = features.new_zeros((features.shape[0], count, weights.shape[1]))
    for column in range(count):
        own = feature_columns == column
        folded[:, column] = features[:, own] @ weights[own].to(features.dtype)
    return folded


def parts_against(
    encoder: TableEncoder, rows: TableInputs, weights: Tensor, given: Tensor, suggested: Tensor
) -> Tensor:
    r"""Compute the part of each column in the lead of a suggested class over the given one: :math:`c_C(x)`.

    Args:
        encoder: The fitted encoding of the table.
        rows: The rows, raw.
        weights: The linear map from features to logits ``(d, k)``.
        given: The label of each row ``(n,)``.
        suggested: The class that is held against it ``(n,)``; if it is the label, the runner-up by these weights.

    Returns:
        ``(n, columns)``, in the order of ``encoder.columns``; positive speaks against the label.

    Example:
        >>> from anchored.data import as_columns
        >>> rows = as_columns({"age": [20, 80]})
        >>> encoder, labels = TableEncoder().fit(rows), torch.tensor([0, 0])
        >>> parts_against(encoder, rows, torch.tensor([[-1.0, 1.0]]), labels, labels + 1).tolist()
        [[-2.0], [2.0]]
    """
    folded = contributions(encoder.transform(rows), weights, encoder.feature_columns)
    logits = folded.sum(dim=1)
    other = logits.scatter(1, given[:, None], float("-inf")).argmax(dim=1)
    held = torch.where(suggested == given, other, suggested)
    at = torch.arange(len(given))
    return folded[at, :, held] - folded[at, :, given]


def reasons(
    encoder: TableEncoder,
    rows: TableInputs,
    weights: Tensor,
    given: Tensor,
    suggested: Tensor,
    *,
    most: int = 6,
) -> list[list[Reason]]:
    """Say which cells of each row speak against its label.

    Args:
        encoder: The fitted encoding of the table.
        rows: The rows to explain, raw.
        weights: The linear map from features to logits ``(d, k)``.
        given: The label of each row ``(n,)``.
        suggested: The class that is held against it ``(n,)``. If it is the label, the runner-up by these weights is
            taken, and the signs say how firmly each cell stands by the label.
        most: How many cells to name per row.

    Returns:
        For each row, the cells with the largest part, those that speak most against the label first.

    Raises:
        InputError: If the sizes do not fit.

    Example:
        >>> from anchored.data import as_columns
        >>> rows = as_columns({"age": [20, 80], "height": [170, 171]})
        >>> encoder, one = TableEncoder().fit(rows), torch.tensor([1])
        >>> weights = torch.tensor([[-1.0, 1.0], [0.1, 0.0]])  # age speaks for class 1
        >>> [(r.column, r.value) for r in reasons(encoder, rows.subset(one), weights, one * 0, one, most=1)[0]]
        [('age', '80')]
    """
    against = parts_against(encoder, rows, weights, given, suggested)
    order = against.argsort(dim=1, descending=True, stable=True)[:, :most]
    names: Sequence[str] = list(encoder.columns)
    found = []
    for row, places in enumerate(order.tolist()):
        cells = rows.row(row)
        found.append([Reason(names[c], cells[names[c]], float(against[row, c])) for c in places])
    return found
