"""What a column is: decided from its training cells alone, said in words, and open to correction.

The kinds are number, category, date, boolean, text and list; a column that is constant, empty or an id is left out.
What looks wrong (words among numbers, two units, a date that could be read in two ways) is named with rows and values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from anchored._errors import InputError
from anchored._names import choose
from anchored.data import Column, NumberColumn, TextColumn, TimeColumn, VectorColumn, is_id_name, why_id
from anchored.features.base import Encoder
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
from anchored.features.columns._base import as_texts, shown, without_missing_words
from anchored.features.columns.boolean import is_boolean
from anchored.features.columns.date import times_of_numbers
from anchored.features.columns.date_text import DateOrder, find_dates
from anchored.features.columns.number_text import KNOWN_UNITS, find_numbers
from anchored.features.columns.vector import vectors_of_texts

__all__ = ["ASKED", "Decision", "Kind", "decide", "kinds_of"]

Kind = Literal["number", "category", "date", "boolean", "text", "list", "constant", "empty", "id", "dropped"]
"""What a column is taken for; the last four are left out."""

ASKED: dict[str, Kind] = {
    "number": "number",
    "category": "category",
    "date": "date",
    "date:dmy": "date",
    "date:mdy": "date",
    "text": "text",
    "id": "id",
}
"""What a user can say that a column is (``--as COLUMN=KIND``); the order of day and month is part of it."""

_MOSTLY = 0.9
_PARTLY = 0.1
_MANY = 20
_SAMPLE = 1000
_TEXT_WORDS = 4.0
_TEXT_LETTERS = 30.0


@dataclass(frozen=True)
class Decision:
    """What a column is, and how it is encoded.

    Args:
        kind: What it is taken for.
        encoder: Its fitted encoding, or None if it is left out.
        action: What is done with it, in a few words.
        notes: What looks odd, with rows and values.
        problem: Why it cannot be used as it is, with the way out, or None.
        odd_rows: Rows (from 0) with a cell that cannot be read and counts as missing.
    """

    kind: Kind
    encoder: ColumnEncoder | None
    action: str
    notes: tuple[str, ...] = ()
    problem: str | None = None
    odd_rows: tuple[int, ...] = ()


def decide(
    name: str,
    column: Column,
    *,
    row_name: Callable[[int], str] = str,
    asked: str | None = None,
    text: Encoder | None = None,
    one_hot: int = ONE_HOT,
    curved: bool = False,
) -> Decision:
    """Decide what a column is, and fit its encoding.

    Args:
        name: The column's name; ``customer_id`` and the like make an id likelier.
        column: Its training cells.
        row_name: What messages call row ``i``.
        asked: What the user says that it is, one of :data:`ASKED`, or None to find out.
        text: The encoder for free text; by default hashed words.
        one_hot: The most values of a category that get a feature each.
        curved: Whether numbers get hinges, so that a linear model can follow a curve.

    Returns:
        The decision. Nothing is refused here but an unknown kind: problems of all columns are told together.

    Example:
        >>> from anchored.data import column_of
        >>> decide("price", column_of(["$1,200", "$85", "$9"], "t")).kind
        'number'
        >>> decide("day", column_of(["03/04/2021", "05/06/2021"], "t")).problem
        "'03/04/2021' could be 3 April or 4 March; say --as day=date:dmy or day=date:mdy"
    """
    look = _Look(name, column, row_name, text, one_hot, curved)
    if asked is not None:
        return look.as_asked(choose(asked, ASKED, what="kind of column"), asked)
    return look.found()


def kinds_of(told: Sequence[str]) -> dict[str, str]:
    """Read what users write after ``--as``.

    Args:
        told: Texts of the form ``COLUMN=KIND``; the column may itself contain an equals sign.

    Returns:
        Kind by column, as :class:`~anchored.features.TableEncoder` takes it.

    Raises:
        InputError: If a text has another form, the kind is unknown, or a column is told twice.

    Example:
        >>> kinds_of(["zip=category", "joined=date:dmy"])
        {'zip': 'category', 'joined': 'date:dmy'}
    """
    kinds: dict[str, str] = {}
    for text in told:
        column, equals, kind = text.rpartition("=")
        if not equals or not column:
            raise InputError(f"--as must be COLUMN=KIND, got {text!r}; the kinds are {', '.join(ASKED)}")
        choose(kind, ASKED, what="kind of column")
        if column in kinds and kinds[column] != kind:
            raise InputError(f"column {column!r} is told to be both {kinds[column]} and {kind}; say one of them")
        kinds[column] = kind
    return kinds


class _Look:
    """One look at a column."""

    def __init__(
        self,
        name: str,
        column: Column,
        row_name: Callable[[int], str],
        text: Encoder | None,
        one_hot: int,
        curved: bool,
    ) -> None:
        self.curved = curved
        self.name, self.row_name, self.text, self.one_hot = name, row_name, text, one_hot
        self.column: Column = without_missing_words(column) if isinstance(column, TextColumn) else column
        self.present = len(column) - int(self.column.missing.sum())

    # ---- what the user says

    def as_asked(self, kind: Kind, asked: str) -> Decision:
        """Take the column for what the user says; a cell that cannot be read is a problem then."""
        if kind == "id":
            return Decision("id", None, "left out, as told")
        if self.present == 0:
            return Decision("empty", None, "left out: no cell is filled")
        if isinstance(self.column, VectorColumn):
            return Decision("list", None, "", problem=f"a list of numbers cannot be read as {kind}; drop the column")
        if kind == "category":
            return self._category()
        if kind == "text":
            return self._text()
        if kind == "number":
            return self._asked_number()
        return self._asked_date(asked)

    def _asked_number(self) -> Decision:
        if isinstance(self.column, NumberColumn):
            return self._number(self.column.values)
        if isinstance(self.column, TimeColumn):
            return Decision(
                "number", None, "", problem="dates cannot be read as numbers; say date, or leave it to be found"
            )
        assert isinstance(self.column, TextColumn)
        found = find_numbers(self.column.levels, self.column.counts())
        odd = self._rows_of(self.column, found.unreadable)
        if len(odd):
            return Decision("number", None, "", problem=f"not a number in {self._examples(odd)}; correct or empty them")
        if _clash(found.signs):
            return Decision("number", None, "", problem=self._unit_problem(self.column, found.signs))
        values, unit = _rows(found.values, self.column), max(found.signs, default="")
        encoder = NumberEncoder.fit(values, style=found.style, unit=unit, curved=self.curved)
        return self._made(encoder, self._sign_notes(found.signs))

    def _asked_date(self, asked: str) -> Decision:
        if isinstance(self.column, TimeColumn):
            return self._made(DateEncoder.fit(self.column, order="ymd"))
        if isinstance(self.column, NumberColumn):
            values = self.column.values
            for numbers in ("yyyymmdd", "seconds", "milliseconds"):
                top = {"yyyymmdd": 3e7, "seconds": 1e11, "milliseconds": 1e14}[numbers]
                if not times_of_numbers(values, numbers)[1].any() and np.nanmax(np.abs(values)) < top:
                    return self._made(DateEncoder.fit(self.column, order="ymd", numbers=numbers))
            return Decision("date", None, "", problem="these numbers are no dates (20240131, or seconds since 1970)")
        assert isinstance(self.column, TextColumn)
        found = find_dates(self.column.levels)
        order: DateOrder | None = found.order
        if ":" in asked:
            order = "dmy" if asked.endswith("dmy") else "mdy"
        if order is None:
            return Decision("date", None, "", problem=self._two_ways(found.values))
        try:
            encoder = DateEncoder.fit(self.column, order=order)
        except InputError:
            odd = self._rows_of(self.column, found.unreadable)
            where = self._examples(odd) if len(odd) else f"order {order}"
            return Decision("date", None, "", problem=f"not a date in {where}; correct or empty them")
        return self._made(encoder)

    # ---- what is found

    def found(self) -> Decision:
        """Find out what the column is."""
        column = self.column
        if self.present == 0:
            return Decision("empty", None, "left out: no cell is filled")
        if isinstance(column, VectorColumn):
            return self._made(VectorEncoder.fit(column))
        if isinstance(column, TimeColumn):
            if self._constant(len(np.unique(column.values[~column.missing]))):
                return Decision("constant", None, "left out: one value in every row")
            return self._made(DateEncoder.fit(column, order="ymd"))
        if isinstance(column, NumberColumn):
            return self._found_number(column)
        return self._found_text(column)

    def _constant(self, distinct: int) -> bool:
        return distinct == 1 and self.present == len(self.column)

    def _found_number(self, column: NumberColumn) -> Decision:
        values = column.values[~np.isnan(column.values)]
        distinct = np.unique(values)
        if self._constant(len(distinct)):
            return Decision("constant", None, "left out: one value in every row")
        if np.array_equal(distinct, [0.0, 1.0]):
            return self._made(BooleanEncoder.fit(column))
        whole = bool(np.isfinite(distinct).all()) and bool((distinct == np.floor(distinct)).all())
        if whole and len(values) >= _MANY:
            why = why_id(self.name, column)
            if why is not None:
                return Decision("id", None, f"left out: {why}")
            if is_id_name(self.name) and len(distinct) < len(values):
                return self._category()
            if not times_of_numbers(column.values, "yyyymmdd")[1].any() and distinct[0] >= 19_000_101:
                return self._made(DateEncoder.fit(column, order="ymd", numbers="yyyymmdd"))
        return self._number(column.values)

    def _found_text(self, column: TextColumn) -> Decision:
        counts = column.counts()
        if self._constant(len(column.levels)):
            return Decision("constant", None, "left out: one value in every row")
        if is_boolean(column.levels):
            return self._made(BooleanEncoder.fit(column))
        for road in (self._numbers_in, self._dates_in, self._lists_in):
            decision = road(column, counts)
            if decision is not None:
                return decision
        why = why_id(self.name, column)
        if why is not None:
            return Decision("id", None, f"left out: {why}")
        note = self._mixed_note(column, counts)
        if len(column.levels) > self.one_hot and self._reads_like_text(column, counts):
            return self._text(note)
        return self._category(note)

    def _numbers_in(self, column: TextColumn, counts: npt.NDArray[np.int64]) -> Decision | None:
        if not _often(lambda some: ~np.isnan(find_numbers(some).values), column.levels):
            return None
        found = find_numbers(column.levels, counts)
        rows = int(counts[~np.isnan(found.values)].sum())
        bad = int(counts[found.unreadable].sum())
        if rows == 0 or rows < _MOSTLY * (rows + bad) or found.codes:
            return None
        units = found.signs - {""}
        if _clash(found.signs):
            return Decision("number", None, "", problem=self._unit_problem(column, found.signs))
        if len(units) > 1:
            return None  # 1st, 2nd, 3rd: words, not units
        odd = self._rows_of(column, found.unreadable)
        values = _rows(found.values, column)
        if not len(odd) and np.array_equal(np.unique(values[~np.isnan(values)]), [0.0, 1.0]):
            return self._made(BooleanEncoder.fit(TextColumn(column.codes, column.levels)))
        notes = self._sign_notes(found.signs)
        if found.ambiguous:
            example = next((level for level in column.levels if "," in level), column.levels[0])
            notes += (f"{shown(example)} and the like are read as thousands, not as decimals",)
        if len(odd):
            notes += (f"not a number in {self._examples(odd)}: counted as missing",)
        unit = max(units, default="")
        encoder = NumberEncoder.fit(values, style=found.style, unit=unit, lenient=bool(len(odd)), curved=self.curved)
        return self._number_made(encoder, values, notes, odd)

    def _dates_in(self, column: TextColumn, counts: npt.NDArray[np.int64]) -> Decision | None:
        if not _often(lambda some: ~np.isnat(find_dates(some).values), column.levels):
            return None
        found = find_dates(column.levels)
        rows = int(counts[~np.isnat(found.values)].sum())
        bad = int(counts[found.unreadable].sum())
        if rows == 0 or rows < _MOSTLY * (rows + bad):
            return None
        if found.order is None:
            return Decision("date", None, "", problem=self._two_ways(found.values))
        odd = self._rows_of(column, found.unreadable)
        notes = (f"not a date in {self._examples(odd)}: counted as missing",) if len(odd) else ()
        encoder = DateEncoder.fit(column, order=found.order, lenient=bool(len(odd)))
        return self._made(encoder, notes, odd)

    def _lists_in(self, column: TextColumn, _: npt.NDArray[np.int64]) -> Decision | None:
        lists = vectors_of_texts(column)
        return None if lists is None else self._made(VectorEncoder.fit(lists))

    def _reads_like_text(self, column: TextColumn, counts: npt.NDArray[np.int64]) -> bool:
        words = np.array([len(level.split()) for level in column.levels])
        letters = np.array([len(level) for level in column.levels])
        share = counts / counts.sum()
        return float((words * share).sum()) >= _TEXT_WORDS or float((letters * share).sum()) >= _TEXT_LETTERS

    # ---- what comes of it

    def _category(self, notes: tuple[str, ...] = ()) -> Decision:
        return self._made(CategoryEncoder.fit(self.column, one_hot=self.one_hot), notes)

    def _text(self, notes: tuple[str, ...] = ()) -> Decision:
        return self._made(FreeTextEncoder.fit(self.column, encoder=self.text), notes)

    def _number(self, values: npt.NDArray[np.float64]) -> Decision:
        return self._number_made(NumberEncoder.fit(values, curved=self.curved), values)

    def _number_made(
        self,
        encoder: NumberEncoder,
        values: npt.NDArray[np.float64],
        notes: tuple[str, ...] = (),
        odd: npt.NDArray[np.int64] | tuple[()] = (),
    ) -> Decision:
        far = encoder.beyond(values)
        if len(far):
            row = int(far[np.argmax(np.abs(values[far]))])
            many = f"{len(far)} cells are" if len(far) > 1 else "1 cell is"
            notes += (
                f"{many} far outside the bulk ({self.row_name(row)}: {values[row]:.4g}) and clipped to "
                f"[{encoder.low:.4g}, {encoder.high:.4g}]",
            )
        return self._made(encoder, notes, odd)

    def _made(
        self,
        encoder: ColumnEncoder,
        notes: tuple[str, ...] = (),
        odd: npt.NDArray[np.int64] | tuple[()] = (),
    ) -> Decision:
        kind: Kind = encoder.kind  # type: ignore[attr-defined]
        return Decision(kind, encoder, encoder.action, notes, odd_rows=tuple(int(row) for row in odd))

    # ---- words

    def _rows_of(self, column: TextColumn, levels: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        return np.flatnonzero(np.append(levels, False)[column.codes])

    def _examples(self, rows: npt.NDArray[np.int64]) -> str:
        cells = self.column.take(rows[:3]).cells()
        listed = ", ".join(f"{self.row_name(int(r))} ({shown(c or '')})" for r, c in zip(rows[:3], cells, strict=True))
        return f"{listed} and {len(rows) - 3} more" if len(rows) > 3 else listed

    def _sign_notes(self, signs: frozenset[str]) -> tuple[str, ...]:
        units = sorted(signs - {""})
        if not units:
            return ()
        some = "some cells" if "" in signs else "every cell"
        return (f"{some} with the sign or unit {units[0]!r}, which is left out",)

    def _unit_problem(self, column: TextColumn, signs: frozenset[str]) -> str:
        units = ", ".join(repr(sign) if sign else "none" for sign in sorted(signs))
        first = [(int(np.argmax(column.codes == place)), level) for place, level in enumerate(column.levels[:200])]
        told: dict[str, str] = {}
        for row, level in first:
            sign = next(iter(find_numbers([level]).signs), "")
            told.setdefault(sign, f"{self.row_name(row)} {shown(level)}")
        examples = ", ".join(list(told.values())[:3])
        return (
            f"numbers with different units ({units}; {examples}); bring them to one, or say --as {self.name}=category"
        )

    def _two_ways(self, values: npt.NDArray[np.datetime64]) -> str:
        texts = as_texts(self.column)
        place = next(i for i, value in enumerate(values) if not np.isnat(value) and _differs(texts.levels[i]))
        moment = values[place].astype(object)
        day, month = f"{moment.day} {_MONTHS[moment.month - 1]}", f"{moment.month} {_MONTHS[moment.day - 1]}"
        return (
            f"{shown(texts.levels[place])} could be {day} or {month}; "
            f"say --as {self.name}=date:dmy or {self.name}=date:mdy"
        )

    def _mixed_note(self, column: TextColumn, counts: npt.NDArray[np.int64]) -> tuple[str, ...]:
        dates = find_dates(column.levels[:_SAMPLE])
        share = float(np.mean(~np.isnat(dates.values)))
        if _PARTLY < share < _MOSTLY:
            moment = column.levels[int(np.argmax(~np.isnat(dates.values)))]
            word = column.levels[int(np.argmax(np.isnat(dates.values)))]
            places = [np.flatnonzero(column.codes == column.levels.index(level))[:1] for level in (moment, word)]
            one, other = map(self._examples, places)
            return (f"dates and words are mixed: {one}, {other}; taken as words",)
        if not _often(lambda some: ~np.isnan(find_numbers(some).values), column.levels, share=_PARTLY / 2):
            return ()
        found = find_numbers(column.levels, counts)
        numbers = ~np.isnan(found.values) & ~found.unreadable
        share = float(counts[numbers].sum() / counts.sum())
        if found.codes or not _PARTLY < share < _MOSTLY or len(found.signs) > 1:
            return ()
        one = self._examples(self._rows_of(column, numbers)[:1])
        other = self._examples(self._rows_of(column, found.unreadable)[:1])
        return (f"numbers and words are mixed: {one}, {other}; taken as words",)


_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def _often(
    readable: Callable[[tuple[str, ...]], npt.NDArray[np.bool_]], levels: tuple[str, ...], *, share: float = 0.4
) -> bool:
    """Whether a sample of the levels is readable often enough for a look at all of them to be worth its time."""
    if len(levels) <= _SAMPLE:
        return True
    return float(readable(levels[:: len(levels) // _SAMPLE]).mean()) >= share


def _clash(signs: frozenset[str]) -> bool:
    """Whether numbers with these signs cannot stand in one column: two units, or percent beside plain numbers."""
    return len(signs & KNOWN_UNITS) > 1 or {"%", ""} <= signs


def _differs(level: str) -> bool:
    """Whether day and month of a date can be told apart only by their order."""
    first, second = find_dates([level]), re.findall(r"\d+", level)
    return first.order is None and len(second) >= 2 and int(second[0]) != int(second[1])


def _rows(values: npt.NDArray[np.float64], column: TextColumn) -> npt.NDArray[np.float64]:
    return np.append(values, np.nan)[column.codes]
