"""Anchoring of an existing model: its classifier is replaced by an anchored head, in place.

:func:`anchor_` says how the classifier is found. The new head keeps its device, its dtype, its training mode
and the number of its inputs. The weights of the old one are gone afterwards.
"""

from __future__ import annotations

from itertools import chain
from typing import Literal, TypedDict, TypeVar, Unpack

import torch
from torch import Tensor, nn

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored.heads._find import Layer, could_classify, find_layer
from anchored.heads._sign import sign_of_input
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
    layer: str | None = None,
    features: Literal["auto", "signed", "nonnegative"] = "auto",
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

    Args:
        model: Any model that holds its classifier as a submodule.
        num_classes: Number k of classes; None keeps the number of the classifier that is found.
        layer: Name of the layer to replace, as in ``model.named_modules()``, or of a block that holds it. Only a
            layer named here may have had another number of outputs than ``num_classes``.
        features: As in :class:`AnchoredHead`. ``"auto"`` means ``"nonnegative"`` if the structure of the model
            proves it: the model declares ``signed_features = False``, or the layer follows a ReLU in an
            ``nn.Sequential``. Otherwise it means ``"signed"``; if your features end in a ReLU (ResNets do), say so.
        **head_options: ``normalize``, ``scale``, ``prototypes`` and ``generator`` of :class:`AnchoredHead`.

    Returns:
        The same model.

    Raises:
        InputError: If no layer or several layers could be the classifier.

    Example:
        >>> from torch import nn
        >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
        >>> anchor_(model, 3, scale=5.0)[2]
        AnchoredHead(in_features=8, num_classes=3, normalize=True, scale=5)
    """
    if num_classes is not None:
        num_classes = check_integer("num_classes", num_classes, low=2, way_out="a single class needs no classifier")
    if could_classify(model):
        raise InputError(
            f"the model itself is a {type(model).__name__}, which cannot be replaced in place; "
            f"use AnchoredHead(in_features, num_classes) instead of it"
        )
    found = find_layer(model, num_classes, layer)
    _check_replaceable(found)
    kind = AnchoredConv if isinstance(found.module, (nn.Conv2d, AnchoredConv)) else AnchoredHead
    head = kind(
        found.inputs,
        found.outputs if num_classes is None else num_classes,
        features=sign_of_input(model, found.name) if features == "auto" else features,
        **head_options,
    )
    _place(head, model, found.module)
    return model


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
