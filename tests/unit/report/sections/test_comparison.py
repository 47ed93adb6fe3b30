"""Mirror of src/anchored/report/sections/comparison.py: what rose, what fell, and what may be chance."""

from dataclasses import replace
from pathlib import Path

import pytest

from anchored.report._previous import Previous
from anchored.report.sections.comparison import comparison


@pytest.fixture
def before(digits):
    return Previous(Path("runs/first"), digits.config, digits.result, digits.class_names)


def scored(result, accuracy, **scores):
    return {**result, "test": {**result["test"], "accuracy": accuracy, **scores}}


def test_no_other_run_is_no_section(digits):
    assert comparison(digits) is None


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (0.95, "rose by 15.0 points, from 80.0 % to 95.0 %, which is more than chance explains"),
        (0.6, "fell by 20.0 points"),
        (0.81, "can be chance"),
        (0.8, "stayed at 80.0 %"),
    ],
)
def test_the_lead_says_which_way_it_went(digits, changed, before, now, words):
    old = replace(before, result=scored(digits.result, 0.8))
    section = comparison(changed(digits, result=scored(digits.result, now), previous=old))
    assert words in section.lead
    assert "first" in section.lead


def test_settings_that_differ_are_listed(digits, changed, before):
    other = replace(before, config=digits.config.change({"train": {"seed": 7}}))
    table = comparison(changed(digits, previous=other)).blocks[-1]
    assert table.rows == [("train.seed", "7", "0")]
    same = comparison(changed(digits, previous=before)).blocks[-1]
    assert same.text == "Both runs have the same settings."


def test_classes_that_moved_are_listed_best_first(digits, changed, before):
    old = replace(before, result=scored(digits.result, 0.8, per_class=[0.5] * 10))
    now = scored(digits.result, 0.8, per_class=[0.5] * 8 + [0.4, 0.9])
    (table,) = [b for b in comparison(changed(digits, result=now, previous=old)).blocks if getattr(b, "folded", "")]
    assert table.rows == [("9", "50.0 %", "90.0 %", "+40.0"), ("8", "50.0 %", "40.0 %", "−10.0")]


def test_other_classes_and_other_data_are_not_compared_one_by_one(digits, changed, before):
    other = replace(before, class_names=tuple("abcdefghij"), result=scored(digits.result, 0.8, n=10))
    section = comparison(changed(digits, previous=other))
    assert not [block for block in section.blocks if getattr(block, "folded", "")]
    assert any("different samples" in getattr(block, "text", "") for block in section.blocks)
    untested = replace(before, result={**digits.result, "test": None, "held_out": None})
    assert "cannot be compared" in comparison(changed(digits, previous=untested)).lead
