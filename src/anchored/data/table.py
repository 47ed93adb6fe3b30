"""Tables with a label column: numeric columns as features, or one column of image paths.

:func:`load_table` reads a table whole, as training needs it, and refuses one in which a row cannot be used. Prediction
reads it a chunk at a time (:func:`stream_table`), so a table to be predicted can be as long as it likes; a row that
cannot be used (a cell that is no number, a picture that is not there) is an error of that row. How rows are counted and
read is in :mod:`anchored.data.table_reader`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._names import is_number, suggest
from anchored.data.chunk import Chunk, Read, chunk_size, image_chunks
from anchored.data.dataset import Dataset, RowIds, Split
from anchored.data.duplicates import note_duplicates
from anchored.data.file_inputs import MEMORY_LIMIT, files_below, image_inputs
from anchored.data.images import IMAGE_SUFFIXES
from anchored.data.inputs import Inputs, TensorInputs
from anchored.data.labels import LabelPolicy, encode_labels, review_if_trained_on
from anchored.data.table_reader import Table, open_table

__all__ = ["load_table", "read_column", "stream_table"]

_LABEL_NAMES = ("label", "labels", "class", "target", "y")
_ROWS = 2**10


def load_table(
    path: str | Path,
    *,
    label: str | None = None,
    image: str | None = None,
    root: str | Path | None = None,
    columns: Sequence[str] | None = None,
    class_names: tuple[str, ...] | None = None,
    labels: LabelPolicy = "required",
    shape: tuple[int, ...] | None = None,
    side: int | None = None,
    memory_limit: int = MEMORY_LIMIT,
) -> Split:
    r"""Read a data set from a CSV or Parquet file.

    Args:
        path: The file; ``.parquet`` and ``.pq`` are Parquet, anything else CSV.
        label: The label column; by default the only one called label, class, target or y.
        image: The column of image paths; by default a text column whose first cells end like image files, if there is
            one.
        root: The folder that image paths start in; by default that of the file.
        columns: The features, in this order; by default every column but the label. Prediction passes the model's.
        class_names: The names known from training, for data to be predicted or evaluated.
        labels: Whether a label column is needed.
        shape: ``(c, h, w)`` to bring images to.
        side: Side of the squares to bring images to, if ``shape`` is not given.
        memory_limit: Bytes of pixels up to which images are kept in memory.

    Returns:
        The rows as a training part without a test part.

    Raises:
        InputError: If a row cannot be used, or the columns are not clear; the message names the row and column.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "t.csv")
        >>> _ = path.write_text("x,z,label\n1,2.5,a\n3,4,b\n")
        >>> data = load_table(path).train
        >>> data.columns, data.class_names, data.ids[0]
        (('x', 'z'), ('a', 'b'), 'row 2')
    """
    table = open_table(path)
    path = table.path
    label_column = _label_column(table, label, needed=labels == "required")
    rest = [column for column in table.columns if column != label_column]
    notes: list[str] = []
    unnamed = [column for column in rest if _is_row_number(column) and column not in (columns or ())]
    if unnamed and len(unnamed) < len(rest):
        # What pandas writes for its index: a count of the rows, which would give the label away if they are sorted.
        rest = [column for column in rest if column not in unnamed]
        notes.append("a column without a name was left out: it looks like a count of the rows")

    given: list[str] | None = None
    if label_column is not None and labels != "ignored":
        rows, given = read_column(table, label_column)
        if "" in given and labels == "required":
            raise InputError(
                f"{path}, row {rows[given.index('')]}: the label in column {label_column!r} is empty; fill or drop it"
            )
    image = _image_column(table, rest, image) if columns is None else None
    inputs: Inputs
    features: list[str] | None = None
    if image is not None:
        rows, written = read_column(table, image)
        files = files_below(Path(root or path.parent), written, where=lambda i: f"{path}, row {rows[i]}")
        inputs = image_inputs(files, shape=shape, side=side, memory_limit=memory_limit)
        ids: Sequence[str] = written
        if len(rest) > 1:
            notes.append(f"columns beside {image!r} were left out: {', '.join(c for c in rest if c != image)}")
    else:
        features = _feature_columns(table, rest, columns, shape)
        rows, values = _numbers(table, features, None if given is None else rows)
        inputs, ids = TensorInputs(values), RowIds(torch.tensor(rows))
        if len(features) < len(rest):
            notes.append(f"{len(rest) - len(features)} columns beside those asked for were left out")
    text = [None] * len(rows) if given is None else [cell or None for cell in given]
    codes, names = encode_labels(text, class_names, where=lambda i: f"{path}, row {rows[i]}")
    if image is not None:
        notes = [*note_duplicates(files, ids, codes), *notes]
    dataset = Dataset(
        name=path.stem,
        inputs=inputs,
        labels=codes,
        class_names=names,
        ids=ids,
        columns=None if features is None else tuple(features),
        notes=tuple(notes),
    )
    return Split(review_if_trained_on(dataset, class_names, labels, where=path))


def stream_table(
    path: str | Path,
    *,
    shape: tuple[int, ...],
    label: str | None = None,
    image: str | None = None,
    root: str | Path | None = None,
    columns: Sequence[str] | None = None,
    size: int | None = None,
    read: Read | None = None,
) -> Iterator[Chunk]:
    r"""Read a table a chunk at a time, for a model that takes inputs of ``shape``; labels are not looked at.

    Args:
        path: The file; ``.parquet`` and ``.pq`` are Parquet, anything else CSV.
        shape: The model's input: ``(d,)`` for numeric columns, ``(c, h, w)`` for a column of image paths.
        label: A column to leave out, if ``columns`` does not say which ones count.
        image: The column of image paths; by default a text column whose first cells end like image files.
        root: The folder that image paths start in; by default that of the file.
        columns: The features, in the model's order; by default all if there are as many as the model takes, else every
            column but the label.
        size: Rows per chunk; by default :func:`~anchored.data.chunk.chunk_size`.
        read: Reads images, for instance by encoding them; by default they are decoded.

    Returns:
        The chunks, in the order of the rows; a row that cannot be used is an error in its chunk.

    Raises:
        InputError: If the file as a whole cannot be used, e.g. a column that the model needs is missing; before the
            first chunk.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "new.csv")
        >>> _ = path.write_text("x,y2\n1,2\n3,oops\n5,6\n")
        >>> (chunk,) = stream_table(path, shape=(2,))
        >>> list(chunk.ids), chunk.inputs.tolist()
        (['row 2', 'row 3', 'row 4'], [[1.0, 2.0], [5.0, 6.0]])
        >>> chunk.errors[1].partition(", ")[2]
        "row 3, column 'y2': features must be numbers, got 'oops'; encode text as numbers, or drop the column"
    """
    table = open_table(path)
    path = table.path
    size = size or chunk_size(shape)
    rest = _possible_inputs(table, shape, label, columns)
    if len(shape) == 3:
        column = _image_column(table, rest, image)
        if column is None:
            raise InputError(
                f"{path}: the model takes images of shape {shape}, the table has no column of image paths; "
                "name it with --image COLUMN"
            )
        written = (list(zip(block.rows, block.texts(), strict=True)) for block in table.blocks([column], size))
        return image_chunks(written, where=path, root=Path(root or path.parent), shape=shape, read=read)
    features = _feature_columns(table, rest, columns, shape)
    for column in features:
        # A column of text is refused now: it would be an error in every row.
        if table.is_text(column) and (table.typed or not any(map(is_number, table.head(column)))):
            raise _not_numeric(table, column)

    def stream() -> Iterator[Chunk]:
        for block in table.blocks(features, size):
            values, errors = block.numbers()
            yield Chunk([f"row {row}" for row in block.rows], torch.from_numpy(values).to(torch.float32), errors)

    return stream()


def read_column(table: Table, column: str) -> tuple[list[int], list[str]]:
    """Read one column whole.

    Args:
        table: The open table.
        column: The column's name.

    Returns:
        What the rows are called, and the cell of each as text.

    Raises:
        InputError: If a row has too few or too many cells, or a number that cannot be a label.
    """
    rows: list[int] = []
    cells: list[str] = []
    for block in table.blocks([column], _ROWS):
        rows += block.rows
        for cell in block.texts():
            if isinstance(cell, InputError):
                raise cell
            cells.append(cell)
    return rows, cells


def _numbers(table: Table, features: list[str], known: list[int] | None) -> tuple[list[int], Tensor]:
    """What the rows are called (perhaps known already), and the features ``(n, d)`` as float32."""
    if table.typed:
        for column in features:
            if table.is_text(column):
                raise _not_numeric(table, column)
    whole = None if known is None else table.numbers(features)
    if known is not None and whole is not None and len(whole) == len(known):
        floats = torch.from_numpy(whole).to(torch.float32)
        if floats.isfinite().all():
            return known, floats
    rows: list[int] = []
    parts: list[Tensor] = []
    for block in table.blocks(features, _ROWS):
        values, errors = block.numbers()
        if errors:
            raise InputError(errors[min(errors)])
        rows += block.rows
        parts.append(torch.from_numpy(values).to(torch.float32))
    return rows, torch.cat(parts)


def _not_numeric(table: Table, column: str) -> InputError:
    return InputError(
        f"{table.path}, column {column!r}: features must be numbers, got {table.head(column)[0]!r}; "
        "encode it, or drop it"
    )


def _possible_inputs(
    table: Table, shape: tuple[int, ...], label: str | None, columns: Sequence[str] | None
) -> list[str]:
    """The columns that can be inputs: with the model's own at hand all, else all but a label and a row number."""
    if columns is not None:
        return table.columns
    named = [column for column in table.columns if not _is_row_number(column)] or table.columns
    if label is None and shape == (len(named),):
        return named  # just as many as the model takes: a column called "y" is a feature then, not the label
    label_column = _label_column(table, label, needed=False)
    return [column for column in named if column != label_column]


def _label_column(table: Table, label: str | None, *, needed: bool) -> str | None:
    if label is not None:
        if label in table.columns:
            return label
        if needed:
            raise InputError(f"{table.path}: there is no label column {label!r}; {suggest(label, table.columns)}")
        return None
    usual = [column for column in table.columns if column.strip().lower() in _LABEL_NAMES]
    if len(usual) == 1:
        return usual[0]
    if not needed and not usual:
        return None
    found = (
        f"both {usual[0]!r} and {usual[1]!r} could be it"
        if usual
        else f"the columns are {', '.join(table.columns[:8])}"
    )
    raise InputError(f"{table.path}: which column is the label? {found}; name it with --label COLUMN")


def _is_row_number(column: str) -> bool:
    return column == "" or column.startswith(("Unnamed: ", "__index_level_"))


def _image_column(table: Table, rest: list[str], image: str | None) -> str | None:
    if image is not None:
        if image not in rest:
            raise InputError(f"{table.path}: there is no image column {image!r}; {suggest(image, rest)}")
        return image
    paths = [
        column
        for column in rest
        if table.is_text(column) and all(Path(cell).suffix.lower() in IMAGE_SUFFIXES for cell in table.head(column))
    ]
    if len(paths) > 1:
        raise InputError(
            f"{table.path}: both {paths[0]!r} and {paths[1]!r} hold image paths; name one with image=COLUMN"
        )
    return paths[0] if paths else None


def _feature_columns(
    table: Table, rest: list[str], columns: Sequence[str] | None, shape: tuple[int, ...] | None
) -> list[str]:
    if columns is None and not rest:
        raise InputError(f"{table.path}: there is no column beside the label; add the features")
    features = rest if columns is None else list(columns)
    known = set(rest)
    missing = [column for column in features if column not in known]
    if missing:
        raise InputError(
            f"{table.path}: column {missing[0]!r} is missing, and the model needs it; {suggest(missing[0], rest)}"
        )
    if shape is not None and shape != (len(features),):
        raise InputError(
            f"{table.path}: the model takes inputs of shape {shape}, the table has {len(features)} features"
        )
    return features
