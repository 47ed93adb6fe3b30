"""Backbones by name: a literal table, ``auto``, and ``timm:NAME``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import torch

from anchored._errors import InputError
from anchored._names import choose, suggest
from anchored.backbones._auto import auto
from anchored.backbones._base import Backbone, check_shape
from anchored.backbones.convnet import cnn4, cnn8
from anchored.backbones.from_timm import from_timm
from anchored.backbones.mlp import mlp
from anchored.backbones.projected import project
from anchored.backbones.resnet_cifar import resnet32, resnet34
from anchored.backbones.resnet_imagenet import resnet10, resnet50, resnext50
from anchored.backbones.tiny import tiny

__all__ = ["BACKBONES", "get"]

BACKBONES: Mapping[str, Callable[..., Backbone]] = {
    "cnn4": cnn4,
    "cnn8": cnn8,
    "mlp": mlp,
    "resnet10": resnet10,
    "resnet32": resnet32,
    "resnet34": resnet34,
    "resnet50": resnet50,
    "resnext50": resnext50,
    "tiny": tiny,
}
"""Every built-in backbone: name to builder ``(input_shape, *, last_relu, generator, **options)``."""


def get(
    name: str,
    input_shape: Iterable[int],
    *,
    num_classes: int | None = None,
    last_relu: bool = True,
    generator: torch.Generator | None = None,
    **options: object,
) -> Backbone:
    """Build the backbone called ``name`` for inputs of ``input_shape``.

    Args:
        name: A key of :data:`BACKBONES`, in any case; ``"auto"``; or ``"timm:NAME"`` if timm is installed.
        input_shape: ``(d,)`` or ``(channels, height, width)``.
        num_classes: Number of classes; used by ``"auto"`` alone.
        last_relu: False drops the last ReLU; the features can then be negative.
        generator: Source of the weights, on the CPU; None means seed 0. The global
            generator is neither read nor changed.
        options: Settings of the one backbone, for instance ``hidden=(64, 32)`` of ``"mlp"``. Every backbone takes
            ``project=d``: its features pass a linear layer to ``d`` signed dimensions.

    Returns:
        The network, with weights drawn.

    Raises:
        InputError: If the name or an option is unknown, or the shape does not suit the network.

    Example:
        >>> net = get("resnet32", (3, 32, 32), last_relu=False)
        >>> net.feature_dim, net.signed_features
        (64, True)
        >>> get("resnet32", (3, 32, 32), project=128).feature_dim
        128
        >>> get("resnet23", (3, 32, 32))
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: unknown backbone 'resnet23'; did you mean 'resnet34' or 'resnet32'?
    """
    if not isinstance(name, str):
        raise InputError(f"backbone must be a name, got {type(name).__name__}; give modules to backbones.wrap")
    if "project" in options:
        size = options.pop("project")
        inner = get(name, input_shape, num_classes=num_classes, last_relu=last_relu, generator=generator, **options)
        return project(inner, size, generator=generator)
    if name.lower().startswith("timm:"):
        from_library: Callable[..., Backbone] = partial(from_timm, name[len("timm:") :])
        return from_library(input_shape, last_relu=last_relu, generator=generator, **options)
    shape = check_shape(input_shape)
    key = auto(shape, num_classes) if name.lower() == "auto" else name.lower()
    if key not in BACKBONES:
        choose(name, {**BACKBONES, "auto": auto}, what="backbone")
    builder = BACKBONES[key]
    allowed = [option for option in inspect.signature(builder).parameters if option not in _COMMON]
    for option in options:
        if option not in allowed:
            hint = suggest(option, allowed) if allowed else "it has none"
            raise InputError(f"backbone {key!r} has no option {option!r}; {hint}")
    return builder(shape, last_relu=last_relu, generator=generator, **options)


_COMMON = ("input_shape", "last_relu", "generator")
