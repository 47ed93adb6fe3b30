"""Anchoring of an existing model: its classifier is replaced by an anchored head, in place.

:func:`anchor_` says how the classifier is found. The new head keeps its device, its dtype, its training mode
and the number of its inputs. The weights of the old one are gone afterwards.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Literal, TypedDict, TypeVar, Unpack

import torch
from torch import Tensor, nn

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored.heads._find import Layer, could_classify, find_layers, left_out
from anchored.heads._sign import Sign, sign_of_input
from anchored.heads._watch import SignWatch, sign_of
from anchored.heads.anchored import AnchoredHead
from anchored.heads.anchored_conv import AnchoredConv

__all__ = ["HeadOptions", "anchor_"]

M = TypeVar("M", bound=nn.Module)


class HeadOptions(TypedDict, total=False):
    """The options that :func:`anchor_` passes on to :class:`AnchoredHead`."""

    normalize: bool
    scale: float
    prototypes: Tensor | None
    generator: torch.Generator | None


def anchor_(
    model: M,
    num_classes: int | None = None,
    *,
    layer: str | Sequence[str] | None = None,
    features: Literal["auto", "signed", "nonnegative"] = "auto",
    example: object = None,
    **head_options: Unpack[HeadOptions],
) -> M:
    """Replace the classifier of ``model`` by an :class:`AnchoredHead`, in place, and return the model.

    The classifier is the only Linear (or 1x1 Conv2d) layer with ``num_classes`` outputs. If several fit, it is the one
    that timm's ``get_classifier()`` gives, or the one at ``classifier``, ``fc``, ``head``, ``heads`` or
    ``score``, as torchvision and Hugging Face name it; if that leaves none or several, the error lists them.
    Without ``num_classes``, the number that the model states (``num_classes``, ``num_labels``) is used, then the layer
    at one of these places, then the only or, in a chain of modules, the last such layer.

    A layer that occurs in several places is replaced in all of them. Call this before the model is given to an
    optimiser, DDP or ``torch.compile``.

    **The sign of the features** decides which prototypes they can reach. It is taken from ``features`` if you give it,
    from the structure of the model if that proves it (the model declares ``signed_features = False``, or the layer
    follows a ReLU in an ``nn.Sequential``), or measured on ``example``. Otherwise features count as signed until the
    first batch: if that has no negative entry, the head gets prototypes for non-negative features before it gives its
    first logits. ``print(model)`` shows the sign and how it is known. The first eight batches of an eager model are
    watched, and warn if they contradict it; a model that is compiled before its first batch, or runs in several
    processes, cannot be changed by what it sees, so give ``example`` or ``features`` there.

    Args:
        model: Any model that holds its classifier as a submodule.
        num_classes: Number k of classes; None keeps the number of the classifier that is found.
        layer: Name of the layer to replace, as in ``model.named_modules()``, or of a block that holds it; a list of
            names, or ``"all"``, for a model with several classifiers (distilled, auxiliary). Only a
            layer named here may have had another number of outputs than ``num_classes``.
        features: As in :class:`AnchoredHead`, or ``"auto"``.
        example: A batch of inputs to measure the sign on, before anything is replaced: a tensor, a tuple of positional
            arguments, or a mapping of keyword arguments. The model sees it in evaluation mode, without gradients.
        **head_options: ``normalize``, ``scale``, ``prototypes`` and ``generator`` of :class:`AnchoredHead`.

    Returns:
        The same model.

    Raises:
        InputError: If no layer or several layers could be the classifier.

    Example:
        >>> from torch import nn
        >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
        >>> anchor_(model, 3, scale=5.0)[2]
        AnchoredHead(in_features=8, num_classes=3, normalize=True, scale=5, for nonnegative features (by structure))
    """
    if num_classes is not None:
        num_classes = check_integer("num_classes", num_classes, low=2, way_out="a single class needs no classifier")
    if could_classify(model):
        raise InputError(
            f"the model itself is a {type(model).__name__}, which cannot be replaced in place; "
            f"use AnchoredHead(in_features, num_classes) instead of it"
        )
    found = find_layers(model, num_classes, layer)
    seen = {} if example is None else _signs_on(model, found, example)
    for each in found:
        _check_replaceable(each)
    others = left_out(model, found[0]) if layer is None else []
    heads = [_head(model, each, num_classes, features, seen.get(each.name), head_options) for each in found]
    for head, each in zip(heads, found, strict=True):
        _place(head, model, each.module)
    if others:
        warnings.warn(
            f"{type(model).__name__} has other layers that look like classifiers and stay as they are: "
            f"{', '.join(map(str, others))}; anchor all of them by layer='all'",
            stacklevel=2,
        )
    return model


def _head(
    model: nn.Module,
    found: Layer,
    num_classes: int | None,
    features: Literal["auto", "signed", "nonnegative"],
    seen: Sign | None,
    options: HeadOptions,
) -> AnchoredHead:
    """Return the head in place of the layer that was found, made for the sign that is known or assumed."""
    if features != "auto":
        sign, known_by = features, "declared"
    elif (declared := sign_of_input(model, found.name)) == "nonnegative":
        sign, known_by = declared, "by structure"
    else:
        sign, known_by = (seen, "seen in the example") if seen else ("signed", "assumed")
    generator = options.get("generator")
    state = None if generator is None else generator.get_state()
    kind = AnchoredConv if isinstance(found.module, (nn.Conv2d, AnchoredConv)) else AnchoredHead
    head = kind(found.inputs, found.outputs if num_classes is None else num_classes, features=sign, **options)
    head.sign_known_by = known_by
    if head.features != "given" and known_by != "by structure":
        head.watch = SignWatch(head, found.name, may_change=known_by == "assumed", generator_state=state)
    return head


def _signs_on(model: nn.Module, found: list[Layer], example: object) -> dict[str, Sign]:
    """Run ``model`` on the example and return the signs of what its layers were given, if that is enough to tell."""
    signs: dict[str, Sign] = {}
    given: dict[str, list[Tensor]] = {each.name: [] for each in found}

    def keep(name: str) -> Callable[[nn.Module, tuple[Tensor, ...]], None]:
        def hook(layer: nn.Module, arguments: tuple[Tensor, ...]) -> None:
            maps = isinstance(layer, (nn.Conv2d, AnchoredConv))
            rows = arguments[0].movedim(-3, -1) if maps else arguments[0]
            given[name].append(rows.detach().reshape(-1, rows.shape[-1]))

        return hook

    modes = {module: module.training for module in model.modules()}
    hooks = [each.module.register_forward_pre_hook(keep(each.name)) for each in found]
    try:
        model.eval()
        with torch.no_grad():
            if isinstance(example, Mapping):
                model(**example)
            else:
                model(*example) if isinstance(example, (tuple, list)) else model(example)
    finally:
        for hook in hooks:
            hook.remove()
        for module, training in modes.items():
            module.training = training
    for name, parts in given.items():
        if parts and (sign := sign_of(torch.cat(parts))) is not None:
            signs[name] = sign
    return signs


def _check_replaceable(found: Layer) -> None:
    """Refuse a layer that has no size or no values yet."""
    if found.inputs == 0:
        raise InputError(
            f"layer {found.name!r} is a {type(found.module).__name__} that has no size yet; "
            f"run one batch through the model first"
        )
    if any(tensor.is_meta for tensor in chain(found.module.parameters(), found.module.buffers())):
        raise InputError(
            f"layer {found.name!r} is on the meta device, where prototypes would lose their values; "
            f"move the model to a real device first"
        )


def _place(head: AnchoredHead, model: nn.Module, old: nn.Module) -> None:
    """Put ``head`` wherever ``model`` refers to ``old``, on the same device, in the same dtype and mode."""
    tensor = next(chain(old.parameters(), old.buffers()))
    head.to(tensor.device, tensor.dtype if tensor.is_floating_point() else None)
    head.train(old.training)
    references = [
        (parent, name)
        for parent in model.modules()
        for name, child in parent._modules.items()  # named_children() hides a second reference to the same child
        if child is old
    ]
    for parent, name in references:
        setattr(parent, name, head)
