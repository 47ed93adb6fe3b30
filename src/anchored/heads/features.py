"""The features of a model: the input of its head."""

from __future__ import annotations

from torch import Tensor, nn

from anchored._errors import InputError
from anchored.heads._base import Head
from anchored.heads._find import find_layer, layers

__all__ = ["features_of"]


def features_of(model: nn.Module, *inputs: object, layer: str | None = None, **named_inputs: object) -> Tensor:
    """Run ``model(*inputs, **named_inputs)`` and return the input of its head.

    The head is the only :class:`Head` in the model, or else the classifier that :func:`anchor_` would replace.
    Gradients flow as in any forward pass, and modes stay as they are: use
    ``model.eval()`` and ``torch.no_grad()`` as you would to predict.

    Args:
        model: A model with a head or a classifier.
        *inputs: Positional arguments of the model.
        layer: Name of the head, if it is not clear which one it is.
        **named_inputs: Keyword arguments of the model.

    Returns:
        The tensor that the head was given, usually ``(n, d)``.

    Raises:
        InputError: If the head is not found, or does not run exactly once.

    Example:
        >>> import torch
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(12, 3))
        >>> features_of(model, torch.zeros(5, 3, 4)).shape
        torch.Size([5, 12])
    """
    heads = [each for each in layers(model) if isinstance(each.module, Head)]
    found = heads[0] if layer is None and len(heads) == 1 else find_layer(model, None, layer)
    seen: list[Tensor] = []
    handle = found.module.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0]))
    try:
        model(*inputs, **named_inputs)
    finally:
        handle.remove()
    if len(seen) != 1:
        raise InputError(
            f"layer {found.name!r} must run exactly once per forward pass to have one input, it ran {len(seen)} times; "
            f"name another one by layer="
        )
    return seen[0]
