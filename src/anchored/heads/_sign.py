"""The sign of a layer's input: whether it can have negative entries, as far as the structure of the model tells.

Only what is certain counts: the model (or the block right before the layer) says so by ``signed_features``, or the
layer stands in a chain after a ReLU with nothing between them that could make an entry negative. A forward method
written by hand cannot be read, so its features count as signed.
"""

from __future__ import annotations

from typing import Literal

from torch import nn

from anchored.heads._find import is_chain

__all__ = ["sign_of_input"]

NONNEGATIVE = (nn.ReLU, nn.ReLU6, nn.Sigmoid, nn.Hardsigmoid, nn.Softplus, nn.Softmax)
KEEPS_SIGN = (
    nn.Identity, nn.Flatten, nn.Unflatten, nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d,
    nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d, nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d,
    nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d,
    nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.AdaptiveMaxPool3d,
)  # fmt: skip

Sign = Literal["signed", "nonnegative"]


def sign_of_input(model: nn.Module, name: str) -> Sign:
    """Return ``"nonnegative"`` if the input of the layer ``name`` certainly is, else ``"signed"``.

    Args:
        model: The model that holds the layer.
        name: Name of the layer, as in ``model.named_modules()``.

    Returns:
        One of the two words.

    Example:
        >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 3))
        >>> sign_of_input(model, "3"), sign_of_input(model, "0")
        ('nonnegative', 'signed')
    """
    if (declared := _declared_sign(model)) is not None:
        return declared
    layer = model.get_submodule(name)
    names = [each for each, module in model.named_modules(remove_duplicate=False) if module is layer]
    return "nonnegative" if all(_follows_nonnegative(model, each) for each in names) else "signed"


def _follows_nonnegative(model: nn.Module, name: str) -> bool:
    """Return whether chains lead back from the layer ``name`` to something without negative entries."""
    path = name.split(".")
    # From the innermost container outwards: a layer that opens its chain gets what comes before the chain.
    for depth in reversed(range(len(path))):
        parent = model.get_submodule(".".join(path[:depth]))
        if not is_chain(parent):
            return False
        members = list(parent._modules)  # named_children() would leave out a module's second appearance
        before = [parent.get_submodule(each) for each in members[: members.index(path[depth])]]
        if (sign := _sign_after(before)) is not None:
            return sign == "nonnegative"
    return False


def _declared_sign(module: nn.Module) -> Sign | None:
    signed = getattr(module, "signed_features", None)
    if not isinstance(signed, bool):
        return None
    return "signed" if signed else "nonnegative"


def _sign_after(chain: list[nn.Module]) -> Sign | None:
    """Return the sign of what leaves the chain; None if every member only passes the sign of its input on."""
    for module in reversed(chain):
        if isinstance(module, KEEPS_SIGN):
            continue
        if (declared := _declared_sign(module)) is not None:
            return declared
        if isinstance(module, NONNEGATIVE):
            return "nonnegative"
        inside = _sign_after(list(module)) if isinstance(module, nn.Sequential) and is_chain(module) else "signed"
        if inside is not None:
            return inside
    return None
