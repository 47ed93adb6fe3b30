"""Confidence: whether a model that says 80 % is right 80 % of the time, before and after its temperature was fitted."""

from __future__ import annotations

from anchored import metrics
from anchored.report._evidence import Evidence
from anchored.report._section import Block, Paragraph, Picture, Section
from anchored.report._words import count, percent
from anchored.report.charts import reliability_diagram

__all__ = ["confidence"]

_GOOD, _FAIR = 0.03, 0.07


def confidence(evidence: Evidence) -> Section | None:
    """Write the section about probabilities; None if the model was not judged by unseen data."""
    scores = evidence.scores
    if not scores:
        return None
    after, before = float(scores["ece"]), float(scores["ece_uncalibrated"])
    verdict = f"{_verdict(after)}: they"
    if evidence.labels_in_doubt:
        verdict = "Judged by held-out labels, which may be wrong themselves, the probabilities"
    lead = f"{verdict} are off by {100 * after:.1f} points on average"
    if abs(after - before) < 0.001:
        lead += ", with and without calibration."
    elif after < before:
        lead += f", and would have been off by {100 * before:.1f} without calibration."
    else:
        lead += f"; calibration did not help here, they were off by {100 * before:.1f} before it."
    blocks: list[Block] = []
    if evidence.measured is not None:
        measured = evidence.measured
        raw = metrics.reliability(measured.sharp, measured.target)
        fitted = metrics.reliability(measured.calibrated, measured.target)
        svg = reliability_diagram("reliability", [("Before calibration", raw), ("After calibration", fitted)])
        caption = (
            "For each degree of confidence, how often the model was right. On the dashed line it is right as often as "
            "it says. Below: how many samples there are at each confidence."
        )
        blocks.append(Picture(svg, caption, "Reliability diagram before and after calibration."))
        said = float(measured.calibrated.amax(dim=1).mean())
        right = metrics.accuracy(measured.logits, measured.target)
        lean = "a little too sure of itself" if said > right else "a little too modest"
        if abs(said - right) > 0.01 and not evidence.labels_in_doubt:
            blocks.append(
                Paragraph(f"On average it says {percent(said)} and is right {percent(right)} of the time: {lean}.")
            )
    about = evidence.result.get("calibration") or {}
    temperature = float(evidence.result.get("temperature", 1.0))
    if about:
        blocks.append(
            Paragraph(
                f"Calibration divides the scores of all classes by one number, the temperature {temperature:.3g}, "
                f"fitted on {count(int(about.get('n', 0)), 'sample')} of {about.get('on', 'held-out data')}. The "
                "average error of the probabilities is known as ECE, expected calibration error.",
                quiet=True,
            )
        )
    return Section("confidence", "Whether its probabilities can be trusted", lead, blocks)


def _verdict(error: float) -> str:
    if error <= _GOOD:
        return "The probabilities can be taken at face value"
    return "The probabilities are roughly right" if error <= _FAIR else "The probabilities should be taken with care"
