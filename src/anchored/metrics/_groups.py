"""Which classes are many-, medium- and few-shot: the rules of :func:`anchored.imbalance.shots`.

Packages of one level do not import one another, so the two rules stand here a second time; a
property test holds both places to the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._names import choose

__all__ = ["groups"]

_SHARES = {10: (3, 4), 100: (36, 35), 1000: (390, 445)}  # many, medium; the rest is few


def groups(counts: Sequence[int] | Tensor, rule: str) -> tuple[Tensor, Tensor, Tensor]:
    """Masks ``(k,)`` of the many-, medium- and few-shot classes.

    Example:
        >>> [mask.tolist() for mask in groups((500, 50, 5), "threshold")]
        [[True, False, False], [False, True, False], [False, False, True]]
    """
    sizes = torch.as_tensor(counts if isinstance(counts, Tensor) else list(counts)).cpu()
    if sizes.ndim != 1 or sizes.numel() == 0 or sizes.is_floating_point() or int(sizes.min()) < 0:
        raise InputError("counts must hold the number of training samples of each class, as whole numbers")
    return choose(rule, _RULES, what="rule for shots")(sizes)


def _threshold(sizes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return sizes > 100, (sizes >= 20) & (sizes <= 100), sizes < 20


def _mislas(sizes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    if sizes.numel() not in _SHARES:
        raise InputError(f'rule "mislas" is for 10, 100 and 1000 classes, got {sizes.numel()}; use rule "threshold"')
    many, medium = _SHARES[sizes.numel()]
    rank = sizes.argsort(descending=True, stable=True).argsort()
    return rank < many, (rank >= many) & (rank < many + medium), rank >= many + medium


_RULES: dict[str, Callable[[Tensor], tuple[Tensor, Tensor, Tensor]]] = {"threshold": _threshold, "mislas": _mislas}
