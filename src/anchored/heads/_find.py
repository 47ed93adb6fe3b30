"""Finding the classifier of a model: the only Linear or 1x1 Conv2d with as many outputs as there are classes.

That rule alone settles most published architectures. If several layers fit, the conventions of the large model
collections decide: timm's ``get_classifier()``, and the attributes ``classifier``, ``fc``, ``head``,
``heads`` and ``score``. If that does not decide either, the user must choose, and the error lists the layers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from torch import nn
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear

from anchored._errors import InputError
from anchored._names import suggest
from anchored.heads._base import Head

__all__ = ["Layer", "could_classify", "find_layer", "is_chain", "layers"]

PLACES = ("classifier", "fc", "head", "heads", "score")
COUNTS = ("num_classes", "num_labels")
SHOWN = 8


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer that could be a classifier, and its name inside the model."""

    name: str
    module: nn.Linear | nn.Conv2d | Head

    @property
    def inputs(self) -> int:
        """Length of the feature vectors that it takes."""
        return self.module.in_channels if isinstance(self.module, nn.Conv2d) else self.module.in_features

    @property
    def outputs(self) -> int:
        """Number of logits that it gives."""
        return self.module.out_channels if isinstance(self.module, nn.Conv2d) else self.module.out_features

    def __str__(self) -> str:
        return f"{self.name} ({self.inputs} -> {self.outputs})"


def layers(model: nn.Module) -> list[Layer]:
    """Return all layers that could be a classifier, each once, in the order in which they were registered."""
    if not isinstance(model, nn.Module):
        raise InputError(f"model must be a torch.nn.Module, got {type(model).__name__}")
    found: list[Layer] = []
    for name, module in model.named_modules():
        inside_a_head = any(isinstance(layer.module, Head) and _is_below(name, layer.name) for layer in found)
        if could_classify(module) and not inside_a_head:
            found.append(Layer(name, module))
    return found


def find_layer(model: nn.Module, num_classes: int | None, layer: str | None) -> Layer:
    """Return the layer called ``layer``, or the one that the rule of this module finds.

    Args:
        model: The model to search.
        num_classes: Number of outputs that the layer must have, or None for any.
        layer: Name of the layer, or of a block that holds it; None to search the whole model.

    Returns:
        The layer with its name.

    Raises:
        InputError: If none or several layers fit; the message lists them.

    Example:
        >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
        >>> find_layer(model, 3, None).name
        '2'
    """
    if layer is not None:
        return _named_layer(model, num_classes, layer)
    known = layers(model)
    wanted = _declared_count(model, known) if num_classes is None else num_classes
    fitting = [each for each in known if wanted is None or each.outputs == wanted]
    for candidates in (_at_known_places(model, fitting, count_given=wanted is not None), fitting):
        if len(candidates) == 1:
            return candidates[0]
    if wanted is None and (last := _end_of_chain(model, fitting)) is not None:
        return last
    raise _refusal(model, known, fitting, wanted)


def could_classify(module: nn.Module) -> TypeGuard[nn.Linear | nn.Conv2d | Head]:
    """Return whether ``module`` maps feature vectors to one number per class, by its type."""
    if isinstance(module, nn.Conv2d):
        return (
            module.kernel_size == (1, 1)
            and module.stride == (1, 1)
            and module.groups == 1
            and module.padding in ((0, 0), "valid", "same")
        )
    # Attention reads the weight of its output projection and never calls the layer.
    return isinstance(module, (nn.Linear, Head)) and not isinstance(module, NonDynamicallyQuantizableLinear)


def _is_below(name: str, ancestor: str) -> bool:
    return ancestor == "" or name.startswith(f"{ancestor}.")


def is_chain(module: nn.Module) -> bool:
    """Return whether the children run one after the other in the order in which they are registered."""
    return isinstance(module, nn.Sequential) and type(module).forward is nn.Sequential.forward


def _declared_count(model: nn.Module, known: list[Layer]) -> int | None:
    """Return the number of classes as timm and Hugging Face models state it, if some layer agrees."""
    for holder in (model, getattr(model, "config", None)):
        for attribute in COUNTS:
            count = getattr(holder, attribute, None)
            if isinstance(count, int) and any(each.outputs == count for each in known):
                return count
    return None


def _places(model: nn.Module) -> Iterator[nn.Module]:
    """Yield the modules at which the large collections keep their classifier."""
    method = getattr(model, "get_classifier", None)
    if callable(method):
        answer = method()
        several = answer if isinstance(answer, (tuple, list, nn.ModuleList)) else (answer,)
        yield from (each for each in several if isinstance(each, nn.Module))
        return
    for attribute in PLACES:
        place = getattr(model, attribute, None)
        if isinstance(place, nn.Module):
            yield place


def _at_known_places(model: nn.Module, fitting: list[Layer], *, count_given: bool) -> list[Layer]:
    found: list[Layer] = []
    for place in _places(model):
        members = set(place.modules())
        inside = [each for each in fitting if each.module in members]
        # Several layers in a chain: without a count to tell them apart, the last one gives the logits.
        last = None if count_given else _end_of_chain(place, inside)
        found += [each for each in ([last] if last else inside) if each not in found]
    return found


def _end_of_chain(module: nn.Module, candidates: list[Layer]) -> Layer | None:
    """Return the candidate that runs last, if the order is certain because ``module`` is a chain."""
    if not is_chain(module):
        return None
    for child in reversed(list(module.children())):
        inside = [each for each in candidates if each.module in set(child.modules())]
        if len(inside) == 1:
            return inside[0]
        if inside:
            return _end_of_chain(child, inside)
    return None


def _named_layer(model: nn.Module, num_classes: int | None, name: str) -> Layer:
    modules = dict(model.named_modules(remove_duplicate=False))
    if name not in modules:
        known = [each.name for each in layers(model)]
        raise InputError(f"{type(model).__name__} has no layer {name!r}; {suggest(name, known)}")
    module = modules[name]
    inside = [Layer(f"{name}.{each.name}".strip("."), each.module) for each in layers(module)]
    fitting = [each for each in inside if each.outputs == num_classes]
    for candidates in (inside, fitting):
        if len(candidates) == 1:
            return candidates[0]
    last = _end_of_chain(module, inside)
    if last is not None:
        return last
    held = f"it holds {_listed(inside)}" if inside else "it holds none"
    raise InputError(
        f"layer {name!r} is a {type(module).__name__}, and only a Linear or a 1x1 Conv2d can be replaced; {held}"
    )


def _listed(candidates: list[Layer]) -> str:
    # The classifier comes late in almost every model, so a long list keeps its end.
    earlier = len(candidates) - SHOWN
    shown = ", ".join(map(str, candidates[-SHOWN:]))
    return f"{shown} and {earlier} earlier ones" if earlier > 0 else shown


def _refusal(model: nn.Module, known: list[Layer], fitting: list[Layer], wanted: int | None) -> InputError:
    kind = type(model).__name__
    if not known:
        return InputError(
            f"{kind} has no Linear or 1x1 Conv2d layer to replace; make an AnchoredHead its last layer by hand"
        )
    count = "" if wanted is None else f" with {wanted} outputs"
    number = len(fitting) or "none"
    candidates = fitting or known
    return InputError(
        f"{kind} must have exactly one Linear or 1x1 Conv2d layer{count}, it has {number}; "
        f"choose one of {_listed(candidates)}, for example by layer={candidates[-1].name!r}"
    )
