r"""Symmetric noise: a label becomes any other label with the same probability.

.. math::  T_{ii} = 1 - \eta, \qquad T_{ij} = \frac{\eta}{k-1} \quad (i \ne j).

The clean label stays the likeliest one as long as :math:`\eta < (k-1)/k`; from there on the observed
labels say nothing about the clean ones, or point away from them, so such rates are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from anchored._checks import check_integer, check_real
from anchored._errors import InputError
from anchored._names import choose
from anchored._random import generator_or_default
from anchored.noise._corruption import Corruption
from anchored.noise._draw import checked_labels, each_for_itself, floor_share, quota_per_class

__all__ = ["symmetric"]


def symmetric(
    labels: Tensor,
    eta: float,
    k: int,
    *,
    generator: torch.Generator | None = None,
    mode: Literal["exact", "iid", "apl"] = "exact",
) -> Corruption:
    """Move a share ``eta`` of the labels to another class, each other class being equally likely.

    Args:
        labels: Clean labels ``(n,)``, integers in ``0..k-1``; not changed.
        eta: Noise rate in ``[0, (k-1)/k)``.
        k: Number of classes.
        generator: Source of randomness; without one the draw is that of seed 0.
        mode: ``"exact"``: ``floor(eta n_c)`` samples of every class c. ``"iid"``: every sample for
            itself with probability ``eta``. ``"apl"``: the published procedure of Active-Passive
            Losses, the same number ``floor(floor(eta n) / k)`` in every class however large it is,
            so that MNIST at 0.8 flips 88.5 % of the fives and 71.2 % of the ones.

    Returns:
        The observed labels and the receipt; a flipped label never equals its clean one.

    Example:
        >>> import torch
        >>> clean = torch.arange(4).repeat_interleave(10)
        >>> noisy = symmetric(clean, 0.3, 4)
        >>> noisy.rate, noisy.per_class
        (0.3, (0.3, 0.3, 0.3, 0.3))
    """
    k = check_integer("k", k, low=2, way_out="noise needs another class to go to")
    eta = check_real(
        "eta",
        eta,
        low=0,
        high=(k - 1) / k,
        closed="left",
        way_out=f"from (k-1)/k on (k = {k}) the true label is no longer the likeliest",
    )
    draw = choose(mode, _MODES, what="mode of symmetric noise")
    clean = checked_labels(labels, k)
    generator = generator_or_default(generator)
    flipped = draw(clean, eta, k, generator)
    step = torch.randint(1, k, (int(flipped.sum()),), generator=generator).to(clean.device)
    observed = clean.clone()
    observed[flipped] = (clean[flipped] + step) % k
    asked = torch.full((k, k), eta / (k - 1), dtype=torch.float64).fill_diagonal_(1 - eta)
    return Corruption(observed, clean, k, f"symmetric ({mode})", eta, asked)


def _exact(labels: Tensor, eta: float, k: int, generator: torch.Generator) -> Tensor:
    sizes = torch.bincount(labels, minlength=k).tolist()
    return quota_per_class(labels, torch.tensor([floor_share(eta, n) for n in sizes]), generator)


def _iid(labels: Tensor, eta: float, k: int, generator: torch.Generator) -> Tensor:
    return each_for_itself(torch.full(labels.shape, eta, dtype=torch.float64, device=labels.device), generator)


def _apl(labels: Tensor, eta: float, k: int, generator: torch.Generator) -> Tensor:
    quota = floor_share(eta, labels.numel()) // k
    sizes = torch.bincount(labels, minlength=k)
    if int(sizes.min()) < quota:
        raise InputError(
            f'mode "apl" takes {quota} samples from every class, but class {int(sizes.argmin())} has '
            f'{int(sizes.min())}; use mode "exact", which takes a share of each class'
        )
    return quota_per_class(labels, torch.full((k,), quota), generator)


_MODES: dict[str, Callable[[Tensor, float, int, torch.Generator], Tensor]] = {
    "exact": _exact,
    "iid": _iid,
    "apl": _apl,
}
