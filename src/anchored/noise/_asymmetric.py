r"""Asymmetric noise: each source class is mistaken for one target class.

.. math::  T_{ii} = 1 - \eta, \quad T_{i\,m(i)} = \eta \quad\text{for a source class } i;
           \qquad T_{ii} = 1 \quad\text{for every other class}.

All flips are drawn from the clean labels at once. Done class by class in place, cats that have just
become dogs are flipped back by the next step, and a rate of 0.40 is realised as 0.24: that
historical procedure is :func:`anchored.noise.apl_sequential`.

From :math:`\eta = 1/2` on the wrong label is at least as likely as the right one: refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import torch
from torch import Tensor

from anchored._checks import check_integer, check_real
from anchored._errors import InputError
from anchored._names import choose
from anchored._random import generator_or_default
from anchored.noise._corruption import Corruption
from anchored.noise._draw import checked_labels, each_for_itself, floor_share, quota_per_class
from anchored.noise._mappings import MAPPINGS

__all__ = ["asymmetric"]


def asymmetric(
    labels: Tensor,
    eta: float,
    mapping: Mapping[int, int] | str,
    *,
    k: int | None = None,
    generator: torch.Generator | None = None,
    mode: Literal["exact", "iid", "apl_sequential"] = "exact",
) -> Corruption:
    """Move a share ``eta`` of every source class of ``mapping`` to its target class.

    Args:
        labels: Clean labels ``(n,)``, integers in ``0..k-1``; not changed.
        eta: Share of each source class that is moved, in ``[0, 1/2)``. The share of all labels is
            smaller wherever only some classes are sources.
        mapping: ``{source: target}``, or the name of a published one: ``"mnist"``, ``"cifar10"``,
            ``"cifar100"`` (next class of the superclass), ``"cifar100_index_blocks"`` (next class
            within blocks of five consecutive labels, as the references did it).
        k: Number of classes; by default that of the named mapping, or one more than the largest
            class seen in labels and mapping.
        generator: Source of randomness; without one the draw is that of seed 0.
        mode: ``"exact"``: ``floor(eta n_c)`` samples of source class c. ``"iid"``: every sample of
            a source class for itself. ``"apl_sequential"``: class by class in place, in the
            mapping's order.

    Returns:
        The observed labels and the receipt.

    Example:
        >>> import torch
        >>> clean = torch.arange(3).repeat_interleave(10)
        >>> asymmetric(clean, 0.4, {0: 1, 1: 0}).per_class
        (0.4, 0.4, 0.0)
    """
    if isinstance(mapping, str):
        named = choose(mapping, MAPPINGS, what="mapping")
        k, pairs, name = named.k if k is None else k, dict(named.targets), f"{mapping}, {mode}"
    else:
        pairs, name = dict(mapping), str(mode)
    draw = choose(mode, _MODES, what="mode of asymmetric noise")
    eta = check_real(
        "eta",
        eta,
        low=0,
        high=0.5,
        closed="left",
        way_out="from 1/2 on a moved class carries the wrong label at least as often as its own",
    )
    clean = checked_labels(labels, k)
    if k is None:
        k = 1 + max([int(clean.max()), *_integers(pairs)])
    targets = _targets(pairs, check_integer("k", k, low=2, way_out="noise needs another class to go to"))
    observed = draw(clean, eta, targets, list(pairs), generator_or_default(generator))
    asked = torch.eye(k, dtype=torch.float64)
    for source, target in pairs.items():
        asked[source, source], asked[source, target] = 1 - eta, eta
    return Corruption(observed, clean, k, f"asymmetric ({name})", eta, asked)


def _integers(pairs: dict[int, int]) -> list[int]:
    return [check_integer("a class of the mapping", c, low=0) for pair in pairs.items() for c in pair]


def _targets(pairs: dict[int, int], k: int) -> Tensor:
    """Where each class goes ``(k,)``; a class that is no source goes to itself."""
    if not pairs:
        raise InputError("mapping must name at least one {source: target}, got none; for no noise use eta = 0")
    targets = torch.arange(k)
    for source, target in pairs.items():
        for c in (source, target):
            check_integer("a class of the mapping", c, low=0, high=k - 1, way_out=f"there are k = {k} classes")
        if source == target:
            raise InputError(f"mapping must send a class to another one, got {source} -> {target}; leave {source} out")
        targets[source] = target
    return targets


def _exact(clean: Tensor, eta: float, targets: Tensor, sources: list[int], generator: torch.Generator) -> Tensor:
    sizes = torch.bincount(clean, minlength=targets.numel()).tolist()
    quota = torch.zeros_like(targets)
    for source in sources:
        quota[source] = floor_share(eta, sizes[source])
    flipped = quota_per_class(clean, quota, generator)
    return torch.where(flipped, targets.to(clean.device)[clean], clean)


def _iid(clean: Tensor, eta: float, targets: Tensor, sources: list[int], generator: torch.Generator) -> Tensor:
    flipped = each_for_itself(torch.full(clean.shape, eta, dtype=torch.float64, device=clean.device), generator)
    return torch.where(flipped, targets.to(clean.device)[clean], clean)


def _sequential(clean: Tensor, eta: float, targets: Tensor, sources: list[int], generator: torch.Generator) -> Tensor:
    observed = clean.clone()
    for source in sources:
        current = (observed == source).nonzero().squeeze(1)  # labels as the steps before have left them
        drawn = torch.randperm(current.numel(), generator=generator)[: floor_share(eta, current.numel())]
        observed[current[drawn.to(current.device)]] = targets[source].to(observed.device)
    return observed


_MODES: dict[str, Callable[[Tensor, float, Tensor, list[int], torch.Generator], Tensor]] = {
    "exact": _exact,
    "iid": _iid,
    "apl_sequential": _sequential,
}
