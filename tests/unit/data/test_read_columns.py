"""Mirror of src/anchored/data/read_columns.py: one table in five formats, and as a data set with labels."""

import json

import pandas as pd
import pytest

from anchored._errors import InputError
from anchored.data import TableInputs, load_columns, read_columns

FRAME = pd.DataFrame(
    {"age": [31, 25, 40, 33], "town": ["Rome", None, "Lima", "Rome"], "label": ["yes", "no", "yes", "no"]}
)
CELLS = {"age": ["31", "25", "40", "33"], "town": ["Rome", None, "Lima", "Rome"], "label": ["yes", "no", "yes", "no"]}


@pytest.fixture(params=["csv", "tsv", "parquet", "jsonl", "json", "xlsx", "other"])
def path(request, tmp_path):
    path = tmp_path / f"t.{request.param}"
    if request.param == "parquet":
        FRAME.to_parquet(path)
    elif request.param == "jsonl":
        FRAME.to_json(path, orient="records", lines=True)
    elif request.param == "json":
        path.write_text(json.dumps(json.loads(FRAME.to_json(orient="records"))))
    elif request.param == "xlsx":
        pytest.importorskip("openpyxl")
        FRAME.to_excel(path, index=False)
    else:
        FRAME.to_csv(path, index=False, sep="\t" if request.param == "tsv" else ",")
    return path


def test_every_format_gives_the_same_columns(path):
    assert {name: column.cells() for name, column in read_columns(path).columns.items()} == CELLS


def test_every_format_gives_the_same_data_set(path):
    data = load_columns(path).train
    assert isinstance(data.inputs, TableInputs)
    assert data.columns == ("age", "town")
    assert (data.class_names, data.labels.tolist()) == (("no", "yes"), [1, 0, 1, 0])
    assert load_columns(path, drop=["town"]).train.columns == ("age",)


def test_old_excel_files_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"save it as \.xlsx or CSV"):
        read_columns(tmp_path / "t.xls")


def test_class_names_are_verbatim_in_csv(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,Label\n1,01\n2,1.0\n3,01\n")
    assert load_columns(path).train.class_names == ("01", "1.0")


def test_new_rows_need_no_label_and_known_names_are_kept(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x\n1\n2\n")
    data = load_columns(path, class_names=("a", "b"), labels="optional").train
    assert data.labels.tolist() == [-1, -1]
    path.write_text("x,label\n1,b\n2,\n")
    assert load_columns(path, class_names=("a", "b"), labels="optional").train.labels.tolist() == [1, -1]
    path.write_text("x,label\n1,b\n2,c\n")
    with pytest.raises(InputError, match="row 3, column 'label': label 'c' was not seen in training"):
        load_columns(path, class_names=("a", "b"), labels="optional")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label\na\nb\n", "no column beside the label"),
        ("x,label\n1,a\n2,a\n", "at least two classes"),
        ("x,label\n1,a\n2,\n", "missing in 1 of 2 rows"),
        ("x,z\n1,a\n2,b\n", "which column is the label"),
    ],
)
def test_tables_without_a_usable_label_are_refused(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        load_columns(path)


def test_a_short_file_of_many_known_classes_is_no_id(tmp_path):
    names = tuple(f"class {i}" for i in range(30))
    path = tmp_path / "t.csv"
    path.write_text("x,label\n" + "".join(f"{i},class {i}\n" for i in range(20)))
    assert load_columns(path, class_names=names).train.labels.tolist() == list(range(20))
    with pytest.raises(InputError, match="look like an id"):
        load_columns(path)
