"""Reading and encoding a table beside pandas and skrub, on made-up tables of numbers, categories, dates and texts."""

from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from anchored._random import stream
from anchored.bench._measure import Result, seconds
from anchored.data import as_columns, read_csv_columns
from anchored.features import TableEncoder

__all__ = ["run"]

_TOWNS = 300
_WORDS = 8
_VOCABULARY = np.array(
    [
        "the",
        "a",
        "red",
        "blue",
        "fast",
        "slow",
        "car",
        "bus",
        "plan",
        "bill",
        "paid",
        "late",
        "asked",
        "called",
        "again",
    ]
)


def run(*, sizes: tuple[int, ...] = (1_000, 5_000, 20_000), repeats: int = 3) -> Result:
    """Measure the median time to read a CSV file and to encode its rows.

    Args:
        sizes: Numbers of rows.
        repeats: How often each is timed.

    Returns:
        One row per size: seconds to read (ours, pandas) and to encode (ours, skrub), and how many times faster we
        encode. A column is empty if the other package is not installed.
    """
    rows = [_row(n, repeats) for n in sizes]
    return Result(
        title="Tables: seconds to read a CSV file and to encode its rows",
        columns=("rows", "read", "pandas", "encode", "skrub", "skrub / ours"),
        rows=tuple(rows),
        note="Eight columns: four numbers (one with gaps), two categories, a date, a text. skrub: TableVectorizer.",
    )


def _row(n: int, repeats: int) -> tuple[str | float | None, ...]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        path.write_text(_made_up(n), encoding="utf-8")
        table = read_csv_columns(path)
        (read,) = seconds([lambda: read_csv_columns(path)], repeats=repeats)
        (encode,) = seconds([lambda: TableEncoder().fit(table).transform(table)], repeats=repeats)
        if not (importlib.util.find_spec("pandas") and importlib.util.find_spec("skrub")):
            return (f"{n:,}", read, None, encode, None, None)
        pandas, frame, vectorize = _reference(path)
        theirs, vectorized = seconds([lambda: pandas.read_csv(path), vectorize], repeats=repeats)
        # A data frame is not encoded faster because its numbers are parsed: ours takes it too, from the frame.
        (ours,) = seconds([lambda: _encoded(frame)], repeats=repeats)
    return (f"{n:,}", read, theirs, ours, vectorized, vectorized / ours)


def _encoded(frame: Any) -> Any:  # noqa: ANN401 - a data frame of a package that may not be installed
    table = as_columns(frame)
    return TableEncoder().fit(table).transform(table)


def _reference(path: Path) -> tuple[Any, Any, Any]:
    import pandas
    from skrub import TableVectorizer

    frame = pandas.read_csv(path)
    return pandas, frame, lambda: TableVectorizer().fit_transform(frame)


def _made_up(n: int) -> str:
    generator = stream(0, "table", n)
    numbers = torch.randn((n, 3), generator=generator).numpy().round(3)
    uniform = torch.rand((n, 5 + _WORDS), generator=generator, dtype=torch.float64).numpy()
    amounts = (uniform[:, 0] * 1000).astype(int).astype(str)
    gaps = np.where(uniform[:, 1] < 0.1, "", amounts)
    days = np.datetime64("2020-01-01") + (uniform[:, 2] * 1000).astype(int)
    towns = (uniform[:, 3] * _TOWNS).astype(int)
    colours = np.array(["red", "green", "blue"])[(uniform[:, 4] * 3).astype(int)]
    texts = _VOCABULARY[(uniform[:, 5:] * len(_VOCABULARY)).astype(int)]
    lines = ["a,b,c,gaps,colour,town,day,text"]
    for i in range(n):
        cells = [*map(str, numbers[i]), gaps[i], colours[i], f"town {towns[i]}", str(days[i]), " ".join(texts[i])]
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"
