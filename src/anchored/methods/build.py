"""From a method to its head and its loss, once the data and the backbone are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import torch
from torch import Tensor

from anchored import losses, prototypes, theory
from anchored._errors import InputError
from anchored._random import generator_or_default
from anchored.heads import AnchoredHead, CosineHead, LinearHead
from anchored.losses import Loss
from anchored.methods.method import Method

__all__ = ["Anchors", "make_head", "make_loss"]

Anchors = Literal["auto", "aligned", "random", "paper", "paper-relu"]
"""Which anchors: the best for the features; aligned with the orthant; randomly turned; the paper's generator, as it is
or with its option ``use_relu``."""


def make_head(
    method: Method,
    in_features: int,
    num_classes: int,
    *,
    signed_features: bool = True,
    noise_rate: float | None = None,
    scale: float | None = None,
    anchors: Anchors = "auto",
    rows: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> AnchoredHead | CosineHead | LinearHead:
    """Make the head of ``method`` for features of dimension ``in_features``.

    Args:
        method: What :func:`anchored.methods.parse` gave.
        in_features: The backbone's ``feature_dim``.
        num_classes: Number k of classes.
        signed_features: The backbone's ``signed_features``; decides which anchors can be reached.
        noise_rate: Share of wrong labels, for methods whose scale depends on it.
        scale: A scale to use instead of the method's own.
        anchors: Which prototypes an anchored head gets.
        rows: Prototypes of your own instead, unit rows ``(k, d)``.
        generator: Where the anchors' orientation, or the initial weights, are drawn from.

    Returns:
        A trained linear or cosine head, or one with fixed prototypes.

    Raises:
        InputError: If the scale depends on the noise rate and none is given.

    Example:
        >>> from anchored.methods import parse
        >>> head = make_head(parse("ce+fnpal"), 64, 10, noise_rate=0.8)
        >>> round(head.scale, 4), list(head.parameters())
        (0.2941, [])
    """
    generator = generator_or_default(generator)
    factor = _scale(method, noise_rate) if scale is None else scale
    if method.head == "linear":
        return LinearHead(in_features, num_classes, generator=generator)
    if method.head == "cosine":
        return CosineHead(in_features, num_classes, scale=factor, generator=generator)
    if rows is None:
        rows = _anchors(anchors, num_classes, in_features, signed_features, generator)
    return AnchoredHead(
        in_features,
        num_classes,
        normalize=method.normalize,
        scale=factor,
        prototypes=rows,
    )


def make_loss(method: Method, *, counts: Sequence[int] | None = None, settings: Mapping[str, object] = {}) -> Loss:
    """Make the loss of ``method``.

    Args:
        method: What :func:`anchored.methods.parse` gave.
        counts: Training samples per class; needed by losses that depend on them.
        settings: Settings of the loss, over its defaults.

    Returns:
        The loss.

    Raises:
        InputError: If the loss needs counts and none are given, or does not know a setting.

    Example:
        >>> from anchored.methods import parse
        >>> type(make_loss(parse("ldam+drw"), counts=[100, 10, 5])).__name__
        'LDAM'
    """
    given = dict(settings)
    if losses.needs_counts(method.loss):
        if counts is None:
            raise InputError(f"method {method.name!r} needs the class counts of the training set; pass counts=")
        given.setdefault("counts", counts)
    if method.loss_scale is not None:
        given.setdefault("scale", method.loss_scale)
    return losses.get(method.loss, **given)


def _scale(method: Method, noise_rate: float | None) -> float:
    if method.scale != "noise-aware":
        return method.scale
    if noise_rate is None:
        raise InputError(
            f"method {method.name!r} sets its scale from the noise rate, and none is known; "
            f"pass noise_rate= (0 for clean labels, 0.2 when in doubt)"
        )
    return theory.noise_aware_scale(noise_rate)


def _anchors(anchors: Anchors, k: int, d: int, signed_features: bool, generator: torch.Generator) -> Tensor:
    if anchors == "auto":
        return prototypes.make(k, d, features="signed" if signed_features else "nonnegative", generator=generator)
    if anchors == "aligned":
        return prototypes.make(k, d, features="nonnegative", generator=generator)
    if anchors == "random":
        return prototypes.make(k, d, features="signed", generator=generator)
    if anchors in ("paper", "paper-relu"):
        seed = int(torch.randint(2**31, (1,), generator=generator))
        return prototypes.paper(k, d, use_relu=anchors == "paper-relu", seed=seed)
    raise InputError(f"anchors must be one of {', '.join(get_args(Anchors))}, got {anchors!r}")
