"""Arrays: ``.npz`` with ``X`` and ``y`` (and ``X_test``, ``y_test``), a pair of ``.npy`` files, or arrays in Python.

``X`` is ``(n, d)`` for vectors, ``(n, h, w)`` for grey images, ``(n, c, h, w)`` or ``(n, h, w, c)`` with c = 1 or 3
for images. Integers in 0..255 with more than two dimensions are pixels and stay bytes; all else becomes float32. If
vectors would lose their differences by that (time stamps, ids, prices with a large offset), they are read as a table,
whose columns are centred in double precision.
Files are read with pickling off, so an array of Python objects is refused and never run.
"""

from __future__ import annotations

import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._files import regular_size
from anchored.data.columns import TableInputs
from anchored.data.dataset import Dataset, Split
from anchored.data.frame_columns import as_columns
from anchored.data.inputs import Inputs, TensorInputs
from anchored.data.labels import LabelPolicy, check_classes, encode_labels, review_if_trained_on
from anchored.data.number_rows import fits_single_precision
from anchored.data.table import TableForm

__all__ = [
    "ArrayHead",
    "as_inputs",
    "as_label_names",
    "from_arrays",
    "load_npy",
    "load_npz",
    "read_arrays",
    "read_heads",
]

Array = npt.NDArray[Any]
_NAMES = ("x", "y", "x_test", "y_test")
_ZIP_MAGIC = b"PK\x03\x04"
_FREE_MEMORY, _LARGEST_RATIO = 2**28, 250
"""Bytes that any archive may take, and how many more for each of its own bytes."""
_WIDEST_TABLE = 1_000
"""Columns up to which vectors may be a table of numbers; wider ones are features of a network."""


def as_inputs(x: Array | Tensor, *, where: str) -> Tensor:
    """Turn an array into inputs.

    Args:
        x: Vectors ``(n, d)``, grey images ``(n, h, w)``, or images ``(n, c, h, w)`` or ``(n, h, w, c)`` of 1 or 3
            channels.
        where: What to call ``x`` in a refusal.

    Returns:
        uint8 ``(n, c, h, w)`` for pixels, float32 for everything else.

    Raises:
        InputError: If the array has another shape or type, or a value is not finite; the message names the row.

    Example:
        >>> as_inputs(np.zeros((5, 28, 28), dtype=np.uint8), where="X").shape
        torch.Size([5, 1, 28, 28])
    """
    array = x.detach().cpu().numpy() if isinstance(x, Tensor) else np.asarray(x)
    if array.dtype.kind not in "buif":
        raise InputError(f"{where} must hold numbers, got dtype {array.dtype}; encode text as numbers first")
    if array.ndim not in (2, 3, 4):
        raise InputError(
            f"{where} must be vectors (n, d) or images (n, h, w[, c]), got shape {array.shape}; reshape it"
        )
    if array.size == 0:
        raise InputError(f"{where} is empty: its shape is {array.shape}")
    if array.ndim > 2:
        return _images(array, where=where)
    return _finite_float32(array, where=where)


def _as_table_or_vectors(x: Array | Tensor, form: TableForm, *, where: str) -> Inputs:
    """Take an array as vectors or images, or as a table if that is asked for or single precision would not do."""
    array = x.detach().cpu().numpy() if isinstance(x, Tensor) else np.asarray(x)
    inputs = TensorInputs(as_inputs(x, where=where))
    if array.ndim != 2 or form not in ("auto", "table"):
        return inputs
    wide = array.dtype.itemsize > 4 and array.shape[1] <= _WIDEST_TABLE
    columns = (array[:, place].astype(np.float64) for place in range(array.shape[1] if wide else 0))
    if form == "table" or not all(map(fits_single_precision, columns)):
        return as_columns(array, source=where)
    return inputs


def _images(array: Array, *, where: str) -> Tensor:
    if array.ndim == 3:
        array = array[:, None]
    elif array.shape[1] not in (1, 3) and array.shape[3] in (1, 3):
        array = array.transpose(0, 3, 1, 2)
    elif array.shape[1] not in (1, 3):
        raise InputError(f"{where} must have 1 or 3 channels as (n, c, h, w) or (n, h, w, c), got shape {array.shape}")
    if array.dtype.kind == "f":
        return _finite_float32(array, where=where)
    if array.min() < 0 or array.max() > 255:
        raise InputError(f"{where}: pixels must lie in 0..255, got {array.min()} to {array.max()}; give floats instead")
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.uint8))


def _finite_float32(array: Array, *, where: str) -> Tensor:
    with np.errstate(over="ignore"):  # a value too large for float32 is found, and named, just below
        values = np.ascontiguousarray(array, dtype=np.float32)
    bad = ~np.isfinite(values)
    if bad.any():
        row, *place = (int(i) for i in np.argwhere(bad)[0])
        at = f"row {row}, column {place[0]}" if len(place) == 1 else f"row {row}"
        raise InputError(
            f"{where}, {at}: features must be finite in single precision, got {array[(row, *place)]} "
            f"({int(bad.sum())} such in all); "
            f"fill or drop them"
        )
    return torch.from_numpy(values)


def as_label_names(y: Array | Tensor, *, where: str) -> list[str]:
    """Turn labels into text: whole numbers without a decimal point, text verbatim.

    Args:
        y: Labels ``(n,)`` or ``(n, 1)``, numbers or text.
        where: What to call ``y`` in a refusal.

    Returns:
        One text per sample.

    Raises:
        InputError: If a label is neither a whole number nor text.

    Example:
        >>> as_label_names(np.array([3.0, 1.0]), where="y")
        ['3', '1']
    """
    array = y.detach().cpu().numpy() if isinstance(y, Tensor) else np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"{where} must hold one label per row, got shape {array.shape}")
    if array.dtype.kind == "O":
        return [_label_of(value, f"{where}, row {row}") for row, value in enumerate(array)]
    if array.dtype.kind == "f":
        odd = np.flatnonzero(~(np.isfinite(array) & (array == np.floor(array))))
        if len(odd):
            raise InputError(f"{where}, row {odd[0]}: a label must be a whole number or text, got {array[odd[0]]}")
        array = array.astype(np.int64)
    if array.dtype.kind == "S":
        return [value.decode("utf-8", "replace") for value in array.tolist()]
    if array.dtype.kind not in "buiU":
        raise InputError(f"{where} must hold whole numbers or text, got dtype {array.dtype}")
    return [str(value) for value in array.tolist()]


def _label_of(value: object, where: str) -> str:
    if value is None or (isinstance(value, float) and value != value):
        raise InputError(f"{where}: the label is missing; fill or drop it")
    if isinstance(value, float | np.floating):
        if not float(value).is_integer():
            raise InputError(f"{where}: a label must be a whole number or text, got {value}")
        return str(int(value))
    if not isinstance(value, str | int | np.integer | np.str_ | np.bool_):
        raise InputError(f"{where}: a label must be a whole number or text, got {type(value).__name__}")
    return str(value)


def from_arrays(
    x: Array | Tensor,
    y: Array | Tensor | None,
    *,
    name: str = "arrays",
    class_names: tuple[str, ...] | None = None,
    labels: LabelPolicy = "required",
    where: tuple[str, str] = ("X", "y"),
    form: TableForm = "vectors",
) -> Dataset:
    """Make a data set of arrays in memory.

    Args:
        x: Vectors or images, as :func:`as_inputs` takes them.
        y: Labels ``(n,)``, numbers or text; None if there are none.
        name: The name of the data set.
        class_names: The names known from training, for data that is to be predicted or evaluated.
        labels: Whether labels are needed.
        where: What to call ``x`` and ``y`` in a refusal.
        form: What ``(n, d)`` numbers are wanted as: ``"vectors"`` in single precision; ``"table"``, whose columns
            ``x0, x1, …`` an encoder centres in double precision; ``"auto"`` for a table only if vectors would lose the
            differences between rows, or a value lies extremely far from the others.

    Returns:
        The data set, with notes on classes that are too small.

    Raises:
        InputError: If inputs or labels cannot be used, or do not fit each other.

    Example:
        >>> data = from_arrays(np.eye(3), np.array(["b", "a", "b"]))
        >>> data.class_names, data.labels.tolist()
        (('a', 'b'), [1, 0, 1])
    """
    inputs = _as_table_or_vectors(x, form, where=where[0])
    text: list[str | None] = [None] * len(inputs)
    if y is None or labels == "ignored":
        if labels == "required":
            raise InputError(f"{where[1]} is missing: one label per row of {where[0]} is needed")
    else:
        text = list(as_label_names(y, where=where[1]))
        if len(text) != len(inputs):
            raise InputError(f"{where[0]} and {where[1]} must have as many rows, got {len(inputs)} and {len(text)}")
    codes, names = encode_labels(text, class_names, where=lambda row: f"{where[1]}, row {row}")
    columns = inputs.names if isinstance(inputs, TableInputs) else None
    dataset = Dataset(name=name, inputs=inputs, labels=codes, class_names=names, columns=columns)
    return review_if_trained_on(dataset, class_names, labels, where=where[1])


@dataclass(frozen=True)
class ArrayHead:
    """Shape and type of an array in a file, known without reading its values."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """Memory that the array takes."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_heads(path: str | Path) -> ArrayHead | dict[str, ArrayHead]:
    """Read what a ``.npy`` file or an ``.npz`` archive holds, without reading it, and refuse what cannot be true.

    Args:
        path: The file.

    Returns:
        The head of the array of a ``.npy`` file, or those of the arrays of an archive by name.

    Raises:
        InputError: If the file is damaged, holds Python objects, promises more than it has, or would take so much more
            memory than disk that it must be a trap.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "d.npz")
        >>> np.savez(path, X=np.eye(2), y=[0, 1])
        >>> {name: head.shape for name, head in read_heads(path).items()}
        {'X': (2, 2), 'y': (2,)}
    """
    path = Path(path)
    size = regular_size(path)
    member = None
    try:
        with path.open("rb") as file:
            if file.read(4) != _ZIP_MAGIC:
                file.seek(0)
                return _head(file, size, str(path))
            file.seek(0)
            heads: dict[str, ArrayHead] = {}
            with zipfile.ZipFile(file) as archive:
                for member in archive.namelist():
                    with archive.open(member) as stream:
                        held = archive.getinfo(member).file_size
                        name = member.removesuffix(".npy")
                        heads[name] = _head(stream, held, f"{path}, array {name!r}")
            if not heads:
                raise InputError(f"{path}: the archive is empty; write it again with numpy.savez")
    except InputError:
        raise
    except _DAMAGED as error:
        raise _unreadable(path, member, error) from None
    _check_memory(path, size, sum(head.nbytes for head in heads.values()))
    return heads


def _head(stream: IO[bytes], held: int, where: str) -> ArrayHead:
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    if dtype.hasobject:
        raise InputError(
            f"{where}: it holds Python objects, which are never loaded; save plain numbers or text instead"
        )
    head = ArrayHead(shape, dtype)
    if min(shape, default=0) < 0 or head.nbytes != held - stream.tell():
        raise InputError(
            f"{where}: its head promises {head.nbytes:,} bytes of shape {shape}, and {max(held - stream.tell(), 0):,} "
            "are there; write it again with numpy.savez or numpy.save"
        )
    return head


def _check_memory(path: Path, size: int, needed: int) -> None:
    if needed > _FREE_MEMORY + _LARGEST_RATIO * size:
        raise InputError(
            f"{path}: its {size:,} bytes would take {needed:,} bytes of memory, more than {_LARGEST_RATIO} times as "
            "many; if the data is so empty, write it with numpy.savez, which does not compress"
        )


def _unreadable(path: Path, member: str | None, error: Exception) -> InputError:
    where = path if member is None else f"{path}, array {member.removesuffix('.npy')!r}"
    if isinstance(error, MemoryError):
        return InputError(f"{where}: it does not fit into memory; give a part of the data")
    if isinstance(error, OSError) and error.strerror:
        return InputError(f"{where}: cannot be read ({error.strerror})")
    return InputError(
        f"{where}: it is not a readable numpy file, or is cut short; write it again with numpy.savez or numpy.save"
    )


def read_arrays(path: str | Path, names: Collection[str] | None = None) -> Array | dict[str, Array]:
    """Read the array of a ``.npy`` file, or the arrays of an ``.npz`` archive by name; Python objects are refused.

    Args:
        path: The file.
        names: Arrays of an archive to read, in any case of letters; None reads all.

    Returns:
        The array, or the arrays of an archive by the names they have there.

    Raises:
        InputError: If the file is missing, damaged, holds Python objects, or would fill the memory.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "d.npz")
        >>> np.savez(path, X=np.eye(2), y=[0, 1])
        >>> sorted(read_arrays(path)), sorted(read_arrays(path, ["x"]))
        (['X', 'y'], ['X'])
    """
    path = Path(path)
    heads = read_heads(path)
    member = None
    try:
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(heads, ArrayHead):
                return cast("Array", loaded)
            arrays: dict[str, Array] = {}
            for member in heads:
                if names is None or member.lower() in names:
                    arrays[member] = loaded[member]
            return arrays
    except _DAMAGED as error:
        raise _unreadable(path, member, error) from None


_DAMAGED = (
    ValueError,
    OSError,
    EOFError,
    KeyError,
    TypeError,
    SyntaxError,
    OverflowError,
    MemoryError,
    RuntimeError,
    NotImplementedError,
    RecursionError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What numpy and zipfile raise over files that are damaged or made to do harm."""


def load_npz(
    path: str | Path,
    *,
    class_names: tuple[str, ...] | None = None,
    labels: LabelPolicy = "required",
    form: TableForm = "auto",
) -> Split:
    """Read a data set from an ``.npz`` archive with ``X`` and ``y``, perhaps with ``X_test`` and ``y_test``.

    Args:
        path: The archive; the case of the names does not matter.
        class_names: The names known from training, for data that is to be predicted or evaluated.
        labels: Whether labels are needed.
        form: What vectors are wanted as, see :func:`from_arrays`.

    Returns:
        The training part, and the test part if there is an ``X_test``.

    Raises:
        InputError: If the archive is damaged, an array is missing, or inputs and labels do not fit each other.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "toy.npz")
        >>> np.savez(path, X=np.eye(4), y=[0, 1, 0, 1])
        >>> load_npz(path).train.counts
        tensor([2, 2])
    """
    path = Path(path)
    heads = read_heads(path)
    if isinstance(heads, ArrayHead):
        raise InputError(
            f"{path}: it is a single array and not an archive; call it .npy, or save X and y with numpy.savez"
        )
    _check_heads(heads, path, labels)
    archive = read_arrays(path, _NAMES)
    assert isinstance(archive, dict), "it was one a moment ago"
    arrays = {key.lower(): array for key, array in archive.items()}
    x, y, x_test, y_test = (arrays.get(key) for key in _NAMES)
    assert x is not None, "its head was there"
    name = path.stem
    if y is not None and labels == "required" and class_names is None:
        check_classes(as_label_names(y, where=f"{path}, array 'y'"), where=f"{path}, array 'y'")
    train = from_arrays(
        x,
        y,
        name=name,
        class_names=class_names,
        labels=labels,
        where=(f"{path}, array 'X'", f"{path}, array 'y'"),
        form=form,
    )
    if x_test is None:
        return Split(train)
    where = (f"{path}, array 'X_test'", f"{path}, array 'y_test'")
    form = "table" if isinstance(train.inputs, TableInputs) else "vectors"
    test = from_arrays(x_test, y_test, name=name, class_names=train.class_names, labels=labels, where=where, form=form)
    if test.inputs.shape != train.inputs.shape:
        raise InputError(f"{where[0]} must have the shape of 'X', {train.inputs.shape}, got {test.inputs.shape}")
    return Split(train, test)


def _check_heads(heads: Mapping[str, ArrayHead], path: Path, labels: LabelPolicy) -> None:
    """Refuse an archive whose arrays cannot belong together, before any of them is read."""
    held = ", ".join(heads)
    known: dict[str, ArrayHead] = {}
    for name, head in heads.items():
        if name.lower() in _NAMES:
            if name.lower() in known:
                raise InputError(f"{path} holds the array {name!r} twice, in other letters; keep one of them")
            known[name.lower()] = head
    if "x" not in known:
        raise InputError(f"{path} must hold an array called 'X', got {held}")
    if labels == "ignored":
        return
    if "y" not in known and labels == "required":
        raise InputError(f"{path} must hold an array called 'y' beside 'X', got {held}")
    for x, y in (("x", "y"), ("x_test", "y_test")):
        lengths = [known[name].shape[:1] for name in (x, y) if name in known]
        if len(lengths) == 2 and lengths[0] != lengths[1]:
            rows = [length[0] if length else "no" for length in lengths]
            names = [name.replace("x", "X") for name in (x, y)]
            raise InputError(
                f"{path}, arrays {names[0]!r} and {names[1]!r} must have as many rows, got {rows[0]} and {rows[1]}"
            )


def load_npy(
    path: str | Path,
    label: str | Path | None = None,
    *,
    class_names: tuple[str, ...] | None = None,
    labels: LabelPolicy = "required",
    form: TableForm = "auto",
) -> Split:
    """Read a data set from a ``.npy`` file of inputs and another of labels.

    Args:
        path: The file of inputs.
        label: The file of labels; by default ``y.npy`` beside it.
        class_names: The names known from training, for data that is to be predicted or evaluated.
        labels: Whether labels are needed.
        form: What vectors are wanted as, see :func:`from_arrays`.

    Returns:
        A training part without a test part.

    Raises:
        InputError: If a file is missing or damaged, or inputs and labels do not fit each other.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> np.save(folder / "X.npy", np.eye(4))
        >>> np.save(folder / "y.npy", ["a", "b", "a", "b"])
        >>> load_npy(folder / "X.npy").train.class_names
        ('a', 'b')
    """
    path = Path(path)
    beside = path.with_name("y.npy") if label is None else Path(label)
    given = beside.exists() and beside != path
    if not given and labels == "required":
        raise InputError(
            f"{path}: its labels were looked for in {beside}, which is not there; name them with label=FILE.npy"
        )
    where = (str(path), str(beside))
    if given and labels != "ignored":
        heads = [read_heads(file) for file in (path, beside)]
        rows = [head.shape[:1] for head in heads if isinstance(head, ArrayHead)]
        if len(rows) == 2 and rows[0] != rows[1]:
            raise InputError(
                f"{path} and {beside} must have as many rows, got shapes {heads[0].shape} and {heads[1].shape}"  # type: ignore[union-attr]
            )
    x = _single(path)
    y = _single(beside) if given and labels != "ignored" else None
    if y is not None and labels == "required" and class_names is None:
        check_classes(as_label_names(y, where=where[1]), where=where[1])
    return Split(from_arrays(x, y, name=path.stem, class_names=class_names, labels=labels, where=where, form=form))


def _single(path: Path) -> Array:
    array = read_arrays(path)
    if isinstance(array, dict):
        raise InputError(f"{path}: it is an archive and not a single array; call it .npz")
    return array
