"""Mirror of src/anchored/ridge/copies.py: equal rows have equal keys, other rows other ones, wherever they stand."""

import numpy as np

from anchored.ridge.copies import groups_of, row_keys


def test_a_key_depends_on_the_row_alone():
    rows = np.random.default_rng(0).normal(size=(101, 37))
    order = np.random.default_rng(1).permutation(101)
    np.testing.assert_array_equal(row_keys(rows)[order], row_keys(np.ascontiguousarray(rows[order])))
    assert [int(row_keys(rows[i : i + 1])[0]) for i in range(5)] == row_keys(rows)[:5].tolist()


def test_different_rows_have_different_keys_even_on_a_coarse_grid():
    rows = np.stack(np.meshgrid(*[np.arange(18.0, dtype=np.float32)] * 3), axis=-1).reshape(-1, 3).astype(np.float64)
    assert len(np.unique(row_keys(rows))) == len(rows)


def test_the_order_of_columns_matters():
    assert row_keys(np.array([[1.0, 2.0]]))[0] != row_keys(np.array([[2.0, 1.0]]))[0]


def test_small_keys_are_a_fair_sample():
    keys = row_keys(np.arange(20_000.0)[:, None])
    smallest = np.argsort(keys)[:2_000]
    assert abs(smallest.mean() - 10_000) < 4 * 20_000 / np.sqrt(12 * 2_000)


def test_groups_number_the_copies():
    keys = np.array([9, 4, 9, 4, 1], dtype=np.uint64)
    assert groups_of(keys).tolist() == [2, 1, 2, 1, 0]
    assert groups_of(keys[:2]) is None
