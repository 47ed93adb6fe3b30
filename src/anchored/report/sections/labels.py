"""The labels: how many samples each class has, and how many of its labels are probably wrong."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from anchored.audit import SYSTEMATIC
from anchored.report._evidence import Evidence
from anchored.report._section import Block, Paragraph, Picture, Section, Table
from anchored.report._svg import FIRST, SECOND
from anchored.report._words import count, name, percent
from anchored.report.charts import Bar, bars, heat

__all__ = ["Noise", "labels", "noise"]

_SHOWN, _ENDS = 25, 10
_ALIKE = 0.25  # two ratios of class sizes that differ by less than this share say the same
_ABLE = 0.5
"""A model that agrees with less than this share of the labels that are right takes its own errors for theirs."""


def labels(evidence: Evidence) -> Section:
    """Write the section about the labels."""
    blocks: list[Block] = []
    found = noise(evidence)
    if evidence.counts:
        blocks += _counts(evidence)
    audited = evidence.audited
    if audited is not None and len(audited.transition) <= _SHOWN:
        svg = heat(
            "transition",
            audited.transition.tolist(),
            audited.class_names,
            row="what it is",
            column="what it is labelled as",
            text=lambda share: f"{100 * share:.0f}" if share >= 0.005 else "",
        )
        caption = (
            "Of the samples of each class (rows), how many in a hundred carry which label, as the audit estimates."
        )
        blocks.append(Picture(svg, caption, "Estimated transition matrix of the labels."))
    if audited is not None and audited.pairs:
        rows = [(name(pair.given), name(pair.suggested), count(pair.count)) for pair in audited.pairs[:10]]
        blocks.append(
            Table(("labelled as", "looks like", "samples"), rows, folded="Labels most often confused", words=2)
        )
    if audited is not None and audited.duplicates:
        groups = count(len(audited.duplicates), "group")
        blocks.append(Paragraph(f"Nearly identical samples under different labels: {groups}, see audit/audit.json."))
    if found.source:
        blocks.append(Paragraph(found.source, quiet=True))
    return Section(
        "labels", "How good the labels are", f"{_about_noise(evidence, found)} {_about_counts(evidence)}", blocks
    )


@dataclass(frozen=True)
class Noise:
    """Share of wrong labels as far as it is known, and how it is known."""

    rate: float | None
    source: str = ""
    interval: tuple[float, float] | None = None
    known: bool = False
    """Whether it is no estimate, because the run corrupted the labels itself."""


def noise(evidence: Evidence) -> Noise:
    """Take the best estimate there is: of an audit, of the run's own look, of its receipt, or of its calibration."""
    audited, result = evidence.audited, evidence.result
    if audited is not None:
        if audited.noise_rate is None:
            return Noise(None, audited.nothing_known)
        alone = "The share of wrong labels is the audit's estimate, from the labels alone. "
        source = f"{alone if audited.checked is None else ''}{audited.basis}"
        if audited.checked is None:
            source += f" How to: {shlex.join(['anchored', 'audit', str(evidence.path), '--check', '50'])}"
        return Noise(audited.noise_rate, source, audited.interval)
    looked = result.get("auto")
    if isinstance(looked, Mapping) and looked.get("noise_rate") is not None:
        interval = looked.get("interval")
        source = f"The share of wrong labels was estimated before training, from the labels alone. {SYSTEMATIC}"
        return Noise(float(looked["noise_rate"]), source, None if interval is None else (interval[0], interval[1]))
    if evidence.noise_was_added:
        source = "This share is known, not estimated: the run corrupted the labels itself."
        return Noise(_true_rate(evidence), source, known=True)
    about = result.get("calibration") or {}
    if about.get("noise_rate") is None:
        return Noise(None)
    rate, held_out = float(about["noise_rate"]), (result.get("held_out") or {}).get("accuracy") or 0.0
    if held_out < _ABLE * (1 - rate):
        return Noise(None, "This model cannot tell how many labels are wrong, because it is right too seldom itself.")
    return Noise(
        rate,
        f"The share of wrong labels is a rough estimate from {count(int(about.get('n', 0)))} held-out samples; "
        f"a better one, with its interval, comes with: {shlex.join(['anchored', 'audit', str(evidence.path)])}",
    )


def _true_rate(evidence: Evidence) -> float:
    """Compute the share of wrong labels that is left, if the run corrupted them itself, after corrections."""
    added = evidence.result["corruption"]["noise"]
    left = (evidence.result.get("corrections") or {}).get("wrong_after")
    return float(added["rate"]) if left is None else left / added["n"]


def _about_noise(evidence: Evidence, found: Noise) -> str:
    if found.rate is None:
        return "How many labels are wrong was not estimated."
    if found.known:
        return f"{percent(found.rate)} of the training labels are wrong, because the run was asked to corrupt them."
    if found.rate < 0.005 and found.interval is None:
        return "There is no sign of wrong labels."
    text = f"About {_roughly(found.rate)} of the labels look wrong"
    if found.interval is not None:
        text += f" (between {_roughly(found.interval[0])} and {_roughly(found.interval[1])})"
    audited = evidence.audited
    if audited is not None:
        text += f", some {count(audited.expected_errors)} of {count(audited.samples)}"
    if evidence.noise_was_added:
        text += f"; in truth it is {percent(_true_rate(evidence))}, as the run corrupted them itself"
    return text + "."


def _roughly(share: float) -> str:
    return percent(share, 0 if share >= 0.1 else 1)


def _about_counts(evidence: Evidence) -> str:
    counts = evidence.counts
    if not counts or not min(counts):
        return ""
    ratio = max(counts) / min(counts)
    if ratio < 1.5:
        return f"The classes are balanced, with {count(min(counts))} to {count(max(counts))} samples each."
    most, least = (evidence.class_names[counts.index(pick(counts))] for pick in (max, min))
    text = (
        f"By the labels as given, the largest class, “{name(most, 40)}”, has {ratio:.0f} times as many samples as the "
        f"smallest, “{name(least, 40)}”: {count(max(counts))} against {count(min(counts))}."
    )
    looked = evidence.result.get("auto")
    estimated = looked.get("imbalance") if isinstance(looked, Mapping) else None
    if isinstance(estimated, (int, float)) and abs(estimated / ratio - 1) > _ALIKE:
        text += f" If wrong labels are allowed for, it is some {estimated:.0f} times: wrong labels hide the true sizes."
    return text


def _counts(evidence: Evidence) -> list[Block]:
    counts, audited = evidence.counts, evidence.audited
    rates = {} if audited is None else {each.name: each.noise_rate for each in audited.classes}
    order = sorted(range(evidence.k), key=lambda j: -counts[j])
    drawn = order if len(order) <= _SHOWN else [*order[:_ENDS], *order[-_ENDS:]]
    lines = []
    for j in drawn:
        each = evidence.class_names[j]
        wrong = rates.get(each) or 0.0
        text = count(counts[j]) + (f", {percent(wrong, 0)} wrong" if rates.get(each) is not None else "")
        lines.append(Bar(each, counts[j], part=wrong * counts[j], text=text))
    legend = ((FIRST, "probably right"), (SECOND, "probably wrong")) if rates else ()
    svg = bars("counts", lines, label="training samples", legend=legend)
    caption = "Training samples by the label they were given"
    if len(drawn) < evidence.k:
        caption += f": the {_ENDS} largest and the {_ENDS} smallest of {evidence.k} classes"
    blocks: list[Block] = [Picture(svg, f"{caption}.", "Bars: training samples of each class.")]
    if len(drawn) < evidence.k:
        rows = [
            (name(evidence.class_names[j]), count(counts[j]), percent(rates.get(evidence.class_names[j])))
            for j in order
        ]
        blocks.append(Table(("class", "training samples", "probably wrong"), rows, folded="All classes, largest first"))
    return blocks
