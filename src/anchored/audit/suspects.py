"""The labels in the order in which one should look at them: most probably wrong first.

A row has the sample's place and name, the label given and the one suggested, the probability that the given one is
wrong, the margin to its anchor (its logit minus the best other one: far below 0 is far from its class), the two labels'
probabilities, and whether its class has many, a medium number of or few samples.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, overload

import torch
from torch import Tensor

from anchored import metrics
from anchored._errors import InputError
from anchored._files import write_atomically, write_text
from anchored._spreadsheet import safe_cell
from anchored.data import Dataset
from anchored.imbalance import shots

__all__ = ["COLUMNS", "Suspect", "Suspects", "rank"]

COLUMNS = (
    "rank",
    "index",
    "id",
    "given",
    "suggested",
    "probability_wrong",
    "margin",
    "given_probability",
    "suggested_probability",
    "group",
)
_NAMES = ("id", "given", "suggested")
_DIGITS = 6
_SHOWN = 10
_SHOWN_COLUMNS = ("rank", "id", "given", "suggested", "probability_wrong")


@dataclass(frozen=True, slots=True)
class Suspect:
    """One sample of the ranking."""

    rank: int
    """1 for the most suspicious."""
    index: int
    """The place in the data set."""
    id: str
    """What a user calls the sample."""
    given: str
    """The class it is labelled as."""
    suggested: str
    """The class it looks most like, all things considered."""
    probability_wrong: float
    """Probability that the given label is not the true one."""
    margin: float
    """Logit of the given label minus the best other one."""
    given_probability: float
    """Probability of the given label, judged by the sample alone."""
    suggested_probability: float
    """Probability of the suggested label, judged by the sample alone."""
    group: str
    """``many``, ``medium`` or ``few``: how large the given class is."""


class Suspects(Sequence[Suspect]):
    """The ranking as a table; rows are made when asked for, columns are there at once.

    Args:
        columns: Values by the names in :data:`COLUMNS`; all of the same length, in the order of the ranking.

    Example:
        >>> table = Suspects({name: [value] for name, value in zip(COLUMNS, (1, 7, "a.png", "cat", "dog", 0.9, -0.4,
        ...     0.1, 0.8, "many"))})
        >>> table[0].suggested, table.column("index")
        ('dog', [7])
        >>> table
        1 label, the most suspicious first
         rank    id given suggested  probability_wrong
            1 a.png   cat       dog                0.9
    """

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        missing = [name for name in COLUMNS if name not in columns]
        if missing:
            raise InputError(f"a table of suspects needs a column {missing[0]!r}; its columns are {', '.join(COLUMNS)}")
        if len({len(columns[name]) for name in COLUMNS}) != 1:
            raise InputError("the columns of a table of suspects must have the same length")
        self._columns = {name: columns[name] for name in COLUMNS}

    def __len__(self) -> int:
        return len(self._columns["rank"])

    @overload
    def __getitem__(self, index: int) -> Suspect: ...
    @overload
    def __getitem__(self, index: slice) -> Suspects: ...
    def __getitem__(self, index: int | slice) -> Suspect | Suspects:
        if isinstance(index, slice):
            return Suspects({name: values[index] for name, values in self._columns.items()})
        return Suspect(**{name: values[index] for name, values in self._columns.items()})

    def __iter__(self) -> Iterator[Suspect]:
        return (self[i] for i in range(len(self)))

    def column(self, name: str) -> list[Any]:
        """Return the values of one column, in the order of the ranking."""
        if name not in COLUMNS:
            raise InputError(f"unknown column {name!r}; choose from {', '.join(COLUMNS)}")
        return self._columns[name]

    def to_pandas(self) -> Any:  # noqa: ANN401 - a data frame, if pandas is installed
        """Return the ranking as a ``pandas.DataFrame``.

        Raises:
            InputError: If pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise InputError("a data frame needs pandas; pip install pandas, or take as_dict()") from None
        return pandas.DataFrame(self._columns)

    def __repr__(self) -> str:
        """Show the head of the ranking: as pandas shows a data frame if it is installed, else as plain columns."""
        said = f"{len(self):,} label{'s' * (len(self) != 1)}, the most suspicious first"
        if not len(self):
            return said
        head = {name: values[:_SHOWN] for name, values in self._columns.items() if name in _SHOWN_COLUMNS}
        try:
            import pandas

            text = pandas.DataFrame(head).to_string(index=False, max_colwidth=24)
        except ImportError:
            rows = [list(head), *([str(cell)[:24] for cell in row] for row in zip(*head.values(), strict=True))]
            sizes = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
            text = "\n".join(" ".join(cell.rjust(size) for cell, size in zip(row, sizes, strict=True)) for row in rows)
        more = f"\n... and {len(self) - _SHOWN:,} more" if len(self) > _SHOWN else ""
        return f"{said}\n{text}{more}"

    def _repr_html_(self) -> str | None:
        """Show the ranking in a notebook as a data frame, if pandas is installed."""
        try:
            import pandas
        except ImportError:
            return None
        html: str = pandas.DataFrame(self._columns).to_html(max_rows=_SHOWN, index=False)
        return html

    def as_dict(self) -> dict[str, list[Any]]:
        """Return the columns by name: what ``pandas.DataFrame`` takes."""
        return dict(self._columns)

    def save(self, path: str | Path, *, spreadsheet_safe: bool = False) -> None:
        """Write the table, as its ending says: ``.csv``, ``.parquet`` or ``.json`` (one object per line).

        Args:
            path: The file.
            spreadsheet_safe: Whether names in a ``.csv`` that look like formulas begin with an apostrophe; such a file
                is for people, and :meth:`load` reads other names from it.
        """
        path = Path(path)
        writers: dict[str, Callable[[Path], None]] = {
            ".csv": partial(self._to_csv, safe=spreadsheet_safe),
            ".parquet": self._to_parquet,
            ".json": self._to_json,
        }
        if path.suffix.lower() not in writers:
            raise InputError(f"suspects are written to {', '.join(writers)}, got {path.name!r}; give such an ending")
        writers[path.suffix.lower()](path)

    @classmethod
    def load(cls, path: str | Path, *, top: int | None = None) -> Suspects:
        """Read the ``.csv`` that :meth:`save` wrote.

        Args:
            path: The file.
            top: Number of rows to read, the most suspicious first; None reads all.

        Returns:
            The ranking.

        Raises:
            InputError: The file is no such table, or damaged.

        Example:
            >>> from tempfile import TemporaryDirectory
            >>> row = (1, 7, "a.png", "cat", "dog", 0.9, -0.4, 0.1, 0.8, "many")
            >>> table = Suspects({name: [value, value] for name, value in zip(COLUMNS, row)})
            >>> with TemporaryDirectory() as folder:
            ...     table.save(f"{folder}/suspects.csv")
            ...     Suspects.load(f"{folder}/suspects.csv", top=1).column("suggested")
            ['dog']
        """
        with Path(path).open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            rows = list(islice(reader, top))
        if set(COLUMNS) - set(reader.fieldnames or ()):
            raise InputError(f"{path} is no table of suspects: its first line must be {','.join(COLUMNS)}")
        kinds = {name: Suspect.__annotations__[name] for name in COLUMNS}
        read: dict[str, type] = {"int": int, "float": float, "str": str}
        try:
            return cls({name: [read[kinds[name]](row[name]) for row in rows] for name in COLUMNS})
        except (TypeError, ValueError) as error:
            raise InputError(f"{path} cannot be read: {error}; run the audit again") from None

    def _to_csv(self, path: Path, *, safe: bool = False) -> None:
        columns = self._columns
        if safe:
            columns = columns | {name: [safe_cell(cell) for cell in columns[name]] for name in _NAMES}

        def write(temporary: Path) -> None:
            with temporary.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(COLUMNS)
                writer.writerows(zip(*(columns[name] for name in COLUMNS), strict=True))

        write_atomically(path, write)

    def _to_json(self, path: Path) -> None:
        rows = zip(*(self._columns[name] for name in COLUMNS), strict=True)
        lines = (json.dumps(dict(zip(COLUMNS, row, strict=True)), ensure_ascii=False, allow_nan=False) for row in rows)
        write_text(path, "".join(f"{line}\n" for line in lines))

    def _to_parquet(self, path: Path) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise InputError(
                "Parquet needs pyarrow, which is not here; install anchored[parquet], or write .csv"
            ) from None
        write_atomically(path, lambda temporary: pyarrow.parquet.write_table(pyarrow.table(self._columns), temporary))


def rank(dataset: Dataset, index: Tensor, logits: Tensor, probabilities: Tensor, posterior: Tensor) -> Suspects:
    """Rank labels, most probably wrong first; equals by margin, then by place.

    Args:
        dataset: The data with the labels given.
        index: ``(m,)``, the places of the samples that were judged.
        logits: ``(m, k)`` of those samples.
        probabilities: ``(m, k)``, of the true label, from the logits alone.
        posterior: ``(m, k)``, of the true label, from the logits and the label given.

    Returns:
        The ranking of those samples.

    Example:
        >>> from anchored.data import TensorInputs
        >>> data = Dataset("toy", TensorInputs(torch.zeros(2, 1)), torch.tensor([0, 0]), ("a", "b"))
        >>> posterior = torch.tensor([[0.9, 0.1], [0.2, 0.8]])
        >>> found = rank(data, torch.arange(2), posterior.log(), posterior, posterior)
        >>> found.column("index"), found.column("suggested")
        ([1, 0], ['b', 'a'])
    """
    given = dataset.labels[index]
    suggested = posterior.argmax(dim=1)
    here = torch.arange(len(index))
    wrong = 1.0 - posterior[here, given]
    margin = metrics.sample_margins(logits.to(torch.float64), given)
    order = margin.argsort(stable=True)
    order = order[wrong[order].argsort(descending=True, stable=True)]
    group = {j: name for name, members in shots(posterior.sum(dim=0).round().long()).items() for j in members}
    names = dataset.class_names

    def rounded(values: Tensor) -> list[float]:
        return [round(value, _DIGITS) for value in values[order].tolist()]

    return Suspects(
        {
            "rank": list(range(1, len(index) + 1)),
            "index": index[order].tolist(),
            "id": [dataset.ids[i] for i in index[order].tolist()],
            "given": [names[j] for j in given[order].tolist()],
            "suggested": [names[j] for j in suggested[order].tolist()],
            "probability_wrong": rounded(wrong),
            "margin": rounded(margin),
            "given_probability": rounded(probabilities[here, given]),
            "suggested_probability": rounded(probabilities[here, suggested]),
            "group": [group[j] for j in given[order].tolist()],
        }
    )
