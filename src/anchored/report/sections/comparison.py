"""The comparison with another run: what got better, what got worse, and which settings differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anchored.report._evidence import PARTS, Evidence
from anchored.report._intervals import chance_difference
from anchored.report._previous import Previous, settings_that_differ
from anchored.report._section import Block, Paragraph, Section, Table
from anchored.report._words import count, name, percent, points

__all__ = ["comparison"]

_MEASURES = (
    ("accuracy", "accuracy"),
    ("many", "accuracy, classes with more than 100 training samples"),
    ("medium", "accuracy, classes with 20 to 100 training samples"),
    ("few", "accuracy, classes with fewer than 20 training samples"),
    ("ece", "average error of the probabilities"),
)
_CLASSES = 5


def comparison(evidence: Evidence) -> Section | None:
    """Write the section about another run; None if there is none to compare with."""
    previous = evidence.previous
    if previous is None:
        return None
    title, blocks = "Compared with an earlier run", []
    part = next((p for p in PARTS if evidence.result.get(p) and previous.result.get(p)), None)
    if part is None:
        lead = f"{name(previous.path)} cannot be compared: there is no unseen data that both runs were judged by."
    else:
        now, before = evidence.result[part], previous.result[part]
        lead = _lead(previous, now, before)
        rows = [
            (words, percent(before[key]), percent(now[key]), points(now[key] - before[key]))
            for key, words in _MEASURES
            if now.get(key) is not None and before.get(key) is not None
        ]
        blocks = [Table(("", "before", "now", "points"), rows), *_classes(evidence, now, before)]
        if now["n"] != before["n"]:
            blocks.append(
                Paragraph(
                    f"The two were judged by different samples: {count(before['n'])} before, {count(now['n'])} now.",
                    quiet=True,
                )
            )
    changes = settings_that_differ(previous.config, evidence.config)
    if changes:
        settings = [(name(each.setting), name(each.before, 60), name(each.now, 60)) for each in changes]
        blocks.append(Table(("setting", "before", "now"), settings, wordy=True))
    else:
        blocks.append(Paragraph("Both runs have the same settings.", quiet=True))
    return Section("comparison", title, lead, blocks)


def _lead(previous: Previous, now: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    gain = now["accuracy"] - before["accuracy"]
    chance = chance_difference(now["accuracy"], int(now["n"]), before["accuracy"], int(before["n"]))
    where = name(previous.path.name, 60)
    numbers = f"from {percent(before['accuracy'])} to {percent(now['accuracy'])}"
    if abs(gain) < 0.0005:
        return f"Compared with {where}, accuracy stayed at {percent(now['accuracy'])}."
    moved = (
        f"Compared with {where}, accuracy {'rose' if gain > 0 else 'fell'} by {abs(100 * gain):.1f} points, {numbers}"
    )
    if abs(gain) <= chance:
        return f"{moved}; with this many samples, up to {100 * chance:.1f} points can be chance."
    return f"{moved}, which is more than chance explains."


def _classes(evidence: Evidence, now: Mapping[str, Any], before: Mapping[str, Any]) -> list[Block]:
    previous = evidence.previous
    assert previous is not None, "only called with one"
    if previous.class_names != evidence.class_names or len(before["per_class"]) != len(now["per_class"]):
        return []
    moved = [
        (b - a, each, a, b)
        for each, a, b in zip(evidence.class_names, before["per_class"], now["per_class"], strict=True)
        if a is not None and b is not None and a != b
    ]
    moved.sort(key=lambda row: -row[0])
    shown = moved if len(moved) <= 2 * _CLASSES else moved[:_CLASSES] + moved[-_CLASSES:]
    rows = [(name(each), percent(a), percent(b), points(gain)) for gain, each, a, b in shown]
    return [Table(("class", "before", "now", "points"), rows, folded="Classes that moved most")] if rows else []
