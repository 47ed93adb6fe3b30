"""Mirror of src/anchored/ridge/rows.py: chunks cover everything once, in float64, and bad numbers are named."""

import numpy as np
import pytest

from anchored._errors import InputError
from anchored.ridge.rows import ArrayRows, check_finite


def test_the_spans_cover_every_row_once():
    rows = ArrayRows(np.zeros((1000, 2**15), dtype=np.uint8))
    spans = list(rows.spans())
    assert len(spans) > 1
    assert [i for start, stop in spans for i in range(start, stop)] == list(range(1000))


def test_a_chunk_shrinks_if_more_numbers_per_row_are_needed():
    rows = ArrayRows(np.zeros((10, 4)))
    assert rows.chunk_rows(10_000) < rows.chunk_rows()


def test_what_is_read_is_a_float64_copy_without_negative_zeros():
    values = np.array([[-0.0, 1.0]], dtype=np.float32)
    part = ArrayRows(values).read(0, 1)
    part += 1
    assert part.dtype == np.float64
    assert values[0, 1] == 1
    assert not np.signbit(ArrayRows(values).read(0, 1)).any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_named_with_its_place(bad):
    values = np.zeros((5, 3))
    values[4, 1] = bad
    with pytest.raises(InputError, match=r"X must be finite, got -?(nan|inf) in row 4, column 1; fill or drop"):
        ArrayRows(values).read(2, 5)


def test_a_sum_that_overflows_is_no_infinite_number():
    chunk = np.full((2, 2), 1e308)
    assert check_finite(chunk, "X", 0) is chunk


def test_a_vector_is_refused():
    with pytest.raises(InputError, match=r"X must be a matrix \(n, d\) of features, got shape \(3,\)"):
        ArrayRows(np.zeros(3))
