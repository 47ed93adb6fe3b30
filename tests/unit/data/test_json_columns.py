"""Mirror of src/anchored/data/json_columns.py: JSON lines and arrays, keys that come and go, and each wrong line."""

import json

import pytest

from anchored._errors import InputError
from anchored.data import VectorColumn, read_json_columns
from anchored.data import json_columns as module

RECORDS = [{"age": 31, "town": "Seoul", "v": [1, 2]}, {"town": "Lima", "ok": True}, {"age": 4.5, "v": [3, 4]}]
CELLS = {
    "age": ["31", None, "4.5"],
    "town": ["Seoul", "Lima", None],
    "v": ["[1, 2]", None, "[3, 4]"],
    "ok": [None, "true", None],
}


def cells(table):
    return {name: column.cells() for name, column in table.columns.items()}


@pytest.mark.parametrize("block", [1, 2, 8192])
def test_lines_are_read_alike_whatever_the_block(tmp_path, monkeypatch, block):
    monkeypatch.setattr(module, "_BLOCK_ROWS", block)
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, RECORDS)) + "\n\n")
    table = read_json_columns(path)
    assert cells(table) == CELLS
    assert isinstance(table.columns["v"], VectorColumn)
    assert table.rows.tolist() == [1, 2, 3]


def test_an_array_of_objects_is_a_table(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(json.dumps(RECORDS, indent=1))
    assert cells(read_json_columns(path)) == CELLS


def test_dropped_keys_are_left_out_even_if_nested(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1, "b": {"c": 2}}\n')
    assert cells(read_json_columns(path, drop=["b"])) == {"a": ["1"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\n{"a": \n', "row 2: not JSON"),
        ('{"a": 1}\n[1]\n', "row 2: each row must be a JSON object"),
        ("[1, 2]", "row 0: each row must be a JSON object"),
        ('{"a": 1}\n{"a": {"b": 1}}\n', "row 2, column 'a': an object within an object"),
        ("", "holds no objects"),
        ("[" * 100_000, "row 1: not JSON"),
        ('{"a": [1, 2]}\n{"a": [1]}\n{"a": [1]}\n', "column 'a'.*lists must have one length"),
    ],
)
def test_wrong_lines_are_refused_with_their_row(tmp_path, text, message):
    path = tmp_path / "t.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_json_columns(path)


def test_not_utf8_is_refused(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"a": "\xff"}\n')
    with pytest.raises(InputError, match="not UTF-8"):
        read_json_columns(path)
