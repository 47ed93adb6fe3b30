"""Names from literal tables; the error for an unknown name shows the nearest ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import PurePath
from typing import TypeVar

from anchored._errors import InputError

__all__ = ["benchmark", "choose", "is_number", "suggest"]

T = TypeVar("T")

_LIST_FILES = {"imagenet_lt": "imagenet-lt", "webvision_mini": "webvision"}
"""Benchmarks that come as list files, by what stands before ``_train.txt``, ``_val.txt`` or ``_test.txt``."""


def suggest(name: str, known: Mapping[str, object] | list[str]) -> str:
    """Return the end of an error message: the nearest known names, or all of them if none is near.

    Args:
        name: The unknown name.
        known: The names that exist.

    Example:
        >>> suggest("gcee", ["ce", "gce", "nsl"])
        "did you mean 'gce' or 'ce'?"
        >>> suggest("zzz", ["ce", "gce"])
        'choose from ce, gce'
    """
    near = get_close_matches(name, list(known), n=2, cutoff=0.5)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else f"choose from {', '.join(known)}"


def choose(name: str, table: Mapping[str, T], *, what: str) -> T:
    """Return the entry called ``name``, or raise an error that shows the nearest names.

    Args:
        name: The name as given.
        table: Name to entry.
        what: What the table holds, for the error message.

    Returns:
        The entry.

    Raises:
        InputError: If the table has no such name.

    Example:
        >>> choose("ce", {"ce": 1}, what="loss")
        1
    """
    if name in table:
        return table[name]
    raise InputError(f"unknown {what} {name!r}; {suggest(str(name), table)}")


def is_number(text: str) -> bool:
    """Return whether a text is a number.

    Example:
        >>> is_number("1e-3"), is_number("one")
        (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True


def benchmark(source: str) -> str:
    """Return the name under which papers publish settings for a data source.

    A built-in data set has its own name. A benchmark that comes as a list file is recognised by the name of the file,
    wherever it lies. Any other source keeps its name, and no table of published settings has an entry for it.

    Example:
        >>> benchmark("cifar10"), benchmark("/data/ImageNet_LT_train.txt"), benchmark("photos/")
        ('cifar10', 'imagenet-lt', 'photos/')
    """
    file = re.fullmatch(r"(.*)_(train|val|test)\.txt", PurePath(source).name.lower())
    return source if file is None else _LIST_FILES.get(file[1], source)
