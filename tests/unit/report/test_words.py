"""Mirror of src/anchored/report/_words.py: what no escaping helps against does not reach the page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchored.report._words import count, listed, name, percent, points, shortened


@given(st.text(alphabet=st.characters(), max_size=60))
def test_any_name_can_be_written_and_stays_on_its_line(text):
    shown = name(text)
    shown.encode("utf-8")  # a half of a surrogate pair, as file names may hold, cannot be
    assert shown
    assert not any(c in shown for c in "\n\r\x00\x1b\u202e\u2066")


def test_ordinary_names_are_left_alone():
    for text in ("cat", "Straße 7", "猫", "<b>", "a & b", "👩\u200d🔬"):
        assert name(text) == text


def test_long_names_are_cut_with_a_sign_of_it():
    assert name("x" * 500, 10) == "x" * 9 + "…"
    assert shortened("x" * 10, 10) == "x" * 10


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.5, "50.0 %"), (0.99999, "99.999 %"), (0.0001, "0.01 %"), (0.0, "0 %"), (float("nan"), "–"), (None, "–")],
)
def test_a_percentage_never_rounds_to_all_or_nothing(share, text):
    assert percent(share) == text


@given(st.floats(0.001, 0.999), st.integers(0, 3))
def test_a_percentage_is_within_half_a_digit(share, digits):
    assert float(percent(share, digits).removesuffix(" %")) == pytest.approx(100 * share, abs=0.51 * 10**-digits)


def test_counts_lists_and_differences_read_as_in_a_sentence():
    assert count(1, "class", "classes") == "1 class"
    assert count(2000, "label") == "2,000 labels"
    assert listed(["crop", "flip"]) == "crop and flip"
    assert points(0.0) == "+0.0"
