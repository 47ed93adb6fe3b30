"""How training went: loss and accuracy over the epochs, and whether it should have been longer or shorter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anchored.report._evidence import Evidence
from anchored.report._intervals import wilson
from anchored.report._section import Block, Paragraph, Picture, Section
from anchored.report._words import count, percent
from anchored.report.charts import Line, curves

__all__ = ["learning", "verdict"]

_PARTS = {"train": "training", "held_out": "held-out", "test": "test"}
_FELL, _ROSE = 0.015, 0.005


def learning(evidence: Evidence) -> Section | None:
    """Write the section about training; None if the run kept no history."""
    history = evidence.history
    if not history:
        return None
    kept = int(evidence.result.get("kept_epoch") or len(history))
    panels = [(title, _lines(history, measure)) for title, measure in (("Loss", "loss"), ("Right answers", "accuracy"))]
    drawn = [(title, lines) for title, lines in panels if lines]
    blocks: list[Block] = []
    if drawn:
        marks = _stages(history)
        if kept < len(history):
            marks.append((kept, "kept"))
        svg = curves("learning", drawn, percent=[title != "Loss" for title, _ in drawn], marks=marks)
        caption = "What the network got right, and its loss, after each pass through the data."
        blocks.append(Picture(svg, caption, "Learning curves."))
    if evidence.noise_was_added or any(record.get("held_out_accuracy") is not None for record in history):
        blocks.append(
            Paragraph(
                "Training and held-out samples are counted by the labels they were given, right or wrong: "
                "the more labels are wrong, the lower these two lines should end.",
                quiet=True,
            )
        )
    return Section("learning", "How training went", verdict(history, evidence.scores.get("n"), kept=kept), blocks)


def verdict(history: Sequence[Mapping[str, Any]], n: int | None = None, *, kept: int | None = None) -> str:
    """Say in a sentence what the accuracy on unseen data did over the epochs.

    Args:
        history: One record per epoch.
        n: Number of unseen samples, or None if it is not known; a fall that so many samples can show by chance is none.
        kept: Epoch that the model was taken from; None for the last.

    Example:
        >>> verdict([{"epoch": 1, "test_accuracy": 0.9}, {"epoch": 2, "test_accuracy": 0.7}])[:63]
        'Accuracy on test data was best after epoch 1, at 90.0 %, and en'
    """
    if kept is not None and kept < len(history):
        return (
            f"Training stopped after epoch {len(history)}, because held-out labels had been predicted better before: "
            f"the model is that of epoch {kept}."
        )
    part = next((p for p in ("test", "held_out") if history[-1].get(f"{p}_accuracy") is not None), None)
    if part is None:
        return f"The network went through its data {count(len(history), 'time')}; nothing unseen was scored meanwhile."
    values = [(record["epoch"], record[f"{part}_accuracy"]) for record in history if record.get(f"{part}_accuracy")]
    if not values:
        return f"After {count(len(history), 'epoch')} the network gives no right answer on unseen samples."
    words, last = _PARTS[part], values[-1][1]
    epoch, best = max(values, key=lambda pair: pair[1])
    low, high = (last, last) if n is None else wilson(last, n)
    if best - last > max(_FELL, (high - low) / 2):
        return (
            f"Accuracy on {words} data was best after epoch {epoch}, at {percent(best)}, and ended at {percent(last)}: "
            f"a network that is trained too long begins to learn wrong labels by heart; fewer epochs may be better."
        )
    half = values[len(values) // 2 :]
    if len(half) > 2 and half[-1][1] - half[len(half) // 2][1] > _ROSE and best == last:
        return f"Accuracy on {words} data was still rising at the end, at {percent(last)}: longer training may help."
    return f"Training settled: accuracy on {words} data ended at {percent(last)}, its best was {percent(best)}."


def _lines(history: Sequence[Mapping[str, Any]], measure: str) -> list[Line]:
    lines = []
    for part, words in _PARTS.items():
        name = f"{part}_{measure}"
        scored = [record for record in history if record.get(name) is not None]  # the test set: not after every epoch
        if scored:
            lines.append(Line(words, [int(record["epoch"]) for record in scored], [record[name] for record in scored]))
    return lines


def _stages(history: Sequence[Mapping[str, Any]]) -> list[tuple[int, str]]:
    """List the first epoch of every stage after the first."""
    marks, before = [], history[0].get("stage")
    for record in history:
        if record.get("stage") != before:
            before = record.get("stage")
            marks.append((int(record["epoch"]), f"stage {before}"))
    return marks
