r"""Noise that depends on the class alone: symmetric, asymmetric, and by any transition matrix.

:math:`T_{ij}` is the probability that a sample of class :math:`i` carries the label :math:`j`. All flips are drawn from
the clean labels at once.

Two published procedures do something else than their papers say. They are kept to reproduce the papers' numbers:
:func:`apl_sequential` flips CIFAR-10 class by class in place, so that at 0.4 about 1200 of 5000 cats and 2000 of 5000
dogs end up wrong, although 2000 of each were meant. :func:`index_blocks` turns each CIFAR-100 class into the next one
of five consecutive fine labels, although the papers speak of superclasses.

References:
    Ma et al., 2020. Normalized Loss Functions for Deep Learning with Noisy Labels. ICML.
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
from anchored.noise._draw import checked_labels, draw_from_rows, each_for_itself, floor_share, quota_per_class
from anchored.noise._mappings import MAPPINGS

__all__ = ["apl_sequential", "asymmetric", "index_blocks", "symmetric", "transition"]


def symmetric(
    labels: Tensor,
    eta: float,
    k: int,
    *,
    generator: torch.Generator | None = None,
    mode: Literal["exact", "iid", "apl"] = "exact",
) -> Corruption:
    r"""Move a share ``eta`` of the labels to another class, each other class being equally likely.

    .. math::  T_{ii} = 1 - \eta, \qquad T_{ij} = \frac{\eta}{k-1} \quad (i \ne j).

    The clean label stays the most likely one as long as :math:`\eta < (k-1)/k`. From there on the observed
    labels say nothing about the clean ones, or point away from them, so such rates are refused.

    Args:
        labels: Clean labels ``(n,)``, integers in ``0..k-1``; not changed.
        eta: Noise rate in ``[0, (k-1)/k)``.
        k: Number of classes.
        generator: Source of randomness; None means seed 0.
        mode: ``"exact"``: ``floor(eta n_c)`` samples of every class c. ``"iid"``: every sample
            independently with probability ``eta``. ``"apl"``: the published procedure of Active-Passive
            Losses, the same number ``floor(floor(eta n) / k)`` in every class however large it is,
            so that MNIST at 0.8 flips 88.5 % of the fives and 71.2 % of the ones.

    Returns:
        The observed labels and the receipt; a flipped label never equals its clean one.

    Raises:
        InputError: If the rate is too high, or a class is too small for ``"apl"``.

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
    draw = choose(mode, _SYMMETRIC_MODES, what="mode of symmetric noise")
    clean = checked_labels(labels, k)
    generator = generator_or_default(generator)
    flipped = draw(clean, eta, k, generator)
    step = torch.randint(1, k, (int(flipped.sum()),), generator=generator).to(clean.device)
    observed = clean.clone()
    observed[flipped] = (clean[flipped] + step) % k
    asked = torch.full((k, k), eta / (k - 1), dtype=torch.float64).fill_diagonal_(1 - eta)
    return Corruption(observed, clean, k, f"symmetric ({mode})", eta, asked)


def _symmetric_exact(labels: Tensor, eta: float, k: int, generator: torch.Generator) -> Tensor:
    sizes = torch.bincount(labels, minlength=k).tolist()
    return quota_per_class(labels, torch.tensor([floor_share(eta, n) for n in sizes]), generator)


def _symmetric_iid(labels: Tensor, eta: float, k: int, generator: torch.Generator) -> Tensor:
    return each_for_itself(torch.full(labels.shape, eta, dtype=torch.float64, device=labels.device), generator)


def _symmetric_apl(labels: Tensor, eta: float, k: int, generator: torch.Generator) -> Tensor:
    quota = floor_share(eta, labels.numel()) // k
    sizes = torch.bincount(labels, minlength=k)
    if int(sizes.min()) < quota:
        raise InputError(
            f'mode "apl" takes {quota} samples from every class, but class {int(sizes.argmin())} has '
            f'{int(sizes.min())}; use mode "exact", which takes a share of each class'
        )
    return quota_per_class(labels, torch.full((k,), quota), generator)


_SYMMETRIC_MODES: dict[str, Callable[[Tensor, float, int, torch.Generator], Tensor]] = {
    "exact": _symmetric_exact,
    "iid": _symmetric_iid,
    "apl": _symmetric_apl,
}


def asymmetric(
    labels: Tensor,
    eta: float,
    mapping: Mapping[int, int] | str,
    *,
    k: int | None = None,
    generator: torch.Generator | None = None,
    mode: Literal["exact", "iid", "apl_sequential"] = "exact",
) -> Corruption:
    r"""Move a share ``eta`` of every source class of ``mapping`` to its target class.

    .. math::  T_{ii} = 1 - \eta, \quad T_{i\,m(i)} = \eta \quad\text{for a source class } i;
               \qquad T_{ii} = 1 \quad\text{for every other class}.

    From :math:`\eta = 1/2` on the wrong label is at least as likely as the right one, so such rates are refused.

    Args:
        labels: Clean labels ``(n,)``, integers in ``0..k-1``; not changed.
        eta: Share of each source class that is moved, in ``[0, 1/2)``. The share of all labels is
            smaller if only some classes are sources.
        mapping: ``{source: target}``, or the name of a published one: ``"mnist"``, ``"cifar10"``,
            ``"cifar100"`` (next class of the superclass), ``"cifar100_index_blocks"`` (next class
            within blocks of five consecutive labels, as the references did it).
        k: Number of classes; by default that of the named mapping, or one more than the largest
            class seen in labels and mapping.
        generator: Source of randomness; None means seed 0.
        mode: ``"exact"``: ``floor(eta n_c)`` samples of source class c. ``"iid"``: every sample of
            a source class independently. ``"apl_sequential"``: class by class in place, in the
            mapping's order, see :func:`apl_sequential`.

    Returns:
        The observed labels and the receipt.

    Raises:
        InputError: If the rate is too high, or the mapping names an unknown class.

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
    draw = choose(mode, _ASYMMETRIC_MODES, what="mode of asymmetric noise")
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
    """Return the class ``(k,)`` that each class goes to; a class that is no source goes to itself."""
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


def _asymmetric_exact(
    clean: Tensor, eta: float, targets: Tensor, sources: list[int], generator: torch.Generator
) -> Tensor:
    sizes = torch.bincount(clean, minlength=targets.numel()).tolist()
    quota = torch.zeros_like(targets)
    for source in sources:
        quota[source] = floor_share(eta, sizes[source])
    flipped = quota_per_class(clean, quota, generator)
    return torch.where(flipped, targets.to(clean.device)[clean], clean)


def _asymmetric_iid(
    clean: Tensor, eta: float, targets: Tensor, sources: list[int], generator: torch.Generator
) -> Tensor:
    flipped = each_for_itself(torch.full(clean.shape, eta, dtype=torch.float64, device=clean.device), generator)
    return torch.where(flipped, targets.to(clean.device)[clean], clean)


def _asymmetric_sequential(
    clean: Tensor, eta: float, targets: Tensor, sources: list[int], generator: torch.Generator
) -> Tensor:
    observed = clean.clone()
    for source in sources:
        current = (observed == source).nonzero().squeeze(1)  # labels as the steps before have left them
        drawn = torch.randperm(current.numel(), generator=generator)[: floor_share(eta, current.numel())]
        observed[current[drawn.to(current.device)]] = targets[source].to(observed.device)
    return observed


_ASYMMETRIC_MODES: dict[str, Callable[[Tensor, float, Tensor, list[int], torch.Generator], Tensor]] = {
    "exact": _asymmetric_exact,
    "iid": _asymmetric_iid,
    "apl_sequential": _asymmetric_sequential,
}


def apl_sequential(
    labels: Tensor,
    eta: float,
    mapping: Mapping[int, int] | str = "cifar10",
    *,
    k: int | None = None,
    generator: torch.Generator | None = None,
) -> Corruption:
    """Flip ``floor(eta count)`` of each source class in turn, counting the labels as they are by then.

    Cats that have just become dogs are flipped back by the next step, and a rate of 0.40 is realised as 0.24.
    Short for ``asymmetric(labels, eta, mapping, mode="apl_sequential")``.

    Args:
        labels: Clean labels ``(n,)``, integers in ``0..k-1``; not changed.
        eta: Share of each source class that is moved, in ``[0, 1/2)``.
        mapping: As for :func:`asymmetric`.
        k: Number of classes, as for :func:`asymmetric`.
        generator: Source of randomness; None means seed 0.

    Returns:
        The observed labels and the receipt.

    Example:
        >>> import torch
        >>> receipt = apl_sequential(torch.arange(10).repeat_interleave(5000), 0.4)
        >>> cat, dog = receipt.per_class[3], receipt.per_class[5]
        >>> round(cat, 1), round(dog, 1)
        (0.2, 0.4)
    """
    return asymmetric(labels, eta, mapping, k=k, generator=generator, mode="apl_sequential")


def index_blocks(labels: Tensor, eta: float, *, generator: torch.Generator | None = None) -> Corruption:
    """Move CIFAR-100 labels, each with probability ``eta``, to the next of its block of five indices.

    Short for ``asymmetric(labels, eta, "cifar100_index_blocks", mode="iid")``.

    Args:
        labels: Clean labels ``(n,)``, integers in ``0..99``; not changed.
        eta: Probability of a flip, in ``[0, 1/2)``.
        generator: Source of randomness; None means seed 0.

    Returns:
        The observed labels and the receipt.

    Example:
        >>> import torch
        >>> receipt = index_blocks(torch.full((1000,), 4), 0.4)
        >>> sorted(set(receipt.labels.tolist()))
        [0, 4]
    """
    return asymmetric(labels, eta, "cifar100_index_blocks", generator=generator, mode="iid")


def transition(labels: Tensor, matrix: Tensor, *, generator: torch.Generator | None = None) -> Corruption:
    r"""Draw every label independently from the row of ``matrix`` that belongs to its class.

    .. math::  P(\tilde y = j \mid y = i) = T_{ij}, \qquad T_{ij} \ge 0, \quad \sum_j T_{ij} = 1.

    Args:
        labels: Clean labels ``(n,)``, integers in ``0..k-1``; not changed.
        matrix: Transition ``(k, k)``; row ``i`` is the distribution of the observed label of class ``i``.
        generator: Source of randomness; None means seed 0.

    Returns:
        The observed labels and the receipt. Any matrix is accepted, also one under which a wrong
        label is the most likely one.

    Raises:
        InputError: If a row is not a distribution.

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
