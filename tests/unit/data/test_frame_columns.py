"""Mirror of src/anchored/data/frame_columns.py: one table as pandas, polars, pyarrow, array, list and sparse matrix."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from anchored._errors import InputError
from anchored.data import NumberColumn, TextColumn, TimeColumn, VectorColumn, as_columns

FRAME = pd.DataFrame(
    {
        "number": [1.5, np.nan, 3.0],
        "whole": pd.array([1, None, 3], dtype="Int64"),
        "object": ["a", None, "b"],
        "string": pd.array(["x", "y", None], dtype="string"),
        "category": pd.Categorical(["p", "q", None]),
        "mixed": [1, "one", None],
        "flag": [True, False, True],
        "maybe": pd.array([True, None, False], dtype="boolean"),
        "when": pd.to_datetime(["2020-01-02 00:00", None, "2021-01-01 12:00"]),
        "zoned": pd.to_datetime(["2020-01-02", "2020-01-03", None]).tz_localize("Asia/Seoul"),
        "span": pd.to_timedelta([1, 2, None], unit="min"),
        "list": [[1.0, 2.0], None, [3.0, 4.0]],
    }
)
CELLS = {
    "number": ["1.5", None, "3"],
    "whole": ["1", None, "3"],
    "object": ["a", None, "b"],
    "string": ["x", "y", None],
    "category": ["p", "q", None],
    "mixed": ["1", "one", None],
    "flag": ["true", "false", "true"],
    "maybe": ["true", None, "false"],
    "when": ["2020-01-02 00:00:00", None, "2021-01-01 12:00:00"],
    "zoned": ["2020-01-01 15:00:00", "2020-01-02 15:00:00", None],
    "span": ["60", "120", None],
    "list": ["[1, 2]", None, "[3, 4]"],
}


def cells(table):
    return {name: column.cells() for name, column in table.columns.items()}


def test_a_pandas_frame_with_every_type_of_column():
    table = as_columns(FRAME)
    assert cells(table) == CELLS
    assert isinstance(table.columns["when"], TimeColumn)
    assert isinstance(table.columns["list"], VectorColumn)
    assert isinstance(table.columns["category"], TextColumn)
    assert as_columns(table) is table


def test_the_same_columns_from_polars_and_pyarrow():
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    plain = FRAME.drop(columns=["mixed", "maybe", "category"])
    wanted = {name: CELLS[name] for name in plain.columns}
    table = pa.Table.from_pandas(plain, preserve_index=False)
    assert cells(as_columns(table)) == wanted
    assert cells(as_columns(pl.from_arrow(table))) == wanted


def test_polars_without_pyarrow(monkeypatch):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": [1, None], "b": ["x", "y"], "c": [[1.0], [2.0]]})
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    assert cells(as_columns(frame)) == {"a": ["1", None], "b": ["x", "y"], "c": ["[1]", "[2]"]}


def test_arrays_and_lists_of_rows():
    assert cells(as_columns(np.array([[1, 2], [3, 4]]))) == {"x0": ["1", "3"], "x1": ["2", "4"]}
    assert cells(as_columns([[1.5, "a"], [None, "b"]], names=["n", "t"])) == {"n": ["1.5", None], "t": ["a", "b"]}
    mixed = np.array([[1.0, "a"], [np.nan, None]], dtype=object)
    assert cells(as_columns(mixed)) == {"x0": ["1", None], "x1": ["a", None]}


def test_a_sparse_matrix_is_the_same_as_the_dense_one():
    dense = np.random.default_rng(0).binomial(3, 0.2, size=(20, 5)).astype(np.float32)
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix):
        table = as_columns(kind(dense))
        assert all(isinstance(column, NumberColumn) for column in table.columns.values())
        np.testing.assert_array_equal(np.stack([column.values for column in table.columns.values()], axis=1), dense)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.zeros(3), r"two dimensions \(rows, columns\), got shape \(3,\)"),
        (np.zeros((2, 2), dtype=complex), "complex"),
        ([[1], [1, 2]], "same number of cells"),
        (sparse.csr_matrix((10, 70_000)), "reduce it first, e.g. with sklearn.decomposition.TruncatedSVD"),
        (sparse.csr_matrix((100_000, 60_000)), "GiB when written out"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "'a' for columns 1 and 2"),
        (pd.DataFrame({"c": [1j]}), "complex"),
    ],
)
def test_what_is_no_table_is_refused(data, message):
    with pytest.raises(InputError, match=message):
        as_columns(data)


def test_names_must_be_as_many_as_columns():
    with pytest.raises(InputError, match="1 names for 2 columns"):
        as_columns(np.zeros((2, 2)), names=["a"])


def test_columns_of_a_frame_may_be_called_by_numbers():
    assert as_columns(pd.DataFrame([[1, 2]])).names == ("0", "1")
