"""Mirror of src/anchored/bench/prototypes.py: the table of a small run says what was measured."""

import pytest

from anchored.bench import Result
from anchored.bench.prototypes import run


@pytest.fixture(scope="module")
def result():
    return run(paper_steps=50, large=(20, 40), code=(9, 4))


def test_compares_the_closed_form_with_the_paper_in_one_run(result):
    assert isinstance(result, Result)
    assert result.facts["paper_over_closed_form"] == pytest.approx(result.rows[1][1] / result.rows[0][1])
    assert result.rows[1][0] == "paper (10, 128), 50 steps"


def test_states_both_gram_errors(result):
    assert result.facts["closed_form_gram_error"] < 1e-6 < result.facts["paper_gram_error"]
    assert result.facts["large_gram_error_float64"] < 1e-13


def test_every_row_fills_every_column(result):
    assert len(result.rows) == 5
    assert all(len(row) == len(result.columns) for row in result.rows)
