"""Finding the classifier of a model: the only Linear or 1x1 Conv2d with as many outputs as there are classes.

That rule alone settles most published architectures. If several layers fit, the conventions of the large model
collections decide: timm's ``get_classifier()``, and the attributes ``classifier``, ``fc``, ``head``,
``heads`` and ``score``. If that does not decide either, the user must choose, and the error lists the layers.

Some models have several classifiers: distilled ones a second head, Inception networks auxiliary ones. ``"all"`` finds
those at the places above and those whose name begins like a classifier's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from torch import nn
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear

from anchored._errors import InputError
from anchored._names import suggest
from anchored.heads._base import Head

__all__ = ["Layer", "could_classify", "find_layer", "find_layers", "is_chain", "layers", "left_out"]

PLACES = ("classifier", "fc", "head", "heads", "score")
NAMED_LIKE_ONE = re.compile(r"(aux|classif|cls|fc|head|logits|score)", re.IGNORECASE)
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
    _refuse_class_weights_elsewhere(model)
    known = layers(model)
    wanted = _declared_count(model, known) if num_classes is None else num_classes
    fitting = [each for each in known if wanted is None or each.outputs == wanted]
    for candidates in (_at_known_places(model, fitting, count_given=wanted is not None), fitting):
        if len(candidates) == 1:
            return candidates[0]
    if wanted is None and (last := _end_of_chain(model, fitting)) is not None:
        return last
    raise _refusal(model, known, fitting, wanted)


def find_layers(model: nn.Module, num_classes: int | None, layer: str | Sequence[str] | None) -> list[Layer]:
    """Return the layers called ``layer``, all classifiers for ``"all"``, or the one that the rule finds.

    Args:
        model: The model to search.
        num_classes: Number of outputs that the layers must have, or None for any.
        layer: A name, several names, ``"all"``, or None.

    Returns:
        The layers with their names, each once.

    Raises:
        InputError: If a layer is not found, or it is not clear which one is meant.

    Example:
        >>> model = nn.ModuleDict({"head": nn.Linear(8, 3), "head_dist": nn.Linear(8, 3)})
        >>> [each.name for each in find_layers(model, 3, "all")]
        ['head', 'head_dist']
    """
    if layer is None or (isinstance(layer, str) and not _means_all(model, layer)):
        return [find_layer(model, num_classes, layer)]
    if isinstance(layer, str):
        return _all_classifiers(model, num_classes)
    names = list(layer)
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"layer must be a name, a list of names, or 'all', got {layer!r}")
    found = [find_layer(model, num_classes, name) for name in names]
    return [each for place, each in enumerate(found) if each.module not in {other.module for other in found[:place]}]


def left_out(model: nn.Module, chosen: Layer) -> list[Layer]:
    """Return the other layers that look like classifiers for the same classes, and so would go on being trained.

    Args:
        model: The model that holds them.
        chosen: The layer that is replaced.

    Returns:
        Layers elsewhere with as many outputs, whose name begins like that of a classifier.

    Example:
        >>> model = nn.ModuleDict({"aux": nn.Linear(8, 3), "fc": nn.Linear(8, 3)})
        >>> [str(each) for each in left_out(model, find_layer(model, 3, "fc"))]
        ['aux (8 -> 3)']
    """
    return [
        each
        for each in layers(model)
        if each.module is not chosen.module
        and each.outputs == chosen.outputs
        and not isinstance(each.module, Head)
        and NAMED_LIKE_ONE.match(each.name)
        and each.name.split(".")[0] != chosen.name.split(".")[0]  # an earlier layer of the same classifier
    ]


def _means_all(model: nn.Module, layer: str) -> bool:
    return layer == "all" and "all" not in dict(model.named_modules())


def _all_classifiers(model: nn.Module, num_classes: int | None) -> list[Layer]:
    known = layers(model)
    wanted = _declared_count(model, known) if num_classes is None else num_classes
    fitting = [each for each in known if wanted is None or each.outputs == wanted]
    placed = _at_known_places(model, fitting, count_given=wanted is not None)
    if wanted is None:
        beside = [other for each in placed for other in left_out(model, each)]
        found = [each for each in fitting if each in placed or each in beside]
    else:
        found = [each for each in fitting if each in placed or NAMED_LIKE_ONE.match(each.name)]
    if not found:
        raise _refusal(model, known, fitting, wanted)
    return found


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
    # Several at the places of classifiers, as distilled models have: they belong together.
    together = _at_known_places(model, fitting, count_given=wanted is not None)
    candidates = together if len(together) > 1 else fitting or known
    way_out = f"for example by layer={candidates[-1].name!r}"
    if 1 < len(candidates) <= SHOWN and wanted is not None and fitting:
        way_out = f"or anchor them together by layer={[each.name for each in candidates]!r}"
    return InputError(
        f"{kind} must have exactly one Linear or 1x1 Conv2d layer{count}, it has {number}; "
        f"choose one of {_listed(candidates)}, {way_out}"
    )


def _refuse_class_weights_elsewhere(model: nn.Module) -> None:
    """Refuse a speaker model with x-vectors: its last layer gives embeddings, its loss compares them with classes."""
    objective = getattr(model, "objective", None)
    if isinstance(objective, nn.Module) and any(weight.ndim == 2 for weight in objective.parameters(recurse=False)):
        raise InputError(
            f"{type(model).__name__} keeps the weights of its classes in its loss, objective "
            f"({type(objective).__name__}), and no layer gives one logit per class; put an AnchoredHead on its "
            f"embeddings instead, or name the layer that you mean by layer="
        )
