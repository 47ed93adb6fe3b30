"""Checks of a model from an untrusted source: its description field by field, its network by the memory it asks for.

``model.json`` is a few numbers and names, so a wrong one can ask for anything: a layer a billion wide, a picture of a
terabyte, a file to read weights from. But every tensor of an honest network lies in ``model.safetensors`` beside it.
So the size of that file bounds what building the network may allocate, whatever the description says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

from anchored._checks import check_integer, check_real
from anchored._errors import InputError
from anchored._files import read_json
from anchored.backbones import check_shape

__all__ = ["Allowance", "check_description", "read_description"]

_LONGEST_DESCRIPTION = 2**26
_LARGEST_INPUT = 2**26
_NOT_FROM_A_FILE = ("checkpoint_path", "pretrained_cfg", "pretrained_cfg_overlay", "cache_dir", "file")
_WAY_OUT = "copy model.json and model.safetensors from the run again"


def read_description(path: Path) -> dict[str, Any]:
    """Read and check a ``model.json``.

    Raises:
        InputError: The file cannot be read, or a field cannot be right.
    """
    return check_description(read_json(path, longest=_LONGEST_DESCRIPTION, way_out=_WAY_OUT), where=str(path))


def check_description(about: object, *, where: str) -> dict[str, Any]:
    """Check the description of a model.

    Fields that only one kind of network has are left to that network.

    Args:
        about: Content of a ``model.json``.
        where: Name of the file, for the message.

    Returns:
        The description, unchanged.

    Raises:
        InputError: A field is missing or cannot be right; the message names it.

    Example:
        >>> check_description({"class_names": ["no", "no"]}, where="model.json")
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: model.json: class_names must differ, got 'no' twice; \
copy model.json and model.safetensors from the run again
    """
    if not isinstance(about, dict):
        raise _refused(where, f"it must hold an object, got {_shown(about)}")
    names = about.get("class_names")
    if not isinstance(names, list) or len(names) < 2 or not all(isinstance(name, str) for name in names):
        raise _refused(where, f"class_names must list at least two names, got {_shown(names)}")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise _refused(where, f"class_names must differ, got {twice!r} twice")
    try:
        check_real("temperature", about.get("temperature"), low=0.0, closed="neither")
        shape = check_shape(about.get("input_shape"))
        if math.prod(shape) > _LARGEST_INPUT:
            raise InputError(f"input_shape must have at most {_LARGEST_INPUT} values, got {shape}")
        _check_normalization(about.get("normalization"), shape[0])
        _check_counts(about.get("training_counts"), len(names))
        _check_backbone(about.get("backbone"))
        _check_columns(about.get("columns"))
    except InputError as error:
        raise _refused(where, str(error)) from None
    return about


def _check_normalization(about: object, channels: int) -> None:
    if not isinstance(about, dict):
        raise InputError(f"normalization must be an object, got {_shown(about)}")
    check_real("normalization.divisor", about.get("divisor"), low=0.0, closed="neither")
    for name in ("mean", "std"):
        values = about.get(name)
        if not isinstance(values, list) or len(values) != channels:
            raise InputError(f"normalization.{name} must list {channels} numbers, got {_shown(values)}")
        for value in values:
            check_real(f"normalization.{name}", value, low=0.0 if name == "std" else -math.inf, closed="neither")


def _check_counts(about: object, k: int) -> None:
    if about is None:
        return
    if not isinstance(about, list) or len(about) != k:
        raise InputError(f"training_counts must list one count for each of the {k} class_names, got {_shown(about)}")
    for count in about:
        check_integer("training_counts", count, low=0, high=2**53)


def _check_backbone(about: object) -> None:
    if about is None:
        return
    if not isinstance(about, dict) or not isinstance(about.get("name"), str):
        raise InputError(f"backbone must be an object with a name, got {_shown(about)}")
    options = about.get("options", {})
    if not isinstance(options, dict):
        raise InputError(f"backbone.options must be an object, got {_shown(options)}")
    for name in _NOT_FROM_A_FILE:
        if name in options:
            raise InputError(f"backbone.options may not read other files, got {name!r}")


def _check_columns(about: object) -> None:
    if about is not None and not (isinstance(about, list) and all(isinstance(name, str) for name in about)):
        raise InputError(f"columns must list names, or be null, got {_shown(about)}")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _refused(where: str, what: str) -> InputError:
    return InputError(f"{where}: {what}; {_WAY_OUT}")


class Allowance(TorchFunctionMode):
    """Limits the number and the size of the tensors that are made within the ``with`` block.

    Tensors on ``meta`` take no memory, so only their number counts.

    Args:
        entries: Largest number of entries of all new tensors together.
        tensors: Largest number of new tensors.

    Example:
        >>> import torch
        >>> with Allowance(entries=100, tensors=10):
        ...     layer = torch.nn.Linear(1000, 1000)
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: the network described is larger than its weights
    """

    def __init__(self, *, entries: int, tensors: int) -> None:
        super().__init__()
        self.entries = entries
        self.tensors = tensors

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the function returns
        """Count the tensors that a function makes; memory that nobody has written to is not taken yet."""
        made = func(*args, **(kwargs or {}))
        if getattr(func, "__name__", "") in _MAKERS and isinstance(made, Tensor):
            self.tensors -= 1
            self.entries -= 0 if made.is_meta else made.numel()
            if min(self.tensors, self.entries) < 0:
                raise InputError("the network described is larger than its weights")
        return made


_MAKERS = frozenset({"empty", "empty_like", "zeros", "zeros_like", "ones", "ones_like", "full", "rand", "randn"})
