"""``--prior a,b,c`` or ``--prior FILE``: how frequent each class is in use.

Numbers are in the order of the model's classes. A file is JSON (an object of class names and numbers, or a list of
numbers), or else a table of two columns, class and number. Both shares and counts will do.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anchored._errors import InputError
from anchored._files import read_text
from anchored._names import is_number, suggest
from anchored.cli.processes import tell

if TYPE_CHECKING:
    from anchored.runs import TrainedModel

__all__ = ["read_prior", "with_prior"]


def with_prior(model: TrainedModel, prior: str | None) -> TrainedModel:
    """Move a model to the class frequencies that the option names.

    Args:
        model: The trained model.
        prior: Value of ``--prior``, or None.

    Returns:
        The moved model, or the model itself if nothing was asked.

    Raises:
        InputError: The numbers or the file cannot be used.
    """
    if prior is None:
        return model
    moved = model.for_prior(read_prior(prior, model.class_names))
    counts = model.description.get("training_counts") or [1]
    name = model.description.get("method")
    if name is not None and min(counts) != max(counts) and not _corrects(name):
        tell(
            f"method {name!r} learns the class frequencies of its training data, and --prior comes on top of them; "
            f"train pc-softmax or balanced-softmax for probabilities that begin with equal ones"
        )
    return moved


def read_prior(text: str, class_names: Sequence[str]) -> list[float]:
    """Read class frequencies from numbers, or from a file of them.

    Args:
        text: Numbers with commas between, or the path of a file.
        class_names: Names of the model's classes.

    Returns:
        One number per class, in the order of ``class_names``.

    Raises:
        InputError: A class is missing, unknown or without a number, or the file cannot be read.

    Example:
        >>> read_prior("0.9,0.1", ("no", "yes"))
        [0.9, 0.1]
    """
    pieces = [piece.strip() for piece in text.split(",")]
    try:
        numbers = [float(piece) for piece in pieces]
    except ValueError:
        return _from_file(Path(text).expanduser(), class_names)
    if len(numbers) != len(class_names):
        raise InputError(f"--prior needs a number for each of the {len(class_names)} classes, got {len(numbers)}")
    return numbers


def _from_file(path: Path, class_names: Sequence[str]) -> list[float]:
    if not path.is_file():
        raise InputError(f"--prior must be numbers a,b,c or a file of class names and numbers, got {str(path)!r}")
    try:
        text = read_text(path)
        found = json.loads(text) if path.suffix.lower() == ".json" else _table(text)
    except InputError as error:
        raise InputError(f"--prior {error}") from None
    except (ValueError, RecursionError, csv.Error) as error:
        raise InputError(f"--prior {path} cannot be read: {str(error).splitlines()[0]}") from None
    if isinstance(found, list):
        found = dict(zip(class_names, found, strict=False)) if len(found) == len(class_names) else None
    if not isinstance(found, dict):
        raise InputError(f"--prior {path} must hold a number for each of the {len(class_names)} classes")
    for name in found:
        if name not in class_names:
            raise InputError(f"--prior {path}: the model has no class {name!r}; {suggest(name, list(class_names))}")
    for name in class_names:
        if name not in found:
            raise InputError(f"--prior {path} says nothing of class {name!r}; add a line for it")
    return [_number(found[name], path, name) for name in class_names]


def _table(text: str) -> dict[str, Any]:
    """Read names and numbers by row; a first row whose second cell is no number is a heading."""
    rows = [row for row in csv.reader(text.splitlines()) if row]
    if any(len(row) != 2 for row in rows):
        raise ValueError("a row must be a class and a number")
    if rows and not is_number(rows[0][1]):
        rows = rows[1:]
    names = [row[0].strip() for row in rows]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"class {name!r} comes twice")
    return {name: row[1] for name, row in zip(names, rows, strict=True)}


def _number(value: object, path: Path, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)) or not is_number(str(value)):
        raise InputError(f"--prior {path}: class {name!r} needs a number, got {value!r}")
    return float(value)


def _corrects(name: str) -> bool:
    """Tell whether the method called ``name`` corrects for the class frequencies of the data."""
    from anchored.methods import parse, procedure_type

    method = parse(name)
    by_prior = method.loss in ("balanced-softmax", "logit-adjusted", "lade")
    by_batches = method.deferred or method.weighting != "none" or method.sampling != "instance"
    return by_prior or by_batches or procedure_type(method).corrects_imbalance
