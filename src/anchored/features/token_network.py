"""A network on tokens, in batches whose shape depends on nothing but the length of the text itself.

A text of 21 tokens is always padded to 32 and always run together with three others, so its vector has the same bits
whatever it is encoded with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

__all__ = ["mean_over_tokens", "run_in_buckets"]

_SMALLEST, _TOGETHER = 16, 4


def run_in_buckets(
    tokens: Sequence[Sequence[int]], network: Callable[[Tensor, Tensor], Tensor], *, pad: int, longest: int
) -> Tensor:
    """Run a network on texts of different lengths.

    Args:
        tokens: Token numbers of each text; one without tokens gets a padding token.
        network: Maps tokens ``(b, t)`` and a mask ``(b, t)`` of those that count to features ``(b, d)``.
        pad: Token that fills up.
        longest: The most tokens that the network takes.

    Returns:
        Features ``(n, d)`` in the order of ``tokens``.

    Example:
        >>> run_in_buckets([[5], [1, 2]], lambda t, m: (t * m).sum(1, keepdim=True), pad=0, longest=64)
        tensor([[5],
                [3]])
    """
    rows = [list(text) or [pad] for text in tokens]
    buckets: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        buckets.setdefault(_bucket(len(row), longest), []).append(number)
    out: list[Tensor | None] = [None] * len(rows)
    for length, members in sorted(buckets.items()):
        for start in range(0, len(members), _TOGETHER):
            some = members[start : start + _TOGETHER]
            ids = torch.full((_TOGETHER, length), pad)
            mask = torch.zeros(_TOGETHER, length, dtype=torch.int64)
            mask[len(some) :, 0] = 1  # rows that only fill up must have something to attend to
            for place, number in enumerate(some):
                ids[place, : len(rows[number])] = torch.tensor(rows[number])
                mask[place, : len(rows[number])] = 1
            for number, features in zip(some, network(ids, mask), strict=False):
                out[number] = features
    return torch.stack([features for features in out if features is not None])


def _bucket(length: int, longest: int) -> int:
    size = _SMALLEST
    while size < length:
        size *= 2
    return min(size, longest)


def mean_over_tokens(hidden: Tensor, mask: Tensor) -> Tensor:
    r"""Average hidden states over the tokens that count, :math:`\sum_t m_t h_t / \sum_t m_t`.

    Args:
        hidden: ``(b, t, d)``.
        mask: ``(b, t)``, one where a token counts and zero elsewhere.

    Returns:
        ``(b, d)``.

    Example:
        >>> mean_over_tokens(torch.tensor([[[1.0], [3.0], [9.0]]]), torch.tensor([[1, 1, 0]]))
        tensor([[2.]])
    """
    weight = mask.to(hidden.dtype)[:, :, None]
    return (hidden * weight).sum(dim=1) / weight.sum(dim=1).clamp(min=1)
