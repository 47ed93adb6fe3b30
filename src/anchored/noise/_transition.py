r"""Class-conditional noise: the observed label is drawn from the row of a transition matrix.

.. math::  P(\tilde y = j \mid y = i) = T_{ij}, \qquad T_{ij} \ge 0, \quad \sum_j T_{ij} = 1.
"""

from __future__ import annotations

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._random import generator_or_default
from anchored.noise._corruption import Corruption
from anchored.noise._draw import checked_labels

__all__ = ["draw_from_rows", "transition"]


def transition(labels: Tensor, matrix: Tensor, *, generator: torch.Generator | None = None) -> Corruption:
    """Draw every label independently from the row of ``matrix`` that belongs to its class.

    Args:
        labels: Clean labels ``(n,)``, integers in ``0..k-1``; not changed.
        matrix: Transition ``(k, k)``; row ``i`` is the distribution of the observed label of class ``i``.
        generator: Source of randomness; without one the draw is that of seed 0.

    Returns:
        The observed labels and the receipt. Any matrix is accepted, also one under which a wrong
        label is the likeliest.

    Example:
        >>> import torch
        >>> always_wrong = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
        >>> transition(torch.tensor([0, 1, 1]), always_wrong).labels
        tensor([1, 0, 0])
    """
    rows = torch.as_tensor(matrix).detach().to("cpu", torch.float64)
    if rows.ndim != 2 or rows.shape[0] != rows.shape[1] or rows.shape[0] < 2:
        raise InputError(f"matrix must be square (k, k) with k >= 2, got shape {tuple(rows.shape)}")
    sums = rows.sum(dim=1)
    if not (bool((rows >= 0).all()) and bool(((sums - 1).abs() <= 1e-5).all())):
        worst = int((sums - 1).abs().nan_to_num(nan=torch.inf).argmax())
        raise InputError(
            f"each row of matrix must be non-negative and sum to 1, got a smallest entry of {float(rows.min()):g} "
            f"and row {worst} with sum {float(sums[worst]):g}; divide each row by its sum"
        )
    rows = rows / sums[:, None]
    clean = checked_labels(labels, rows.shape[0])
    observed = draw_from_rows(rows, clean.cpu(), generator_or_default(generator)).to(clean.device)
    return Corruption(observed, clean, rows.shape[0], "transition", None, rows)


def draw_from_rows(rows: Tensor, row_of: Tensor, generator: torch.Generator) -> Tensor:
    """One column index per entry of ``row_of`` ``(n,)``, drawn from that row of ``rows`` ``(m, k)``.

    All rows' distribution functions lie end to end on one line, row i on [i, i+1], and one sorted
    search answers for all samples: memory is n + m k, never n k.
    """
    k = rows.shape[1]
    steps = rows.cumsum(dim=1)
    # Divided by its own last entry a row ends at exactly 1, so no draw falls behind its last possible label.
    line = (steps / steps[:, -1:] + torch.arange(rows.shape[0])[:, None]).flatten()
    # 32 random bits: row + draw stays exact in a double, and never rounds up into the next row.
    draws = torch.randint(2**32, row_of.shape, generator=generator).double() / 2**32
    return torch.searchsorted(line, row_of + draws, right=True) - row_of * k
