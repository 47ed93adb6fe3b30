"""What is done with each column of a table before anything is learnt from it."""

from __future__ import annotations

from collections.abc import Sequence

from anchored.features import ColumnUse
from anchored.report._evidence import Evidence
from anchored.report._section import Block, Paragraph, Section, Table
from anchored.report._words import count, name, percent

__all__ = ["columns"]


def columns(evidence: Evidence) -> Section | None:
    """Write the section about the columns; None if the data was no table that was encoded."""
    uses = evidence.column_uses
    if not uses:
        return None
    features = sum(use.features for use in uses)
    left = [use for use in uses if not use.features]
    lead = f"{count(len(uses) - len(left), 'column')} became {count(features, 'number')} per row"
    if left:
        lead += f"; left out: {', '.join(f'{name(use.column, 40)} ({use.kind})' for use in left[:6])}"
        lead += f" and {len(left) - 6} more" if len(left) > 6 else ""
    blocks: list[Block] = [
        Table(
            ["column", "taken for", "what is done", "examples", "missing", "numbers"],
            [_row(use) for use in uses],
            words=4,
        )
    ]
    blocks += [Paragraph(f"{name(use.column, 40)}: {name(note, 300)}.", quiet=True) for use, note in _notes(uses)]
    blocks.append(
        Paragraph("--as COLUMN=KIND and --drop COLUMN change this; new data is encoded in the same way.", quiet=True)
    )
    return Section("columns", "What is done with each column", f"{lead}.", blocks)


def _row(use: ColumnUse) -> list[str]:
    examples = ", ".join(name(example, 30) for example in use.examples)
    missing = percent(use.missing, 0) if use.missing >= 0.005 else "under 1 %" if use.missing else ""
    return [name(use.column, 40), use.kind, use.action, examples, missing, str(use.features or "")]


def _notes(uses: Sequence[ColumnUse]) -> list[tuple[ColumnUse, str]]:
    return [(use, note) for use in uses for note in use.notes]
