"""Mirror of src/anchored/features/columns/number_text.py: one style for a whole column, and what it reads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchored.features.columns.number_text import find_numbers, read_numbers


@pytest.mark.parametrize(
    ("levels", "style", "values"),
    [
        (["1", "-2.5", "+3e2", ".5", "7."], "point", [1, -2.5, 300, 0.5, 7]),
        (["1,234.5", "12", "1,234,567"], "point", [1234.5, 12, 1234567]),
        (["1.234,5", "12", "1.234.567"], "comma", [1234.5, 12, 1234567]),
        (["0,5", "1,25"], "comma", [0.5, 1.25]),
        (["1 234.5", "12"], "space-point", [1234.5, 12]),
        (["1 234,5", "12", "1\u202f000"], "space-comma", [1234.5, 12, 1000]),
        (["1'234.50", "2"], "space-point", [1234.5, 2]),
        (["12%", "3.5 %"], "point", [12, 3.5]),
        (["$1,200", "-$85", "$-9.50"], "point", [1200, -85, -9.5]),
        (["1.200,00 €", "85 €"], "comma", [1200, 85]),
        (["12 kg", "3kg"], "point", [12, 3]),
        (["20 km/h", "5 km/h"], "point", [20, 5]),
        (["−3", "4"], "point", [-3, 4]),
    ],
)
def test_styles(levels, style, values):
    found = find_numbers(levels)
    assert found.values.tolist() == values
    assert not found.unreadable.any()
    assert found.style == style


def test_missing_words_are_not_unreadable():
    found = find_numbers(["1", "?", "-", "NA", "n.a.", "unknown", "x1"])
    assert found.unreadable.tolist() == [False] * 6 + [True]
    assert np.isnan(found.values[1:]).all()


def test_signs_are_told():
    assert find_numbers(["12 kg", "500 g"]).signs == {"kg", "g"}
    assert find_numbers(["$1", "2"]).signs == {"$", ""}
    assert find_numbers(["1st", "2nd"]).signs == {"st", "nd"}


def test_codes_and_ambiguity():
    assert find_numbers(["007", "12"]).codes
    assert not find_numbers(["0.5", "0", "10"]).codes
    assert find_numbers(["1,234", "5,678"]).ambiguous
    assert find_numbers(["1,234", "5,678"]).values.tolist() == [1234, 5678]
    assert not find_numbers(["1,234", "5,67"]).ambiguous
    assert find_numbers(["1,234", "5,67"]).values.tolist() == [1.234, 5.67]


@pytest.mark.parametrize(
    "text", ["12 34", "1,23,4", "1.2.3", "--5", "5-7", "12:30", "2020-01-01", "abc", "1,2345.6", "$"]
)
def test_what_is_no_number(text):
    assert find_numbers([text]).unreadable.tolist() == [True]


def test_infinite_values_are_numbers():
    values, unreadable = read_numbers(["inf", "-Infinity", "1"], "point")
    assert values.tolist() == [np.inf, -np.inf, 1.0]
    assert not unreadable.any()


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1),
    st.sampled_from([(",", "."), (".", ","), (" ", ","), ("'", ".")]),
)
def test_whatever_is_written_with_separators_is_read_back(numbers, signs):
    thousands, decimal = signs
    cells = [f"{n:,}".replace(",", thousands) + f"{decimal}25" for n in numbers]
    wanted = [float(f"{n}.25") for n in numbers]
    assert find_numbers(cells).values.tolist() == wanted
