"""The head of the page: the report in one sentence and four numbers."""

from __future__ import annotations

from anchored.report._evidence import Evidence
from anchored.report._intervals import wilson
from anchored.report._section import Tile
from anchored.report._words import count, name, percent
from anchored.report.sections.accuracy import weakest
from anchored.report.sections.labels import noise

__all__ = ["headline", "tiles"]


def headline(evidence: Evidence) -> str:
    """Put the report into one sentence."""
    scores = evidence.scores
    kinds = count(evidence.k, "class", "classes")
    if not scores:
        return f"A model for {kinds}, trained on {count(int(evidence.result.get('samples', 0)), 'sample')}; not tested."
    share, of = percent(scores["accuracy"]), f"{count(int(scores['n']))} {evidence.part_in_words}"
    if evidence.labels_in_doubt:
        return f"A model for {kinds} that agrees with {share} of {of} labels, which may be wrong themselves."
    allowing = ", labels that are probably wrong allowed for" if evidence.part == "estimated" else ""
    return f"A model for {kinds} that gives the right answer for {share} of {of} samples{allowing}."


def tiles(evidence: Evidence) -> list[Tile]:
    """List the numbers to remember, as far as they are known."""
    found = []
    scores = evidence.scores
    if scores:
        low, high = wilson(scores["accuracy"], int(scores["n"]))
        what = "of the labels agreed with" if evidence.labels_in_doubt else "right answers"
        found.append(Tile(percent(scores["accuracy"]), what, f"{percent(low)} to {percent(high)}"))
    worst = weakest(evidence)
    if worst is not None:
        found.append(Tile(percent(worst[1]), "in the weakest class", name(worst[0], 24)))
    if scores:
        found.append(Tile(f"±{100 * scores['ece']:.1f}", "points off", "average error of its probabilities"))
    wrong = noise(evidence)
    if wrong.rate is not None:
        note = "corrupted on purpose" if wrong.known else "in training, estimated"
        found.append(Tile(percent(wrong.rate), "wrong labels", note))
    return found
