"""What a page is made of: sections, each opening with one sentence of plain words, and blocks below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

__all__ = ["Block", "Card", "Code", "Gallery", "Paragraph", "Picture", "Section", "Table", "Tile"]


@dataclass(frozen=True)
class Paragraph:
    """Plain text; ``quiet`` for what is said beside."""

    text: str
    quiet: bool = False
    kind: str = field(default="paragraph", init=False)


@dataclass(frozen=True)
class Picture:
    """A drawing with a caption, and ``alt`` for those who cannot see it; two ``half`` ones stand side by side."""

    svg: Markup
    caption: str
    alt: str
    half: bool = False
    kind: str = field(default="picture", init=False)


@dataclass(frozen=True)
class Table:
    """Rows under headings; ``folded`` is the title it hides behind.

    The first ``words`` columns are set left, the numbers after them right; a ``wordy`` table has words only.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    folded: str = ""
    wordy: bool = False
    words: int = 1
    kind: str = field(default="table", init=False)


@dataclass(frozen=True)
class Code:
    """A command or a file, to be copied."""

    text: str
    folded: str = ""
    kind: str = field(default="code", init=False)


@dataclass(frozen=True)
class Tile:
    """One number to remember."""

    value: str
    title: str
    note: str = ""


@dataclass(frozen=True)
class Card:
    """One sample: its picture (a data URI) or its values, what it is called and what is said of it."""

    id: str
    given: str
    suggested: str
    note: str
    image: str = ""
    values: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Gallery:
    """Samples side by side."""

    cards: Sequence[Card]
    kind: str = field(default="gallery", init=False)


Block = Paragraph | Picture | Table | Code | Gallery


@dataclass(frozen=True)
class Section:
    """A part of the report.

    Args:
        id: Its address within the page.
        title: Its heading.
        lead: What to take from it, in one sentence or two.
        blocks: What shows it.
    """

    id: str
    title: str
    lead: str
    blocks: Sequence[Block] = ()
