"""Accuracy: overall, class by class, and for classes with many, some and few training samples."""

from __future__ import annotations

import torch

from anchored.imbalance import shots
from anchored.report._evidence import Evidence
from anchored.report._intervals import wilson
from anchored.report._section import Block, Paragraph, Picture, Section, Table
from anchored.report._svg import FIRST, FOURTH, THIRD
from anchored.report._words import count, name, percent
from anchored.report.charts import Bar, bars

__all__ = ["accuracy", "samples_per_class", "weakest"]

_SHOWN, _WORST = 25, 20
_GROUPS = {
    "many": ("classes with more than 100 training samples", FIRST),
    "medium": ("classes with 20 to 100 training samples", THIRD),
    "few": ("classes with fewer than 20 training samples", FOURTH),
}


def accuracy(evidence: Evidence) -> Section:
    """Write the section about accuracy."""
    scores = evidence.scores
    if not scores:
        return Section(
            "accuracy",
            "How often it is right",
            "This was not measured: the data has no test part and nothing was held out. "
            "Measure it on labelled data that the model has not seen with: anchored evaluate RUN DATA.",
        )
    blocks: list[Block] = []
    groups = [(words, scores.get(group)) for group, (words, _) in _GROUPS.items()]
    if sum(value is not None for _, value in groups) > 1:
        rows = [(words, percent(value)) for words, value in groups if value is not None]
        blocks.append(Table(("mean accuracy of", "accuracy"), rows))
    if any(value is not None for value in scores["per_class"]):
        blocks += _by_class(evidence)
    never = [name(each, 40) for each in evidence.result.get("never_predicted") or ()]
    if never:
        blocks.append(
            Paragraph(
                f"The model never predicts {' or '.join(f'“{each}”' for each in never)}, although the data that it was "
                "judged by has such samples: it cannot be used for that. More samples of it, or fewer wrong labels "
                "among them, may help."
            )
        )
    if evidence.part == "estimated":
        blocks.append(
            Paragraph(
                "The held-out labels are as imperfect as the others, so they are not simply believed: before training, "
                "two short models estimated how probable each class is for each sample, and an answer counts as right "
                "as far as its class is probable. By the labels as they are it would be "
                f"{percent(evidence.result['held_out']['accuracy'])}, because a right answer to a wrong label would "
                "count as a mistake.",
                quiet=True,
            )
        )
    if evidence.labels_in_doubt:
        blocks.append(
            Paragraph(
                "The held-out labels are as imperfect as the others, so the true accuracy is probably higher: "
                "a right answer to a wrong label counts as a mistake here.",
                quiet=True,
            )
        )
    return Section("accuracy", "How often it is right", _lead(evidence), blocks)


def weakest(evidence: Evidence) -> tuple[str, float] | None:
    """Find the class with the lowest accuracy, and that accuracy; None if no class was scored."""
    values = evidence.scores.get("per_class") or []
    known = [(value, each) for value, each in zip(values, evidence.class_names, strict=False) if value is not None]
    if not known:
        return None
    value, each = min(known, key=lambda pair: pair[0])
    return each, value


def samples_per_class(evidence: Evidence) -> list[int] | None:
    """Count the samples of each class that the model was judged by; None if that is not known."""
    measured = evidence.measured
    if measured is None or (measured.part == "test") != (evidence.part == "test"):
        return None
    seen = torch.bincount(measured.labels, minlength=evidence.k)
    return [round(each * measured.total / measured.n) for each in seen.tolist()]


def _lead(evidence: Evidence) -> str:
    scores = evidence.scores
    low, high = wilson(scores["accuracy"], int(scores["n"]))
    of = f"{count(int(scores['n']), 'sample')} that it was not trained on"
    if evidence.labels_in_doubt:
        lead = f"The model agrees with {percent(scores['accuracy'])} of the labels of {of}"
    else:
        allowing = "If wrong labels are allowed for, the" if evidence.part == "estimated" else "The"
        lead = f"{allowing} model gives the right answer for {percent(scores['accuracy'])} of {of}"
    lead += f"; on others like these, expect between {percent(low)} and {percent(high)}."
    worst = weakest(evidence)
    if worst is not None and worst[1] < scores["accuracy"] - 0.02:
        lead += f" It is weakest on “{name(worst[0], 40)}”, with {percent(worst[1])}."
    else:
        lead += " No class falls behind."
    return lead


def _by_class(evidence: Evidence) -> list[Block]:
    scores, k = evidence.scores, evidence.k
    values: list[float | None] = list(scores["per_class"])
    sizes = samples_per_class(evidence) or [0] * k
    counts = evidence.counts or [0] * k
    colour = {j: _GROUPS[group][1] for group, members in shots(counts).items() for j in members}
    order = sorted(range(k), key=lambda j: (values[j] is None, values[j] or 0.0))
    drawn = list(range(k)) if k <= _SHOWN else order[:_WORST]
    lines = [
        Bar(
            evidence.class_names[j],
            None if (value := values[j]) is None else 100 * value,
            None if value is None or not sizes[j] else _hundredfold(wilson(value, sizes[j])),
            text=percent(value),
            colour=colour[j],
        )
        for j in drawn
    ]
    groups = [(c, words) for words, c in _GROUPS.values() if c in {colour[j] for j in drawn}]
    longest = max([line.interval[1] for line in lines if line.interval] + [line.value or 0.0 for line in lines])
    svg = bars(
        "accuracy",
        lines,
        label="right answers, %",
        limit=100 if longest > 40 else max(longest, 100 * scores["accuracy"]) * 1.1 + 1,
        mark=100 * scores["accuracy"],
        mark_text="all classes",
        legend=groups if len(groups) > 1 else (),
    )
    caption = "Right answers by class" if k <= _SHOWN else f"Right answers: the {_WORST} weakest of {k} classes"
    if any(sizes):
        caption += "; the thin lines show how far chance may have moved each value"
    rows = [
        (name(evidence.class_names[j]), percent(values[j]), count(sizes[j]) if any(sizes) else "–", count(counts[j]))
        for j in order
    ]
    columns = ("class", "accuracy", f"{evidence.part_in_words} samples", "training samples")
    alt = "Bars: accuracy of each class."
    return [Picture(svg, f"{caption}.", alt), Table(columns, rows, folded="All classes, weakest first")]


def _hundredfold(interval: tuple[float, float]) -> tuple[float, float]:
    return 100 * interval[0], 100 * interval[1]
