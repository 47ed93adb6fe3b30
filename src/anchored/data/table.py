"""Tables with a label column, in the form that suits what they hold.

==========================================  ================================================================
the columns beside the label                what :func:`load_table` gives
==========================================  ================================================================
one of them holds image paths               images
one of texts, and perhaps ids               texts, to be encoded as texts
numbers only, or one list of numbers        vectors
anything else                               raw rows (:class:`~anchored.data.TableInputs`), to be encoded
==========================================  ================================================================

Numbers with gaps, ids among them, values far outside or large offsets are raw rows too: their encoding fills, leaves
out, clips and centres. :func:`load_table` reads a table whole, as training needs it, and refuses one in which a row
cannot be used. Prediction reads it a chunk at a time (:func:`stream_table`), so a table to be predicted can be as long
as it likes; a row that cannot be used (a cell that is no number, a picture that is not there) is an error of that row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._names import suggest
from anchored.data.chunk import Chunk, Read, chunk_size, image_chunks
from anchored.data.columns import NumberColumn, TableChunk, TableInputs, TextColumn, VectorColumn
from anchored.data.dataset import Dataset, RowIds, Split
from anchored.data.duplicates import note_duplicates
from anchored.data.file_inputs import MEMORY_LIMIT, files_below, image_inputs
from anchored.data.id_column import why_id
from anchored.data.images import IMAGE_SUFFIXES
from anchored.data.inputs import Inputs, TensorInputs
from anchored.data.label_column import find_label
from anchored.data.labels import LabelPolicy, review_if_trained_on
from anchored.data.number_rows import are_plain_numbers, check_numeric, number_rows
from anchored.data.read_columns import read_labelled, stream_columns
from anchored.data.text import TextInputs

__all__ = ["TableForm", "load_table", "stream_table"]

TableForm = Literal["auto", "numbers", "vectors", "table", "texts"]
"""What the rows of a table are wanted as; see :func:`load_table`."""
_HEAD = 100
_ROWS_ENCODED = 4096
_TEXT_WORDS = 4.0
_TEXT_NAMES = frozenset(
    ("text", "sentence", "review", "comment", "message", "content", "document", "body", "abstract", "title", "tweet")
)


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
    form: TableForm = "auto",
    verbatim: Collection[str] = (),
) -> Split:
    r"""Read a data set from a CSV, TSV, Parquet, JSON-lines or Excel file.

    Args:
        path: The file; its ending says the format.
        label: The label column; by default the only one called label, class, target, y or the like.
        image: The column of image paths; by default a text column whose first cells end like image files, if there is
            one.
        root: The folder that image paths start in; by default that of the file.
        columns: The columns that a model was trained on, in its order; by default every column but the label.
        class_names: The names known from training, for data to be predicted or evaluated.
        labels: Whether a label column is needed.
        shape: ``(c, h, w)`` to bring images to.
        side: Side of the squares to bring images to, if ``shape`` is not given.
        memory_limit: Bytes of pixels up to which images are kept in memory.
        form: ``"auto"`` for the form that suits the columns; ``"numbers"`` for vectors whenever all cells are numbers;
            ``"vectors"``, ``"table"`` or ``"texts"`` for that form alone, as a model needs it.
        verbatim: Columns to keep as texts even if all their cells are numbers (in CSV), as a model learnt them.

    Returns:
        The rows as a training part without a test part.

    Raises:
        InputError: If a row cannot be used, or the columns are not clear; the message names the row and column.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "t.csv")
        >>> _ = path.write_text("x,z,label\n1,2.5,a\n3,4,b\n")
        >>> data = load_table(path).train
        >>> data.kind, data.columns, data.class_names, data.ids[0]
        ('vectors', ('x', 'z'), ('a', 'b'), 'row 2')
        >>> _ = path.write_text("x,town,label\n1,Lima,a\n,Rome,b\n")
        >>> load_table(path).train.kind
        'table'
    """
    path = Path(path)
    read = read_labelled(
        path, label=label, verbatim=verbatim, features=columns or (), class_names=class_names, labels=labels
    )
    table, notes = _without_row_numbers(read.table, columns)
    image_column = _image_column(table, image) if columns is None and form in ("auto", "numbers") else None
    ids: Sequence[str] = RowIds(torch.from_numpy(table.rows))
    kept: tuple[str, ...] | None
    inputs: Inputs
    if image_column is not None:
        written = _paths(table, image_column)
        files = files_below(Path(root or path.parent), written, where=table.where)
        inputs, ids, kept = image_inputs(files, shape=shape, side=side, memory_limit=memory_limit), written, None
        notes = [*note_duplicates(files, ids, read.labels), *notes, *_left_out(table, image_column)]
    else:
        inputs, kept, told = _formed(table, form, columns, shape)
        notes += told
    dataset = Dataset(
        name=path.stem,
        inputs=inputs,
        labels=read.labels,
        class_names=read.class_names,
        ids=ids,
        columns=kept,
        notes=(*table.notes, *notes),
    )
    return Split(review_if_trained_on(dataset, class_names, labels, where=path))


def _formed(
    table: TableInputs, form: TableForm, columns: Sequence[str] | None, shape: tuple[int, ...] | None
) -> tuple[Inputs, tuple[str, ...], list[str]]:
    """Bring a table into the form that is wanted: the inputs, the columns that they come from, and remarks."""
    if form == "auto" and columns is not None and shape != ():
        form = "vectors"  # of a model that takes numbers
    if form == "texts" or (form in ("auto", "numbers") and columns is None):
        text = _text_column(table, columns, sure=form != "texts")
        if text is not None:
            return TextInputs(_texts(table, text)), (text,), _left_out(table, text)
    if form == "table":
        return table, table.names, []
    if form in ("auto", "numbers"):
        only = next(iter(table.columns.values())) if len(table.names) == 1 else None
        if isinstance(only, VectorColumn) and not bool(only.missing.any()):
            return TensorInputs(torch.from_numpy(only.values).to(torch.float32)), table.names, []
        if not are_plain_numbers(table, careful=form == "auto"):
            return table, table.names, []
    features = _feature_columns(table, columns, shape)
    check_numeric(table, features)
    values, errors = number_rows(table, features)
    if errors:
        raise InputError(errors[min(errors)])
    left = len(table.names) - len(features)
    return (
        TensorInputs(values),
        tuple(features),
        [f"{left} columns beside those asked for were left out"] if left else [],
    )


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
    form: TableForm = "auto",
    verbatim: Collection[str] = (),
) -> Iterator[Chunk]:
    r"""Read a table a chunk at a time, for a model that takes inputs of ``shape``; labels are not looked at.

    Args:
        path: The file; its ending says the format.
        shape: The model's input: ``(d,)`` for numeric columns, ``(c, h, w)`` for a column of image paths, ``()`` for
            rows or texts that are encoded.
        label: A column to leave out, if ``columns`` does not say which ones count.
        image: The column of image paths; by default a text column whose first cells end like image files.
        root: The folder that image paths start in; by default that of the file.
        columns: The columns that the model was trained on, in its order; by default all if there are as many as the
            model takes, else every column but the label.
        size: Rows per chunk; by default :func:`~anchored.data.chunk.chunk_size`.
        read: Turns rows, texts or images into numbers by encoding them; needed for ``shape=()``.
        form: ``"table"`` or ``"texts"``, for ``shape=()``.
        verbatim: Columns to keep as texts even if all their cells are numbers (in CSV), as a model learnt them.

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
    path = Path(path)
    size = size or (chunk_size(shape) if shape else _ROWS_ENCODED)
    read_parts = stream_columns(path, size=size, verbatim=verbatim)
    first = next(read_parts)
    head = first.table

    def parts() -> Iterator[TableChunk]:
        yield first
        yield from read_parts

    if len(shape) == 3:
        column = _image_column(_without_label(head, label), image)
        if column is None:
            raise InputError(
                f"{path}: the model takes images of shape {shape}, the table has no column of image paths; "
                "name it with --image COLUMN"
            )
        listed = (_listed_paths(part, column) for part in parts())
        return image_chunks(listed, where=path, root=Path(root or path.parent), shape=shape, read=read)
    make: Callable[[TableInputs], tuple[Tensor, dict[int, str]]]
    if shape == ():
        assert read is not None, "rows are encoded"
        text = _text_column(_without_label(head, label), columns, sure=False) if form == "texts" else None
        reader = read

        def make(table: TableInputs) -> tuple[Tensor, dict[int, str]]:
            rows: Inputs = table if text is None else TextInputs(_texts(table, text))
            return reader(rows, torch.arange(len(table)))

        if form != "texts":
            _need(head, columns)
    else:
        features = _streamed_features(head, shape, label, columns)
        check_numeric(head, features)

        def make(table: TableInputs) -> tuple[Tensor, dict[int, str]]:
            return number_rows(table, features)

    return (_chunk(part, make) for part in parts())


def _chunk(part: TableChunk, make: Callable[[TableInputs], tuple[Tensor, dict[int, str]]]) -> Chunk:
    inputs, wrong = make(part.table)
    places = [place for place in range(len(part.rows)) if place not in part.errors]
    errors = {**part.errors, **{places[i]: reason for i, reason in wrong.items()}}
    return Chunk([f"row {int(row)}" for row in part.rows], inputs, errors)


def _need(table: TableInputs, columns: Sequence[str] | None) -> None:
    missing = [column for column in columns or () if column not in table.columns]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise InputError(
            f"{table.source}: column {missing[0]!r} is missing{more}, and the model needs it; "
            f"{suggest(missing[0], list(table.names))}"
        )


def _without_row_numbers(table: TableInputs, columns: Sequence[str] | None) -> tuple[TableInputs, list[str]]:
    """Leave out what pandas writes for its index: a count of the rows would give labels away if they are sorted."""
    unnamed = [name for name in table.names if _is_row_number(name, table) and name not in (columns or ())]
    if not unnamed or len(unnamed) == len(table.names):
        return table, []
    return table.without(unnamed), ["a column without a name was left out: it looks like a count of the rows"]


def _is_row_number(name: str, table: TableInputs) -> bool:
    """Whether a column is an index of pandas: by the name that Parquet has for it, or whole numbers that all differ."""
    if not name.startswith("Unnamed: "):
        return name.startswith("__index_level_")
    column = table.columns[name]
    if not isinstance(column, NumberColumn):
        return False
    values = column.values
    return bool((values == np.floor(values)).all()) and len(np.unique(values)) == len(values)


def _without_label(table: TableInputs, label: str | None) -> TableInputs:
    found = find_label(table.names, label, source=table.source, needed=False)
    return table if found is None else table.without([found])


def _left_out(table: TableInputs, column: str) -> list[str]:
    others = [name for name in table.names if name != column]
    return [f"columns beside {column!r} were left out: {', '.join(others)}"] if others else []


def _image_column(table: TableInputs, image: str | None) -> str | None:
    if image is not None:
        if image not in table.columns:
            raise InputError(f"{table.source}: there is no image column {image!r}; {suggest(image, list(table.names))}")
        return image
    paths = [name for name, column in table.columns.items() if _holds_paths(column)]
    if len(paths) > 1:
        raise InputError(
            f"{table.source}: both {paths[0]!r} and {paths[1]!r} hold image paths; name one with image=COLUMN"
        )
    return paths[0] if paths else None


def _holds_paths(column: object) -> bool:
    if not isinstance(column, TextColumn) or not column.levels:
        return False
    return all(Path(level).suffix.lower() in IMAGE_SUFFIXES for level in column.levels[:_HEAD])


def _paths(table: TableInputs, name: str) -> list[str]:
    cells = table.columns[name].cells()
    for row, cell in enumerate(cells):
        if cell is None:
            raise InputError(f"{table.where(row, name)}: there is no image path; fill it or drop the row")
    return [cell or "" for cell in cells]


def _listed_paths(part: TableChunk, name: str) -> list[tuple[int, str | InputError]]:
    cells = iter(part.table.columns[name].cells())
    return [
        (int(row), InputError(part.errors[place]) if place in part.errors else next(cells) or "")
        for place, row in enumerate(part.rows)
    ]


def _text_column(table: TableInputs, columns: Sequence[str] | None, *, sure: bool) -> str | None:
    """Find the one column of texts: that of the model, or the only one that is no id and reads like text.

    Args:
        table: The table, without its label.
        columns: What the model was trained on, or None.
        sure: Whether it must read like text; otherwise the only column will do.
    """
    if columns is not None:
        _need(table, columns)
        return columns[0]
    rest = [
        (name, column)
        for name, column in table.columns.items()
        if not _is_row_number(name, table) and why_id(name, column) is None
    ]
    name, column = rest[0] if len(rest) == 1 else ("", None)
    if isinstance(column, TextColumn) and (not sure or _reads_like_text(name, column)):
        return name
    if sure:
        return None
    listed = ", ".join(map(repr, table.names))
    raise InputError(f"{table.source}: which column holds the texts? The columns are {listed}; leave one")


def _reads_like_text(name: str, column: TextColumn) -> bool:
    words = [len(level.split()) for level in column.levels[:_HEAD]]
    many = bool(words) and sum(words) / len(words) >= _TEXT_WORDS
    return many or (name.strip().lower() in _TEXT_NAMES and bool(words) and max(words) > 1)


def _texts(table: TableInputs, name: str) -> list[str]:
    return [cell or "" for cell in table.columns[name].cells()]


def _feature_columns(table: TableInputs, columns: Sequence[str] | None, shape: tuple[int, ...] | None) -> list[str]:
    features = list(table.names) if columns is None else list(columns)
    if not features:
        raise InputError(f"{table.source}: there is no column beside the label; add the features")
    _need(table, columns)
    if shape is not None and shape != (len(features),):
        raise InputError(
            f"{table.source}: the model takes inputs of shape {shape}, the table has {len(features)} features"
        )
    return features


def _streamed_features(
    table: TableInputs, shape: tuple[int, ...], label: str | None, columns: Sequence[str] | None
) -> list[str]:
    """The columns that a model of numbers takes: its own if they are known, else all but a label and a row number."""
    if columns is not None:
        return _feature_columns(table, columns, shape)
    named = [name for name in table.names if not _is_row_number(name, table)] or list(table.names)
    if label is None and shape == (len(named),):
        return named  # just as many as the model takes: a column called "y" is a feature then, not the label
    found = find_label(table.names, label, source=table.source, needed=False)
    return _feature_columns(table, [name for name in named if name != found], shape)
