"""Mirror of src/anchored/data/arrow_columns.py: every Arrow type that can be a cell, and the refusal of the others."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anchored._errors import InputError
from anchored.data import VectorColumn, read_arrow_columns, read_parquet_columns

TABLE = pa.table(
    {
        "int": pa.array([1, None, 3]),
        "float": pa.array([1.5, float("nan"), None]),
        "bool": pa.array([True, None, False]),
        "decimal": pa.array([Decimal("1.10"), None, Decimal("2.00")]),
        "text": pa.array(["a ", "", None]),
        "large": pa.array(["a", "b", "a"], type=pa.large_string()),
        "category": pa.array(["x", None, "x"]).dictionary_encode(),
        "date": pa.array([date(2020, 1, 2), None, date(1960, 1, 1)]),
        "time": pa.array([datetime(2020, 1, 2, 3, 4, 5), None, None]),
        "zoned": pa.array([datetime(2020, 1, 2, 3), None, None], type=pa.timestamp("ns", tz="Asia/Seoul")),
        "span": pa.array([timedelta(seconds=90), None, None]),
        "vector": pa.array([[1.0, 2.0], None, [3.0, 4.0]], type=pa.list_(pa.float32())),
        "fixed": pa.array([[1, 2], None, [3, 4]], type=pa.list_(pa.int64(), 2)),
        "null": pa.nulls(3),
    }
)
CELLS = {
    "int": ["1", None, "3"],
    "float": ["1.5", None, None],
    "bool": ["true", None, "false"],
    "decimal": ["1.1", None, "2"],
    "text": ["a", None, None],
    "large": ["a", "b", "a"],
    "category": ["x", None, "x"],
    "date": ["2020-01-02 00:00:00", None, "1960-01-01 00:00:00"],
    "time": ["2020-01-02 03:04:05", None, None],
    "zoned": ["2020-01-02 03:00:00", None, None],
    "span": ["90", None, None],
    "vector": ["[1, 2]", None, "[3, 4]"],
    "fixed": ["[1, 2]", None, "[3, 4]"],
    "null": [None, None, None],
}


def test_every_type_of_cell():
    table = read_arrow_columns(TABLE)
    assert {name: column.cells() for name, column in table.columns.items()} == CELLS
    assert table.columns["vector"].values.dtype == np.float32


def test_parquet_gives_the_same_as_the_table_in_memory(tmp_path):
    pq.write_table(pa.concat_tables([TABLE, TABLE]), tmp_path / "t.parquet", row_group_size=2)
    table = read_parquet_columns(tmp_path / "t.parquet")
    assert {name: column.cells() for name, column in table.columns.items()} == {k: v * 2 for k, v in CELLS.items()}
    assert table.rows.tolist() == list(range(6))
    assert read_parquet_columns(tmp_path / "t.parquet", drop=["int"]).names == tuple(CELLS)[1:]


def test_chunks_share_their_texts():
    chunked = pa.chunked_array([["a", "b"], [None, "b"], []])
    table = read_arrow_columns(pa.table({"t": chunked}))
    assert table.columns["t"].cells() == ["a", "b", None, "b"]
    assert table.columns["t"].levels == ("a", "b")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([{"a": 1}]), "struct.*cannot be read; flatten"),
        (pa.array([b"x"]), "binary cannot be read"),
        (pa.array([["a"]]), "must hold numbers"),
        (pa.array([[1.0], [1.0], [1.0, 2.0]]), "1 numbers in most cells and 2 in row 2"),
    ],
)
def test_what_is_no_cell_is_refused_with_its_column(column, message):
    with pytest.raises(InputError, match=f"column 'c': .*{message}"):
        read_arrow_columns(pa.table({"c": column}))


def test_damaged_and_empty_files_are_refused(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="not a readable Parquet file"):
        read_parquet_columns(tmp_path / "bad.parquet")
    pq.write_table(pa.table({"a": pa.array([], type=pa.int64())}), tmp_path / "none.parquet")
    with pytest.raises(InputError, match="no rows"):
        read_parquet_columns(tmp_path / "none.parquet")
    with pytest.raises(InputError, match="no such file"):
        read_parquet_columns(tmp_path / "missing.parquet")


def test_embeddings_are_vectors():
    values = np.random.default_rng(0).normal(size=(7, 16)).astype(np.float32)
    table = read_arrow_columns(pa.table({"embedding": list(values)}))
    assert isinstance(table.columns["embedding"], VectorColumn)
    np.testing.assert_array_equal(table.columns["embedding"].values, values)
