"""Mirror of src/anchored/theory/calibration.py: both formulas letter by letter, limits, extremes, refusals."""

import math

import pytest

from anchored._errors import InputError
from anchored.theory import ldam_threshold

PAIRS = [(0.3, -1.2), (-2.0, -0.5), (1.0, 4.0), (0.0, 0.7)]


@pytest.mark.parametrize(("plus", "minus"), PAIRS)
def test_agrees_with_the_formula(plus, minus):
    expected = (1 + math.exp(plus)) / (2 + math.exp(plus) + math.exp(minus))
    assert ldam_threshold(plus, minus) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("plus", "minus"), PAIRS)
@pytest.mark.parametrize("r", [0.1, 2.0, 9.0])
def test_agrees_with_the_paper_at_the_ends(plus, minus, r):
    a, b = (math.log((1 + math.exp(r - x)) / (1 + math.exp(-r - x))) for x in (plus, minus))
    assert ldam_threshold(plus, minus, r) == pytest.approx(b / (a + b), rel=1e-12)


@pytest.mark.parametrize(("plus", "minus"), PAIRS)
def test_the_ends_close_in_on_the_exact_threshold_and_far_ends_on_one_half(plus, minus):
    assert ldam_threshold(plus, minus, 1e-5) == pytest.approx(ldam_threshold(plus, minus), rel=1e-8)
    assert ldam_threshold(plus, minus, 1e7) == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("alpha", [-1e4, -3.0, 0.0, 3.0, 1e4])
@pytest.mark.parametrize("r", [None, 1e-3, 2.0, 60.0])
def test_equal_margins_are_calibrated(alpha, r):
    assert ldam_threshold(alpha, alpha, r) == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize("r", [None, 2.0])
def test_extreme_margins_give_zero_or_one(r):
    assert ldam_threshold(1e4, -1e4, r) == 1.0
    assert ldam_threshold(-1e4, 1e4, r) == 0.0


def test_subtracted_margins_favour_the_rare_class_and_added_ones_the_common_class():
    rare, common = (prior**-0.25 for prior in (0.05, 0.95))
    assert ldam_threshold(-rare, -common) < 0.5 < ldam_threshold(rare, common)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((math.nan, 0.0), "alpha_plus must lie in"),
        ((0.0, math.inf), "alpha_minus must lie in"),
        ((0.0, 0.0, 0.0), "r must lie in"),
        ((0.0, 0.0, -1.0), "r must lie in"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InputError, match=message):
        ldam_threshold(*arguments)
