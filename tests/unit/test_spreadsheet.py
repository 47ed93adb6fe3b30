"""Mirror of src/anchored/_spreadsheet.py: formulas become text, text stays text."""

import pytest

from anchored._spreadsheet import safe_cell


@pytest.mark.parametrize("text", ["=1+1", "+1", "-x", "@SUM(1)*x", "\t=1", "\r", "\n=1", " =1+1", "=cmd|' /C calc'!A0"])
def test_what_looks_like_a_formula_is_marked(text):
    assert safe_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "cat", "a=b", "1-2", "row 7", "photos/=1.png"])
def test_other_text_is_left_alone(text):
    assert safe_cell(text) == text
