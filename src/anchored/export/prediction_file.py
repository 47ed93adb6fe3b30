"""Predictions written to a file as they are made: CSV, Parquet, or JSON lines, by the ending of its name.

==============  ==========================================================================================
column          what
==============  ==========================================================================================
``id``          the file's path below the data, or ``row 17``: as a spreadsheet counts, or from 0 in Parquet
``label``       the likeliest class; empty if the sample could not be read
``probability``  its calibrated probability
``margin``      how far its calibrated logit lies above the next one's
``abstain``     ``true`` if the probability is below the confidence asked for, or there is none
``error``       why there is no label, in one line
==============  ==========================================================================================

Empty is an empty cell in CSV and null in Parquet and JSON. Names are written as they are: in a CSV file for a
spreadsheet, ``spreadsheet_safe`` marks those that would be run as formulas.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from anchored._errors import InputError
from anchored._spreadsheet import safe_cell
from anchored.export.predictions import Predictions

__all__ = ["COLUMNS", "PredictionFile"]

COLUMNS = tuple(field.name for field in fields(Predictions))
_ROW_GROUP = 2**16
_Add = Callable[[Predictions], None]


class PredictionFile:
    r"""Writes predictions to a file; an unknown format is refused at once.

    Args:
        name: Final name of the file, whose ending says the format.
        spreadsheet_safe: Whether cells of a CSV file that look like formulas begin with an apostrophe.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "p.jsonl")
        >>> with PredictionFile(path).open(path) as add:
        ...     add(Predictions(["row 2"], ["yes"], [0.75], [1.5], [False], [None]))
        >>> path.read_text()
        '{"id": "row 2", "label": "yes", "probability": 0.75, "margin": 1.5, "abstain": false, "error": null}\n'
    """

    def __init__(self, name: str | Path, *, spreadsheet_safe: bool = False) -> None:
        suffix = Path(name).suffix.lower()
        if suffix not in _WRITERS:
            raise InputError(f"predictions are written to .csv, .parquet or .jsonl, got {str(name)!r}; rename it")
        if suffix == ".parquet":
            _arrow(name)
        if spreadsheet_safe and suffix != ".csv":
            raise InputError(f"only a .csv file can be made safe for spreadsheets, got {str(name)!r}; leave that out")
        self._write = partial(_csv, safe=True) if spreadsheet_safe else _WRITERS[suffix]

    @contextmanager
    def open(self, path: Path) -> Iterator[_Add]:
        """Open ``path``, which may be a temporary file, and yield a function that appends predictions to it."""
        with self._write(path) as add:
            yield add


@contextmanager
def _csv(path: Path, *, safe: bool = False) -> Iterator[_Add]:
    def text(cells: Sequence[str | None]) -> list[str | None]:
        return [safe_cell(cell) if safe and cell is not None else cell for cell in cells]

    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)

        def add(said: Predictions) -> None:
            writer.writerows(
                zip(
                    text(said.id),
                    text(said.label),
                    ["" if value is None else f"{value:.6f}" for value in said.probability],
                    ["" if value is None else f"{value:.6f}" for value in said.margin],
                    ["true" if value else "false" for value in said.abstain],
                    text(said.error),
                    strict=True,
                )
            )

        yield add


@contextmanager
def _json_lines(path: Path) -> Iterator[_Add]:
    with path.open("w", encoding="utf-8", newline="\n") as file:

        def add(said: Predictions) -> None:
            for row in zip(*(getattr(said, name) for name in COLUMNS), strict=True):
                values = {
                    name: round(value, 6) if isinstance(value, float) else value
                    for name, value in zip(COLUMNS, row, strict=True)
                }
                file.write(json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n")

        yield add


@contextmanager
def _parquet(path: Path) -> Iterator[_Add]:
    pa, pq = _arrow(path)
    kinds = (pa.string(), pa.string(), pa.float64(), pa.float64(), pa.bool_(), pa.string())
    schema = pa.schema(list(zip(COLUMNS, kinds, strict=True)))
    held: list[Any] = []
    rows = 0
    with pq.ParquetWriter(path, schema) as writer:

        def flush() -> None:
            nonlocal rows
            if held:
                writer.write_table(pa.Table.from_batches(held, schema))
                held.clear()
                rows = 0

        def add(said: Predictions) -> None:
            nonlocal rows
            held.append(pa.record_batch([getattr(said, name) for name in COLUMNS], schema=schema))
            rows += len(said.id)
            if rows >= _ROW_GROUP:  # a file of many small groups is slow to read
                flush()

        yield add
        flush()


def _arrow(name: str | Path) -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise InputError(f"writing {name} needs pyarrow; pip install 'anchored[parquet]', or write .csv") from None


_WRITERS = {".csv": _csv, ".jsonl": _json_lines, ".parquet": _parquet}
