"""Tables as vectors: each column is encoded by what it is, and the features stand beside each other.

What each column is, is decided from the training rows without their labels (:mod:`anchored.features.column_kinds`) and
shown as a small table before anything is trained. The fitted encoding is plain JSON and a few tensors, so that a model
takes raw files on another machine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import torch
from pydantic import ValidationError
from torch import Tensor

from anchored._errors import InputError
from anchored._names import choose, suggest
from anchored.data import Inputs, NumberColumn, TableInputs, TextColumn, text_columns
from anchored.features.base import Encoder
from anchored.features.column_kinds import ASKED, Decision, decide
from anchored.features.columns import (
    ONE_HOT,
    BooleanEncoder,
    CategoryEncoder,
    ColumnEncoder,
    DateEncoder,
    FreeTextEncoder,
    NumberEncoder,
    VectorEncoder,
)

__all__ = ["ColumnUse", "TableEncoder", "written_uses"]

_FORMAT = 1
_CURVED_ROWS = 150  # 50 per hinge, of which a column of numbers has three
_CURVED_COLUMNS = 64
_ENCODERS: dict[str, type[ColumnEncoder]] = {
    "number": NumberEncoder,
    "category": CategoryEncoder,
    "boolean": BooleanEncoder,
    "date": DateEncoder,
    "text": FreeTextEncoder,
    "list": VectorEncoder,
}


@dataclass(frozen=True)
class ColumnUse:
    """What is done with one column: a line of the table that is shown before training and kept in the report.

    Args:
        column: Its name.
        kind: What it is taken for.
        action: What is done with it.
        examples: Up to three of its values.
        missing: Share of training cells that are missing.
        features: How many features come from it; 0 if it is left out.
        notes: What looks odd, with rows and values.
    """

    column: str
    kind: str
    action: str
    examples: tuple[str, ...]
    missing: float
    features: int
    notes: tuple[str, ...] = ()


class TableEncoder(Encoder):
    """Encode the rows of a table.

    Args:
        kinds: What columns are, where the user knows better: column to ``number``, ``category``, ``date``,
            ``date:dmy``, ``date:mdy``, ``text`` or ``id`` (left out).
        drop: Columns to leave out.
        text: The encoder for columns of free text; by default hashed words.
        one_hot: The most values of a category that get a feature each.
        curved: Whether numbers get hinges at their quartiles, so that a linear model can follow a curve; by default if
            there are at least 50 rows per hinge and at most 64 columns of numbers.

    Attributes:
        uses: What is done with each column of the training table.
        columns: The fitted encoding by column, without those that are left out.
        text_columns: Columns that were texts in training; a file to be predicted is read with the same ones as texts.

    Example:
        >>> from anchored.data import as_columns
        >>> rows = as_columns({"age": [31, None, 45, 52], "town": ["Rome", "Lima", "Lima", "Rome"], "v": [1, 1, 1, 1]})
        >>> encoder = TableEncoder().fit(rows)
        >>> encoder.feature_names
        ('age: value', 'age: missing', 'town: Rome', 'town: Lima')
        >>> encoder.transform(rows).shape
        torch.Size([4, 4])
        >>> [(use.column, use.kind, use.features) for use in encoder.uses]
        [('age', 'number', 2), ('town', 'category', 2), ('v', 'constant', 0)]
    """

    name = "table"

    def __init__(
        self,
        *,
        kinds: Mapping[str, str] | None = None,
        drop: Collection[str] = (),
        text: Encoder | None = None,
        one_hot: int = ONE_HOT,
        curved: bool | None = None,
    ) -> None:
        self.kinds = dict(kinds or {})
        for kind in self.kinds.values():
            choose(kind, ASKED, what="kind of column")
        both = sorted(set(self.kinds) & set(drop))
        if both:
            raise InputError(f"column {both[0]!r} is both dropped and told to be {self.kinds[both[0]]}; do one of them")
        self.drop = tuple(drop)
        self.text = text
        self.one_hot = one_hot
        self.curved = curved
        self.uses: tuple[ColumnUse, ...] = ()
        self.text_columns: tuple[str, ...] = ()
        self.columns: dict[str, ColumnEncoder] = {}

    @property
    def dim(self) -> int:
        """Number of features d of one encoded row."""
        return sum(encoder.dim for encoder in self._fitted().values())

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What each feature is: ``"age: value"``, ``"town: Lima"``."""
        return tuple(f"{name}: {part}" for name, encoder in self._fitted().items() for part in encoder.names)

    @property
    def feature_columns(self) -> Tensor:
        """Which of ``list(encoder.columns)`` each feature comes from, ``(d,)`` int64."""
        sizes = torch.tensor([encoder.dim for encoder in self._fitted().values()])
        return torch.arange(len(sizes)).repeat_interleave(sizes)

    @property
    def digest(self) -> str:
        """Hexadecimal digest of the fitted state."""
        about, tensors = self.state()
        digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
        for name in sorted(tensors):
            tensor = tensors[name].contiguous()
            digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
            digest.update(tensor.numpy().tobytes())
        return digest.hexdigest()

    def fit(self, inputs: Inputs) -> Self:
        """Decide what each column is and learn its encoding, from training rows and without labels.

        Args:
            inputs: The training rows, without the label column.

        Returns:
            The same encoder, fitted.

        Raises:
            InputError: If columns cannot be used as they are; one line names all of them, with rows and the ways out.
        """
        table = _table(inputs)
        if not len(table):
            raise InputError(f"{table.source}: there are no rows to learn from")
        for name in self.kinds:
            if name not in table.columns:
                raise InputError(f"{table.source}: there is no column {name!r}; {suggest(name, table.columns)}")
        rest = table.without(self.drop)
        numbers = sum(isinstance(column, NumberColumn) for column in rest.columns.values())
        enough = len(table) >= _CURVED_ROWS * max(numbers, 1) and numbers <= _CURVED_COLUMNS
        curved = enough if self.curved is None else self.curved
        decisions = {
            name: decide(
                name,
                column,
                row_name=lambda row: f"row {int(table.rows[row])}",
                asked=self.kinds.get(name),
                text=self.text,
                one_hot=self.one_hot,
                curved=curved,
            )
            for name, column in rest.columns.items()
        }
        _refuse_problems(table, decisions)
        self.text_columns = text_columns(rest)
        self.columns = {name: found.encoder for name, found in decisions.items() if found.encoder and found.encoder.dim}
        dropped = Decision("dropped", None, "left out, as told")
        self.uses = tuple(_use(table, name, decisions.get(name, dropped)) for name in table.names)
        if not self.columns:
            listed = ", ".join(f"{use.column!r} ({use.kind})" for use in self.uses)
            raise InputError(f"{table.source}: no column is left to learn from: {listed}; say --as COLUMN=KIND")
        return self

    def transform(self, inputs: Inputs) -> Tensor:
        """Encode rows.

        Args:
            inputs: Rows with the columns of training, in any order; further columns are ignored.

        Returns:
            Features ``(n, d)``, float32, finite.

        Raises:
            InputError: If columns are missing, or a cell cannot be read; the line names them.
        """
        table = _table(inputs)
        absent = [name for name in self._fitted() if name not in table.columns]
        if absent:
            more = f" (and {len(absent) - 5} more)" if len(absent) > 5 else ""
            raise InputError(
                f"{table.source}: the model needs {_plural('column', absent[:5])}{more}, and the table has "
                f"{', '.join(map(repr, table.names[:20]))}; {suggest(absent[0], table.columns)}"
            )
        features = np.empty((len(table), self.dim), dtype=np.float32)
        start = 0
        for name, encoder in self.columns.items():
            stop = start + encoder.dim
            if len(table):
                features[:, start:stop] = encoder.transform(table.columns[name], _where(table, name))
            start = stop
        return torch.from_numpy(features)

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what must be kept to make this encoder again: plain JSON values, and tensors by name."""
        tensors: dict[str, Tensor] = {}
        columns = []
        for place, (name, encoder) in enumerate(self._fitted().items()):
            columns.append({"column": name, **encoder.model_dump(mode="json")})
            tensors |= {f"{place}.{part}": tensor for part, tensor in encoder.tensors().items()}
        uses = [asdict(use) | {"examples": list(use.examples), "notes": list(use.notes)} for use in self.uses]
        about = {"format": _FORMAT, "columns": columns, "uses": uses, "kinds": self.kinds, "drop": list(self.drop)}
        about |= {"texts": list(self.text_columns), "one_hot": self.one_hot, "curved": self.curved}
        return {"encoder": self.name, **about}, tensors

    @classmethod
    def from_state(
        cls,
        about: Mapping[str, Any],
        tensors: Mapping[str, Tensor],
        *,
        text_encoders: Mapping[str, type[Encoder]] | None = None,
    ) -> Self:
        """Make the encoder from what :meth:`state` returned; the values are checked, since files are untrusted.

        Args:
            about: Plain JSON values.
            tensors: Tensors by name.
            text_encoders: Classes of text encoders by name, if a text encoder was handed in.

        Returns:
            An encoder that gives the same features.

        Raises:
            InputError: If the state is of another version or damaged.

        Example:
            >>> from anchored.data import as_columns
            >>> rows = as_columns({"age": [31, 45, 52]})
            >>> encoder = TableEncoder().fit(rows)
            >>> TableEncoder.from_state(*encoder.state()).digest == encoder.digest
            True
        """
        if about.get("format") != _FORMAT:
            raise InputError(f"the table encoding has format {about.get('format')!r}, this version reads {_FORMAT}")
        try:
            made = cls(
                kinds=about["kinds"], drop=tuple(about["drop"]), one_hot=int(about["one_hot"]), curved=about["curved"]
            )
            made.text_columns = tuple(str(name) for name in about.get("texts", ()))
            made.uses = tuple(
                ColumnUse(**{**use, "examples": tuple(use["examples"]), "notes": tuple(use["notes"])})
                for use in about["uses"]
            )
            for place, settings in enumerate(about["columns"]):
                own = {k.partition(".")[2]: t for k, t in tensors.items() if k.partition(".")[0] == str(place)}
                rest = {key: value for key, value in settings.items() if key != "column"}
                kind = choose(rest["kind"], _ENCODERS, what="kind of column")
                if kind is FreeTextEncoder:
                    made.columns[str(settings["column"])] = FreeTextEncoder.restore(rest, own, text_encoders)
                else:
                    made.columns[str(settings["column"])] = kind.restore(rest, own)
        except (KeyError, TypeError, AttributeError, ValidationError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"the table encoding is damaged ({reason}); fit the model again") from None
        return made

    def _fitted(self) -> dict[str, ColumnEncoder]:
        if not self.columns:
            raise InputError("the table encoder has not been fitted; call fit with the training rows first")
        return self.columns


def written_uses(uses: Sequence[ColumnUse], *, width: int = 100) -> str:
    """Write what is done with each column as a plain table.

    Args:
        uses: The lines, as :attr:`TableEncoder.uses` has them.
        width: The most characters of a line; long examples are cut.

    Returns:
        Lines of text: a heading, one line per column, and indented lines for what looks odd.

    Example:
        >>> print(written_uses([ColumnUse("age", "number", "scaled", ("31", "45"), 0.25, 1, ("odd",))]))
        column  kind    missing  features  what is done  examples
        age     number  25 %            1  scaled        31, 45
                ! odd
    """
    rows = [("column", "kind", "missing", "features", "what is done", "examples")]
    for use in uses:
        gone = f"{100 * use.missing:.0f} %" if use.missing >= 0.005 else "<1 %" if use.missing else ""
        rows.append((use.column, use.kind, gone, str(use.features or ""), use.action, ", ".join(use.examples)))
    sizes = [max(len(row[place]) for row in rows) for place in range(5)]
    lines = []
    for number, row in enumerate(rows):
        cells = [cell.ljust(size) for cell, size in zip(row[:5], sizes, strict=True)]
        if number:
            cells[3] = row[3].rjust(sizes[3])
        line = "  ".join([*cells, row[5]]).rstrip()
        lines.append(line if len(line) <= width else line[: width - 1].rstrip() + "…")
        if number:
            lines += [f"{'':{sizes[0]}}  ! {note}" for note in uses[number - 1].notes]
    return "\n".join(lines)


def _table(inputs: Inputs) -> TableInputs:
    if not isinstance(inputs, TableInputs):
        raise InputError(
            f"the table encoder takes the rows of a table, got {type(inputs).__name__}; read it as columns"
        )
    return inputs


def _where(table: TableInputs, name: str) -> Any:  # noqa: ANN401
    return lambda row: table.where(row, name)


def _plural(word: str, names: Sequence[str]) -> str:
    return f"{word}{'s' if len(names) > 1 else ''} {', '.join(map(repr, names))}"


def _use(table: TableInputs, name: str, decision: Decision) -> ColumnUse:
    column = table.columns[name]
    missing = column.missing
    some = np.flatnonzero(~missing)[:200]
    examples = tuple(dict.fromkeys(_cut(cell) for cell in column.take(some).cells() if cell is not None))[:3]
    share = float(missing.mean())
    if decision.encoder is not None and decision.encoder.missing_mean:
        share = decision.encoder.missing_mean  # counts NA and the like too
    dim = decision.encoder.dim if decision.encoder else 0
    return ColumnUse(name, decision.kind, decision.action, examples, share, dim, decision.notes)


def _cut(cell: str) -> str:
    return cell if len(cell) <= 24 else cell[:23] + "…"


def _only_in_the_first_row(table: TableInputs, decisions: Mapping[str, Decision]) -> bool:
    """Whether every category has, in the first row, a value that does not come again, as a second heading would."""
    columns = [table.columns[name] for name, found in decisions.items() if found.kind == "category"]
    texts = [column for column in columns if isinstance(column, TextColumn)]
    return bool(texts) and all(int((column.codes == column.codes[0]).sum()) == 1 for column in texts)


def _refuse_problems(table: TableInputs, decisions: Mapping[str, Decision]) -> None:
    first = [name for name, decision in decisions.items() if decision.odd_rows == (0,)]
    if len(first) > 1 or (first and _only_in_the_first_row(table, decisions)):
        cells = ", ".join(f"{name!r}: {table.columns[name].take(np.array([0])).cells()[0]!r}" for name in first[:3])
        raise InputError(
            f"{table.where(0)}: looks like a second heading or a row of units ({cells}, and numbers below); remove it"
        )
    problems = [f"column {name!r}: {found.problem}" for name, found in decisions.items() if found.problem]
    if problems:
        raise InputError(f"{table.source}: " + " | ".join(problems) + " (or --drop COLUMN)")
