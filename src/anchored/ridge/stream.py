"""Files that are larger than memory: ``.npy`` matrices and Parquet tables, read in chunks, summed here or on Ray.

A fit reads the file twice: once for the sums, once for the leave-one-out answers. Memory is O(d² + d·k) for the sums
plus a few chunks plus a few numbers per row. Each chunk is summed by one thread wherever that happens, and chunks are
joined in their order: a Ray cluster gives the same bytes as this machine.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from anchored._errors import InputError
from anchored._names import choose
from anchored.ridge.fit import Gathered, gather_chunk, join
from anchored.ridge.rows import Array, Rows, check_finite
from anchored.ridge.sums import Targets

__all__ = ["NpyRows", "ParquetRows", "gather_stream", "open_rows"]

_AHEAD = 2
"""Chunks per worker that wait or are being summed at a time."""
_NUMBERS = "biuf"


class NpyRows(Rows):
    """Rows of a ``.npy`` file; parts are read, never mapped, so that memory is what it seems.

    Args:
        path: File with a matrix ``(n, d)`` of real numbers in C order.

    Raises:
        InputError: If the file holds something else.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.save(f"{folder}/X.npy", np.arange(6.0).reshape(3, 2))
        ...     NpyRows(f"{folder}/X.npy").read(1, 2).tolist()
        [[2.0, 3.0]]
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = str(path)
        try:
            with self.path.open("rb") as file:
                version = np.lib.format.read_magic(file)
                header = (
                    np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                )
                shape, fortran, self._dtype = header(file)
                self._start = file.tell()
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror or error}") from None
        except ValueError as error:
            raise InputError(f"{path} is no .npy file ({error}); write it with numpy.save") from None
        if len(shape) != 2 or self._dtype.kind not in _NUMBERS:
            raise InputError(f"{path} must hold a matrix (n, d) of real numbers, got {self._dtype} {shape}")
        if fortran and min(shape) > 1:
            raise InputError(f"{path} is stored by columns; write it with numpy.save(path, numpy.ascontiguousarray(X))")
        self.n, self.d = shape
        if self.path.stat().st_size < self._start + self.n * self.d * self._dtype.itemsize:
            raise InputError(f"{path} ends before its {self.n} rows do; it was cut off, write it again")

    def read(self, start: int, stop: int) -> Array:
        """Read rows as float64; arguments as :meth:`Rows.read`."""
        offset = self._start + start * self.d * self._dtype.itemsize
        part = np.fromfile(self.path, self._dtype, (stop - start) * self.d, offset=offset).reshape(-1, self.d)
        return check_finite(np.add(part, 0.0, dtype=np.float64), self.name, start)


class ParquetRows(Rows):
    """Rows of a Parquet file: its numeric columns, or one column of equally long lists.

    Args:
        path: The file.
        columns: Names of the feature columns in order; None for all but ``label``.
        label: Name of the column with the labels, which is no feature.

    Raises:
        InputError: If the file cannot be read or a column is missing or no number.
    """

    def __init__(self, path: str | Path, *, columns: Sequence[str] | None = None, label: str | None = None) -> None:
        self.path, self.name = Path(path), str(path)
        file = self._open()
        names = list(file.schema_arrow.names)
        self.columns = [name for name in names if name != label] if columns is None else list(columns)
        for name in [*self.columns, *([] if label is None else [label])]:
            if name not in names:
                raise InputError(f"{path} has no column {name!r}; its columns are {', '.join(names)}")
        if not self.columns:
            raise InputError(f"{path} has no column of features besides {label!r}")
        sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        self._ends = np.cumsum([0, *sizes])
        self.n = int(self._ends[-1])
        if self.n == 0:
            raise InputError(f"{path} has no rows")
        self.d = self._matrix(file.read_row_group(0, columns=self.columns).slice(0, 1)).shape[1]

    def read(self, start: int, stop: int) -> Array:
        """Read rows as float64; arguments as :meth:`Rows.read`."""
        first = int(np.searchsorted(self._ends, start, side="right")) - 1
        last = int(np.searchsorted(self._ends, stop, side="left"))
        table = self._open().read_row_groups(list(range(first, last)), columns=self.columns)
        matrix = self._matrix(table.slice(start - int(self._ends[first]), stop - start))
        if matrix.shape != (stop - start, self.d):
            raise InputError(
                f"{self.path}: rows {start} to {stop - 1} do not all have {self.d} numbers; make the lists equally long"
            )
        return check_finite(np.add(matrix, 0.0, dtype=np.float64), self.name, start)

    def labels(self, column: str) -> np.ndarray[Any, Any]:
        """Read the column of labels whole, ``(n,)``."""
        values: np.ndarray[Any, Any] = self._open().read(columns=[column]).column(0).to_numpy()
        return values

    def _open(self) -> Any:  # noqa: ANN401 - a package that may be missing
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise InputError("Parquet needs pyarrow, which is not here; pip install 'anchored[parquet]'") from None
        try:
            return pyarrow.parquet.ParquetFile(self.path)
        except (OSError, pyarrow.ArrowInvalid) as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"cannot read {self.path} as Parquet: {reason}") from None

    def _matrix(self, table: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401 - pyarrow has no types
        kinds = [str(field.type) for field in table.schema]
        if len(kinds) == 1 and "list" in kinds[0]:
            flat = table.column(0).combine_chunks().flatten().to_numpy(zero_copy_only=False)
            if flat.dtype.kind not in _NUMBERS or len(flat) % max(len(table), 1):
                raise InputError(f"{self.path}: column {self.columns[0]!r} must hold equally long lists of numbers")
            return np.asarray(flat.reshape(len(table), -1))
        for name, kind in zip(self.columns, kinds, strict=True):
            if not kind.startswith(("int", "uint", "float", "double", "halffloat", "bool")):
                raise InputError(f"{self.path}: column {name!r} holds {kind}, not numbers; encode it or leave it out")
        arrays = [table.column(name).to_numpy() for name in self.columns]
        return np.column_stack([array.astype(np.float64) for array in arrays])


def open_rows(path: str | Path, *, label: str | None = None) -> Rows:
    """Open a file of features by its ending, ``.npy`` or ``.parquet``.

    Args:
        path: The file.
        label: Name of the label column of a Parquet file.

    Returns:
        Its rows.

    Raises:
        InputError: If the ending is another one, or the file cannot be read.
    """
    ending = Path(path).suffix.lower()
    if ending == ".npy":
        return NpyRows(path)
    if ending in (".parquet", ".pq"):
        return ParquetRows(path, label=label)
    raise InputError(f"{path} must end in .npy or .parquet; convert it, or load it and call fit")


def gather_stream(
    rows: Rows, targets: Targets, weights: Array | None = None, *, on: str = "local", workers: int | None = None
) -> Gathered:
    """Sum the chunks of a file, several at a time.

    Args:
        rows: Features ``(n, d)``.
        targets: Class probabilities ``(n, k)``, CSR.
        weights: ``(n,)`` positive weights; None for one each.
        on: ``"local"`` for threads of this process, ``"ray"`` for a Ray cluster: the one that ``RAY_ADDRESS`` names or
            this machine belongs to, or else a local one. The file must be visible to every machine.
        workers: How many chunks at a time; None for one per core.

    Returns:
        The same bytes for the same file, wherever it was summed.

    Raises:
        InputError: If Ray is missing or the data cannot be used.

    Example:
        >>> from anchored.ridge import ArrayRows, as_targets
        >>> found = gather_stream(ArrayRows(np.array([[0.0], [2.0], [4.0]])), as_targets(np.array([0, 1, 1]), 2))
        >>> found.sums.scatter.tolist()
        [[8.0]]
    """
    run = choose(on, {"local": _on_threads, "ray": _on_ray}, what="place")
    return join(run(_tasks(rows, targets, weights), workers or os.cpu_count() or 1))


_Task = tuple[Rows, int, int, Targets, "Array | None"]


def _tasks(rows: Rows, targets: Targets, weights: Array | None) -> Iterator[_Task]:
    for start, stop in rows.spans():
        yield rows, start, stop, targets[start:stop], None if weights is None else weights[start:stop]


def _gather_task(task: _Task) -> Gathered:
    rows, start, stop, targets, weights = task
    return gather_chunk(rows.read(start, stop), targets, weights, sums=rows.n >= rows.d)


def _on_threads(tasks: Iterator[_Task], workers: int) -> Iterator[Gathered]:
    """Sum chunks in threads, each with one thread of linear algebra, and yield them in order."""
    with threadpool_limits(1), ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Gathered]] = deque()
        for task in tasks:
            waiting.append(pool.submit(_gather_task, task))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _gather_remotely(task: _Task) -> Gathered:
    with threadpool_limits(1):
        return _gather_task(task)


def _on_ray(tasks: Iterator[_Task], workers: int) -> Iterator[Gathered]:
    ray = _ray()
    ours = not ray.is_initialized()
    if ours:
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        try:
            ray.init(address="auto", **quiet)
        except ConnectionError:
            named = os.environ.get("RAY_ADDRESS")
            if named and named != "local":
                raise InputError(
                    f"no Ray cluster answers at RAY_ADDRESS={named}; start it, or unset RAY_ADDRESS for a local one"
                ) from None
            ray.init(address="local", num_cpus=workers, include_dashboard=False, **quiet)
    try:
        remote = ray.remote(num_cpus=1)(_gather_remotely)
        room = max(1, int(ray.cluster_resources().get("CPU", 1))) * _AHEAD
        waiting: deque[Any] = deque()
        for task in tasks:
            waiting.append(remote.remote(task))
            if len(waiting) > room:
                yield _answer(ray, waiting.popleft())
        while waiting:
            yield _answer(ray, waiting.popleft())
    finally:
        if ours:
            ray.shutdown()


def _ray() -> Any:  # noqa: ANN401 - a module that may be missing
    try:
        return import_module("ray")
    except ImportError:
        raise InputError("on='ray' needs Ray, which is not installed; pip install 'anchored[ray]'") from None


def _answer(ray: Any, reference: Any) -> Gathered:  # noqa: ANN401 - Ray has no types
    try:
        answer: Gathered = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, InputError):
            raise error.cause from None
        raise
    return answer
