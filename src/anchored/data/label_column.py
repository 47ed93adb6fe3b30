"""The label column of a table: found by its name, and refused if it is no label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from anchored._errors import InputError
from anchored._names import suggest
from anchored.data.columns import TableInputs, TimeColumn, VectorColumn
from anchored.data.labels import check_classes

__all__ = ["LABEL_NAMES", "find_label", "label_texts"]

LABEL_NAMES = ("label", "labels", "class", "target", "y", "outcome", "ground_truth")
"""Names by which a label column is found if none is told, in any case of letters."""
_MISSING = frozenset({"nan", "null", "#n/a"})
"""What programs write for a value that is missing; nobody calls a class so."""


def find_label(names: Sequence[str], label: str | None, *, source: str, needed: bool = True) -> str | None:
    """Find the label column.

    Args:
        names: All columns of the table.
        label: The column that the user told, or None.
        source: What a message calls the table.
        needed: Whether a table without a label column is refused.

    Returns:
        The name of the label column, or None if there is none and none is needed.

    Raises:
        InputError: If it cannot be found, or several columns could be it; the message lists all columns.

    Example:
        >>> find_label(["age", "Label"], None, source="t.csv")
        'Label'
        >>> find_label(["a", "b"], None, source="t")
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: t: which column is the label? The columns are 'a', 'b'; name it with --label COLUMN
    """
    everything = ", ".join(map(repr, names))
    if label is not None:
        if label in names:
            return label
        if not needed:
            return None
        hint = suggest(label, list(names))
        listed = f"; the columns are {everything}" if hint.startswith("did you mean") else ""
        raise InputError(f"{source}: there is no label column {label!r}; {hint}{listed}")
    usual = [name for name in names if name.strip().lower() in LABEL_NAMES]
    if len(usual) == 1:
        return usual[0]
    if not needed and not usual:
        return None
    found = f"{' and '.join(map(repr, usual))} could be it. " if usual else ""
    raise InputError(
        f"{source}: which column is the label? {found}The columns are {everything}; name it with --label COLUMN"
    )


def label_texts(
    table: TableInputs, label: str, *, missing: Literal["refuse", "keep"] = "refuse", as_category: bool = False
) -> list[str | None]:
    """Read the labels of a table as class names, and refuse a column that cannot be a label.

    Args:
        table: The table, with its label column kept as texts if it comes from a CSV file.
        label: The name of the label column.
        missing: ``"refuse"`` if every row needs a label, ``"keep"`` to give None for rows without.
        as_category: Take the column as it is, however many values it has.

    Returns:
        One class name per row, verbatim.

    Raises:
        InputError: If labels are missing (the rows are named), the column is continuous, an id, a date or a list.

    Example:
        >>> from anchored.data import TextColumn
        >>> table = TableInputs({"y": TextColumn(np.array([0, 1, 0], dtype=np.int32), ("no", "yes"))})
        >>> label_texts(table, "y")
        ['no', 'yes', 'no']
    """
    column = table.columns[label]
    where = f"{table.source}, column {label!r}"
    if isinstance(column, VectorColumn):
        raise InputError(f"{where}: a label must be one value, got a list of numbers; name another with --label COLUMN")
    if isinstance(column, TimeColumn):
        raise InputError(
            f"{where}: a label must be a class, got dates such as {column.cells()[0]}; name another with --label COLUMN"
        )
    gone = np.flatnonzero(column.missing)
    if len(gone) == len(column):
        raise InputError(f"{where}: every label is missing; name another column with --label COLUMN")
    if len(gone) and missing == "refuse":
        rows = ", ".join(str(int(table.rows[i])) for i in gone[:5]) + (", …" if len(gone) > 5 else "")
        raise InputError(
            f"{where}: the label is missing in {len(gone)} of {len(column)} rows (row {rows}); fill or drop them"
        )
    cells = column.cells()
    named_missing = [i for i, cell in enumerate(cells) if cell is not None and cell.strip().lower() in _MISSING]
    if named_missing and not as_category:
        row = int(table.rows[named_missing[0]])
        raise InputError(
            f"{where}: the label is {cells[named_missing[0]]!r} in {len(named_missing)} of {len(column)} rows "
            f"(row {row}), "
            "which stands for none; fill or drop them, or rename the class"
        )
    if not as_category:
        check_classes([cell for cell in cells if cell is not None], where=where)
    return cells
