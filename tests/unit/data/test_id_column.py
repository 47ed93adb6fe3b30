"""Mirror of src/anchored/data/id_column.py: what names rows is found, and what only looks a little like it is not."""

import numpy as np
import pytest

from anchored.data import NumberColumn, TextColumn, column_of, is_id_name, why_id

RNG = np.random.default_rng(0)
MANY = 40


@pytest.mark.parametrize("name", ["id", "customer_id", "userId", "row", "Unnamed: 0", "x uuid", "index"])
def test_names_of_ids(name):
    assert is_id_name(name)


@pytest.mark.parametrize("name", ["paid", "width", "arrow", "idea", "humid"])
def test_names_that_only_end_alike(name):
    assert not is_id_name(name)


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("n", np.arange(MANY), "it counts the rows"),
        ("n", RNG.permutation(MANY) + 7, "it counts the rows"),
        ("n", np.cumsum(RNG.integers(1, 4, MANY)), "it counts the rows"),
        ("account_id", RNG.permutation(10**6)[:MANY], "another value in every row"),
        ("account_id", np.repeat(RNG.permutation(10**6)[: MANY - 5], 2)[:MANY], None),
        ("account_id", [*RNG.permutation(10**6)[: MANY - 5], 1, 1, 1, 1, 1], "by its name an id"),
        ("salary", RNG.permutation(10**6)[:MANY], None),
        ("n", np.arange(MANY) + 0.5, None),
        ("n", np.arange(19), None),
        ("code", [f"C{i}" for i in range(MANY)], "another value in every row"),
        ("user_id", [f"name{'x' * i}" for i in range(MANY)], "another value in every row"),
        ("name", [f"name{'x' * i}" for i in range(MANY)], None),
        ("code", [f"C{i % 7}" for i in range(MANY)], None),
    ],
)
def test_ids_are_found_with_their_reason(name, values, why):
    assert why_id(name, column_of(np.asarray(values).tolist(), name)) == why


def test_cells_that_are_missing_do_not_count():
    values = np.arange(40.0)
    values[::4] = np.nan
    assert why_id("n", NumberColumn(values)) == "it counts the rows"
    assert why_id("n", TextColumn(np.full(40, -1, dtype=np.int32), ())) is None
