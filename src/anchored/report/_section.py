"""Parts of a page: sections, each with a sentence of plain words at its head and blocks below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

__all__ = ["Block", "Card", "Code", "Gallery", "Paragraph", "Picture", "Section", "Table", "Tile"]


@dataclass(frozen=True)
class Paragraph:
    """Plain text; ``quiet`` makes it a side note in a lighter colour."""

    text: str
    quiet: bool = False
    kind: str = field(default="paragraph", init=False)


@dataclass(frozen=True)
class Picture:
    """A drawing with a caption and a text ``alt`` for screen readers; two ``half`` ones stand side by side."""

    svg: Markup
    caption: str
    alt: str
    half: bool = False
    kind: str = field(default="picture", init=False)


@dataclass(frozen=True)
class Table:
    """Rows under headings; if ``folded`` is a title, the table opens on a click on it.

    The first ``words`` columns are aligned left, the numbers after them right; a ``wordy`` table has words only.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    folded: str = ""
    wordy: bool = False
    words: int = 1
    kind: str = field(default="table", init=False)


@dataclass(frozen=True)
class Code:
    """A command or the text of a file, to be copied; ``folded`` as for :class:`Table`."""

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
    """One suspect: name, given and suggested label, a note, and its picture (a data URI) or its values."""

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
        id: Anchor of the section within the page.
        title: Heading.
        lead: Conclusion in one or two sentences.
        blocks: Tables, pictures and paragraphs that show it.
    """

    id: str
    title: str
    lead: str
    blocks: Sequence[Block] = ()
