"""Mistakes: which class is taken for which; of many classes, those that are confused most."""

from __future__ import annotations

from anchored import metrics
from anchored.report._evidence import Evidence
from anchored.report._section import Block, Paragraph, Picture, Section, Table
from anchored.report._words import count, name, percent
from anchored.report.charts import heat

__all__ = ["mistakes", "most_confused"]

_SHOWN, _PART, _PAIRS = 25, 16, 15


def mistakes(evidence: Evidence) -> Section | None:
    """Write the section about mistakes; None if the model could not be asked again."""
    measured = evidence.measured
    if measured is None:
        return None
    # If the truth is an estimate, these are expected numbers; they are shown as whole ones.
    table = metrics.confusion(measured.logits, measured.target).round().long().tolist()
    pairs = most_confused(table)
    wrong = sum(number for number, _, _ in pairs)
    names = evidence.class_names
    blocks: list[Block] = []
    if not wrong:
        lead = f"The model made no mistake on {count(measured.n, 'sample')}."
    else:
        number, i, j = pairs[0]
        lead = (
            f"It made {count(wrong, 'mistake')} on {count(measured.n, 'sample')}; the most frequent is to take "
            f"“{name(names[i], 40)}” for “{name(names[j], 40)}”: {count(number)} of {count(sum(table[i]), 'time')}."
        )
    drawn = list(range(evidence.k))
    if evidence.k > _SHOWN:
        drawn = _worst_classes(pairs, _PART)
    if len(drawn) > 1:
        part = [[table[i][j] for j in drawn] for i in drawn]
        svg = heat(
            "confusion",
            part,
            [names[j] for j in drawn],
            row="true class",
            column="the model says",
            text=lambda value: f"{value:.0f}",
        )
        caption = "Rows are the true classes, columns what the model said; right answers lie on the diagonal."
        if evidence.k > _SHOWN:
            caption += f" Shown are the {len(drawn)} of {evidence.k} classes with the most frequent mistakes."
        blocks.append(Picture(svg, caption, "Confusion matrix."))
    if wrong:
        rows = [
            (name(names[i]), name(names[j]), count(number), percent(number / sum(table[i])), percent(number / wrong))
            for number, i, j in pairs[:_PAIRS]
        ]
        columns = ("true class", "taken for", "times", "of the class", "of all mistakes")
        blocks.append(Table(columns, rows, folded="" if evidence.k > _SHOWN else "The most frequent mistakes", words=2))
    if measured.n < measured.total:
        blocks.append(
            Paragraph(
                f"Counted on {count(measured.n)} of {count(measured.total)} samples, drawn at random.", quiet=True
            )
        )
    return Section("mistakes", "What it mistakes for what", lead, blocks)


def most_confused(table: list[list[int]]) -> list[tuple[int, int, int]]:
    """List ``(times, true, said)`` for every pair of classes that was confused, the most frequent first.

    Example:
        >>> most_confused([[5, 0, 2], [3, 9, 0], [0, 0, 1]])
        [(3, 1, 0), (2, 0, 2)]
    """
    pairs = [(n, i, j) for i, row in enumerate(table) for j, n in enumerate(row) if n and i != j]
    return sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2]))


def _worst_classes(pairs: list[tuple[int, int, int]], most: int) -> list[int]:
    """Take the classes of the most frequent pairs, in the order of the classes."""
    found: dict[int, None] = {}
    for _, i, j in pairs:
        if len(found | {i: None, j: None}) > most:
            break
        found |= {i: None, j: None}
    return sorted(found)
