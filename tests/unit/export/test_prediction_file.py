"""Mirror of src/anchored/export/prediction_file.py: what other readers find in the file."""

import csv
import json
import sys

import pytest

from anchored._errors import InputError
from anchored.export import PredictionFile, Predictions

PARTS = [
    Predictions(["a, b", "ü\n"], ["=1+1", None], [0.123456789, None], [1e-9, None], [False, True], [None, "no file"]),
    Predictions(["row 3"], ["null"], [1.0], [12.5], [True], [None]),
]
PLAIN = [
    ("a, b", "=1+1", 0.123457, 0.0, False, None),
    ("ü\n", None, None, None, True, "no file"),
    ("row 3", "null", 1.0, 12.5, True, None),
]
NAMES = ["id", "label", "probability", "margin", "abstain", "error"]


def write(path, parts=PARTS):
    with PredictionFile(path).open(path) as add:
        for part in parts:
            add(part)
    return path


def test_csv(tmp_path):
    with write(tmp_path / "p.csv").open(encoding="utf-8", newline="") as file:
        heading, *rows = csv.reader(file)
    assert heading == NAMES

    def number(cell):
        return float(cell) if cell else None

    back = [(i, label or None, number(p), number(m), a == "true", e or None) for i, label, p, m, a, e in rows]
    assert back == PLAIN
    assert rows[0][2] == "0.123457"
    assert {row[4] for row in rows} == {"true", "false"}


def test_json_lines(tmp_path):
    lines = write(tmp_path / "p.JSONL").read_text(encoding="utf-8").splitlines()
    back = [json.loads(line) for line in lines]
    assert [list(row) for row in back] == [NAMES] * 3
    assert [tuple(row.values()) for row in back] == PLAIN


def test_parquet(tmp_path, monkeypatch):
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("anchored.export.prediction_file._ROW_GROUP", 2)
    table = pq.read_table(write(tmp_path / "p.parquet"))
    assert table.column_names == NAMES
    assert [str(kind) for kind in table.schema.types] == ["string", "string", "double", "double", "bool", "string"]
    assert table["probability"].to_pylist() == [0.123456789, None, 1.0]
    assert [tuple(row.values())[4:] for row in table.to_pylist()] == [row[4:] for row in PLAIN]
    assert table["id"].to_pylist() == [row[0] for row in PLAIN]
    assert pq.ParquetFile(tmp_path / "p.parquet").num_row_groups == 2


@pytest.mark.parametrize("name", ["p.csv", "p.jsonl", "p.parquet"])
def test_no_predictions_are_a_file_all_the_same(tmp_path, name):
    assert write(tmp_path / name, []).is_file()


@pytest.mark.parametrize("name", ["p", "p.txt", "p.json", "p.csv.gz"])
def test_refuses_another_ending(name):
    with pytest.raises(InputError, match=r"written to .csv, .parquet or .jsonl"):
        PredictionFile(name)


def test_names_the_extra_that_parquet_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"needs pyarrow; pip install 'anchored\[parquet\]'"):
        PredictionFile("p.parquet")


def test_formulas_are_marked_if_asked_for_and_only_in_csv(tmp_path):
    said = Predictions(["=1+1.png"], ["@cat"], [0.75], [-1.5], [False], [None])
    for safe, row in (
        (False, "=1+1.png,@cat,0.750000,-1.500000,false,"),
        (True, "'=1+1.png,'@cat,0.750000,-1.500000,false,"),
    ):
        path = tmp_path / "p.csv"
        with PredictionFile(path, spreadsheet_safe=safe).open(path) as add:
            add(said)
        assert path.read_text().splitlines()[1] == row
    with pytest.raises(InputError, match=r"only a \.csv file can be made safe for spreadsheets"):
        PredictionFile("p.jsonl", spreadsheet_safe=True)
