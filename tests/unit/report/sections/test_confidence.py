"""Mirror of src/anchored/report/sections/confidence.py: the verdict follows the error."""

import pytest

from anchored.report.sections.confidence import confidence


def scored(evidence, changed, **scores):
    return changed(evidence, result={"test": {**evidence.result["test"], **scores}}, measured=None)


@pytest.mark.parametrize(
    ("after", "before", "words"),
    [
        (
            0.01,
            0.2,
            "can be taken at face value: they are off by 1.0 points on average, and would have been off by 20.0",
        ),
        (0.05, 0.06, "are roughly right"),
        (0.3, 0.1, "should be taken with care: they are off by 30.0 points on average; calibration did not help"),
        (0.02, 0.02, "with and without calibration"),
    ],
)
def test_the_lead_follows_the_numbers(digits, changed, after, before, words):
    assert words in confidence(scored(digits, changed, ece=after, ece_uncalibrated=before)).lead


def test_the_diagram_agrees_with_the_result(digits):
    picture = confidence(digits).blocks[0]
    assert f"After calibration: off by {100 * digits.result['test']['ece']:.1f} points" in picture.svg
    assert f"Before calibration: off by {100 * digits.result['test']['ece_uncalibrated']:.1f} points" in picture.svg


def test_without_unseen_data_there_is_no_section(digits, changed):
    assert confidence(changed(digits, result={"test": None, "held_out": None})) is None


def test_labels_that_may_be_wrong_themselves_give_no_verdict(hostile, doubted):
    assert confidence(hostile).lead.startswith("Judged by held-out labels, which may be wrong themselves, the prob")
    assert confidence(doubted).lead.startswith("The probabilities ")
    assert f"off by {100 * doubted.scores['ece']:.1f} points" in confidence(doubted).blocks[0].svg
