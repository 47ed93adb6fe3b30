"""Mirror of src/anchored/data/table.py: tables as people write them, whole and in chunks; refusals name their place."""

import csv
import json
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from anchored._errors import InputError
from anchored.data import load_table, stream_table


def csv_file(tmp_path, text, name="t.csv", encoding="utf-8"):
    (tmp_path / name).write_bytes(text.encode(encoding))
    return tmp_path / name


PLAIN = "x,y2,label\n1,2.5,a\n3,-4e2,b\n5,6,a\n"


def values(data):
    return data.inputs.take(torch.arange(len(data))).tolist()


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace(",", "|"),
        "\ufeff" + PLAIN,
        PLAIN.replace("\n", "\r\n"),
        PLAIN.rstrip("\n"),
        PLAIN.replace("3,", "\n3,"),
        '"x","y2","label"\n"1","2.5","a"\n"3","-4e2","b"\n"5","6","a"\n',
        "label,x,y2\na, 1,2.5 \nb,3,-4e2\na,5,6\n",
    ],
)
def test_ways_to_write_the_same_table(tmp_path, text):
    data = load_table(csv_file(tmp_path, text)).train
    assert values(data) == [[1.0, 2.5], [3.0, -400.0], [5.0, 6.0]]
    assert data.columns == ("x", "y2")
    assert data.class_names == ("a", "b")
    assert data.labels.tolist() == [0, 1, 0]


def test_rows_are_called_what_a_spreadsheet_calls_them(tmp_path):
    assert list(load_table(csv_file(tmp_path, PLAIN)).train.ids) == ["row 2", "row 3", "row 4"]


def test_quoted_fields_may_hold_the_separator_and_quotes_and_lines(tmp_path):
    text = 'x,label\n1,"a, ""b"""\n2,"two\nlines"\n3,"a, ""b"""\n'
    data = load_table(csv_file(tmp_path, text)).train
    assert data.class_names == ('a, "b"', "two\nlines")
    assert values(data) == [[1.0], [2.0], [3.0]]


def test_a_large_table_agrees_with_numpy(tmp_path):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(500, 20))
    with (tmp_path / "t.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"f{i}" for i in range(20)), "target"])
        writer.writerows([*row, i % 3] for i, row in enumerate(table.tolist()))
    data = load_table(tmp_path / "t.csv").train
    np.testing.assert_array_equal(np.array(values(data), dtype=np.float32), table.astype(np.float32))
    assert data.labels.tolist() == [i % 3 for i in range(500)]


def test_numeric_labels_are_ordered_as_numbers(tmp_path):
    data = load_table(csv_file(tmp_path, "x,label\n1,10\n2,9\n3,10\n")).train
    assert data.class_names == ("9", "10")


@pytest.mark.parametrize("name", ["label", "Class", "TARGET", "y"])
def test_the_label_column_is_found_by_its_usual_names(tmp_path, name):
    assert load_table(csv_file(tmp_path, f"x,{name}\n1,a\n2,b\n")).train.columns == ("x",)


def test_the_label_column_can_be_named(tmp_path):
    data = load_table(csv_file(tmp_path, "x,label,kind\n1,2,a\n2,3,b\n"), label="kind").train
    assert data.columns == ("x", "label")


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("", {}, r"t\.csv: the file is empty"),
        ("x,label\n", {}, "a heading but no rows"),
        ("1,2,0\n3,4,1\n", {}, r"row 1: the first row must name the columns, got numbers \(1, 2, 0\)"),
        ("x,x,label\n1,2,a\n", {}, "column names must differ, got 'x' for columns 1 and 2"),
        ("x,z\n1,2\n", {}, r"which column is the label\? The columns are 'x', 'z'"),
        ("x,label,class\n1,2,3\n", {}, "'label' and 'class' could be it"),
        (PLAIN, {"label": "lable"}, "there is no label column 'lable'; did you mean 'label'"),
        ("x,label\n1,a\n2\n", {}, "row 3: 1 fields where the heading names 2"),
        ("x,label\n1,a\n2,b,c\n", {}, "row 3: 3 fields where the heading names 2"),
        (
            "x,label\n1,a\nred,b\n",
            {"form": "vectors"},
            "row 3, column 'x': features must be numbers, got 'red'; encode text",
        ),
        ("x;label\n1,5;a\n2;b\n", {"form": "vectors"}, "row 2, column 'x': .* got '1,5'; write decimals with a point"),
        ("x,label\n1,a\n,b\n", {"form": "vectors"}, "row 3, column 'x': the cell is empty"),
        ("x,label\n1,a\nnan,b\n", {"form": "vectors"}, "row 3, column 'x': the cell is empty"),
        (
            "x,label\n1,a\n1e99,b\n",
            {"form": "vectors"},
            r"row 3, column 'x': features must be finite in single precision, got 1e\+99",
        ),
        ("x,label\n1,a\n2,\n", {}, r"column 'label': the label is missing in 1 of 2 rows \(row 3\)"),
        ("x,label\n1,a\n2,a\n", {}, "all 2 samples are of class 'a'"),
        ("label\na\nb\n", {}, "no column beside the label"),
        (PLAIN, {"class_names": ("a", "c")}, "row 3, column 'label': label 'b' was not seen in training"),
        (PLAIN, {"columns": ("x", "y3")}, "column 'y3' is missing, and the model needs it; did you mean 'y2'"),
        (PLAIN, {"shape": (5,)}, r"the model takes inputs of shape \(5,\), the table has 2 features"),
        (PLAIN, {"image": "pic"}, "no image column 'pic'"),
    ],
)
def test_each_refusal_names_its_place(tmp_path, text, options, words):
    with pytest.raises(InputError, match=words) as caught:
        load_table(csv_file(tmp_path, text), **options)
    assert str(tmp_path / "t.csv") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_encodings_are_refused(tmp_path):
    with pytest.raises(InputError, match="not UTF-8 text"):
        load_table(csv_file(tmp_path, "x,label\n1,é\n2,b\n", encoding="latin-1"))
    with pytest.raises(InputError, match="no such file"):
        load_table(tmp_path / "none.csv")


def test_prediction_needs_no_label_and_takes_columns_by_name(tmp_path):
    data = load_table(
        csv_file(tmp_path, "extra,y2,x\n9,2,1\n9,4,3\n"), columns=("x", "y2"), class_names=("a", "b"), labels="optional"
    ).train
    assert values(data) == [[1.0, 2.0], [3.0, 4.0]]
    assert data.labels.tolist() == [-1, -1]
    assert any("1 columns" in note for note in data.notes)


@pytest.mark.parametrize("heading", ["", "Unnamed: 0"])
def test_the_index_that_pandas_writes_is_no_feature(tmp_path, heading):
    data = load_table(csv_file(tmp_path, f"{heading},x,label\n0,5,a\n1,6,b\n")).train
    assert data.columns == ("x",)
    assert any("count of the rows" in note for note in data.notes)


def test_empty_labels_are_no_labels_where_they_are_not_needed(tmp_path):
    data = load_table(csv_file(tmp_path, "x,label\n1,b\n2,\n3,a\n"), class_names=("a", "b"), labels="optional").train
    assert data.labels.tolist() == [1, -1, 0]
    with pytest.raises(InputError, match="row 4, column 'label': label 'a' was not seen"):
        load_table(csv_file(tmp_path, "x,label\n1,b\n2,\n3,a\n"), class_names=("b", "c"), labels="optional")


@pytest.fixture
def pictures(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "img").mkdir()
    for i in range(3):
        Image.fromarray(rng.integers(0, 256, (6, 6, 3), dtype=np.uint8)).save(tmp_path / "img" / f"{i}.png")
    return tmp_path


def test_a_column_of_image_paths(pictures):
    text = "file,width,label\nimg/0.png,6,a\nimg/1.png,6,b\nimg/2.png,6,a\n"
    data = load_table(csv_file(pictures, text)).train
    assert data.inputs.shape == (3, 6, 6)
    assert list(data.ids) == ["img/0.png", "img/1.png", "img/2.png"]
    assert data.columns is None
    assert any("width" in note for note in data.notes)


def test_image_paths_may_start_elsewhere(pictures):
    text = "file,label\n0.png,a\n1.png,b\n"
    assert len(load_table(csv_file(pictures, text), root=pictures / "img").train) == 2
    with pytest.raises(InputError, match=r"t\.csv, row 2: there is no file .*0\.png"):
        load_table(csv_file(pictures, text))


@pytest.mark.parametrize("path", ["../secret.png", "/etc/passwd.png", "img/../../x.png"])
def test_image_paths_may_not_lead_out(pictures, path):
    with pytest.raises(InputError, match=r"t\.csv, row 3: a path must lead to a file below"):
        load_table(csv_file(pictures, f"file,label\nimg/0.png,a\n{path},b\n"))


def test_the_same_image_under_two_labels_is_noted(pictures):
    data = load_table(csv_file(pictures, "file,label\nimg/0.png,a\nimg/0.png,b\nimg/1.png,a\n")).train
    assert any("under different labels" in note for note in data.notes)


def parquet(tmp_path, **columns):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet as pq

    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def test_parquet_agrees_with_csv(tmp_path):
    data = load_table(parquet(tmp_path, x=[1.0, 3.0, 5.0], y2=[2, -400, 6], label=["a", "b", "a"])).train
    assert values(data) == [[1.0, 2.0], [3.0, -400.0], [5.0, 6.0]]
    assert data.class_names == ("a", "b")
    assert list(data.ids) == ["row 0", "row 1", "row 2"]
    assert load_table(parquet(tmp_path, x=[1.0, 2.0], label=[10, 9])).train.class_names == ("9", "10")


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (
            {"x": [1.0, None], "label": [0, 1]},
            "row 1, column 'x': the cell is empty",
        ),
        ({"x": ["a", "b"], "label": [0, 1]}, "column 'x': features must be numbers, got"),
        ({"x": [1.0, 2.0], "label": [0, None]}, r"column 'label': the label is missing in 1 of 2 rows \(row 1\)"),
        ({"x": [1.0, 2.0], "label": ["a", None]}, r"column 'label': the label is missing in 1 of 2 rows \(row 1\)"),
        ({"x": [1.0, 2.0], "kind": [0, 1]}, "which column is the label"),
    ],
)
def test_parquet_refusals_name_their_place(tmp_path, columns, words):
    with pytest.raises(InputError, match=words):
        load_table(parquet(tmp_path, **columns), form="vectors")


def test_a_damaged_parquet_file_is_refused(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "t.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(InputError, match="not a readable Parquet file"):
        load_table(tmp_path / "t.parquet")


def test_without_pyarrow_the_way_out_is_named(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install 'anchored\[parquet\]'"):
        load_table(tmp_path / "t.parquet")


def together(parts):
    """Ids, inputs and errors by id, of all chunks."""
    parts = list(parts)
    return (
        [name for part in parts for name in part.ids],
        torch.cat([part.inputs for part in parts]),
        {part.ids[place]: reason for part in parts for place, reason in part.errors.items()},
    )


FIVE = "x,y2,label\n1,2.5,a\n3,-4e2,b\n5,6,a\n7,8,b\n9,10,a\n"
WAYS = [
    FIVE,
    FIVE.replace(",", ";"),
    FIVE.replace(",", "\t"),
    FIVE.replace("1,2", " 1 , 2"),
    "\ufeff" + FIVE,
    FIVE.replace("\n", "\r\n"),
    FIVE.rstrip("\n"),
    FIVE.replace("3,", "\n\n3,"),
    "\n" + FIVE,
    FIVE.replace("5,6,a", '"5","6","a, ""b"""'),
    FIVE.replace("5,6,a", '5,6,"two\nlines"'),
    "label,x,y2\na,1,2.5\nb,3,-4e2\na,5,6\nb,7,8\na,9,10\n",
]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("text", WAYS)
def test_agrees_with_the_table_read_whole(tmp_path, text, size):
    path = csv_file(tmp_path, text)
    whole = load_table(path).train
    for columns in (None, ("y2", "x")):
        want = load_table(path, columns=columns, labels="ignored").train
        ids, inputs, errors = together(stream_table(path, shape=(2,), columns=columns, size=size))
        assert ids == list(whole.ids)
        assert torch.equal(inputs, want.inputs.take(torch.arange(len(want))))
        assert errors == {}


@given(
    st.lists(st.lists(st.floats(allow_nan=False, width=32), min_size=3, max_size=3), min_size=1, max_size=9),
    st.integers(1, 4),
)
def test_every_number_comes_back_or_is_named(tmp_path_factory, rows, size):
    path = tmp_path_factory.mktemp("stream") / "t.csv"
    path.write_text("a,b,c\n" + "\n".join(",".join(map(repr, row)) for row in rows) + "\n")
    ids, inputs, errors = together(stream_table(path, shape=(3,), size=size))
    finite = np.isfinite(np.array(rows, dtype=np.float32)).all(axis=1)
    assert len(ids) == len(rows)
    np.testing.assert_array_equal(inputs.numpy(), np.array(rows, dtype=np.float32)[finite])
    assert set(errors) == {f"row {i + 2}" for i in np.flatnonzero(~finite)}


BROKEN = [
    ("oops,4", "column 'x': features must be numbers, got 'oops'"),
    ('"1,5",4', "column 'x': features must be numbers, got '1,5'; write decimals with a point"),
    (",4", "column 'x': the cell is empty"),
    ("nan,4", "column 'x': the cell is empty"),
    ("4,1e39", r"column 'y': features must be finite in single precision, got 1e\+39"),
    ("4", "1 fields where the heading names 2"),
    ("4,5,6", "3 fields where the heading names 2"),
]


@pytest.mark.parametrize("size", [1, 2, 100])
@pytest.mark.parametrize(("row", "message"), BROKEN)
def test_a_broken_row_is_named_and_the_others_go_on(tmp_path, row, message, size):
    path = csv_file(tmp_path, f"x,y\n1,2\n{row}\n5,6\n")
    ids, inputs, errors = together(stream_table(path, shape=(2,), size=size))
    assert ids == ["row 2", "row 3", "row 4"]
    assert inputs.tolist() == [[1, 2], [5, 6]]
    assert list(errors) == ["row 3"]
    with pytest.raises(InputError, match=message):
        raise InputError(errors["row 3"])
    assert errors["row 3"].startswith(f"{path}, row 3")
    assert "\n" not in errors["row 3"]


@pytest.mark.parametrize("size", [2, 3, 100])
def test_parquet_agrees_with_the_table_read_whole(tmp_path, size):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table(
        {"x": [1.5, 2.5, 3.5, 4.5], "n": [1, 2**62, 3, 4], "flag": [True, False, True, True], "label": list("abab")}
    )
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=3)
    want = load_table(tmp_path / "t.parquet", form="numbers").train
    ids, inputs, errors = together(stream_table(tmp_path / "t.parquet", shape=(3,), size=size))
    assert (ids, errors) == ([f"row {i}" for i in range(4)], {})
    assert torch.equal(inputs, want.inputs.take(torch.arange(4)))


def test_an_empty_cell_of_parquet_is_named(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"x": [1, None, 3], "b": [True, True, None]}), tmp_path / "t.parquet")
    ids, inputs, errors = together(stream_table(tmp_path / "t.parquet", shape=(2,)))
    assert len(ids) == 3
    assert inputs.tolist() == [[1, 1]]
    assert "row 1, column 'x': the cell is empty" in errors["row 1"]
    assert "row 2, column 'b'" in errors["row 2"]


@pytest.fixture
def photos(tmp_path):
    for i in range(3):
        Image.fromarray(np.full((4, 4), 10 * i, dtype=np.uint8)).save(tmp_path / f"{i}.png")
    (tmp_path / "broken.png").write_bytes(b"no image")
    return tmp_path


IMAGES = ["0.png", "broken.png", "gone.png", "../0.png", "2.png"]


@pytest.mark.parametrize("size", [1, 2, 100])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_images_are_read_below_the_root_and_the_broken_ones_named(photos, size, kind):
    path = photos / f"t.{kind}"
    if kind == "csv":
        path.write_text("n,photo,kind\n" + "".join(f"{i},{name},a\n" for i, name in enumerate(IMAGES)))
    else:
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table({"n": list(range(5)), "photo": IMAGES}), path)
    ids, inputs, errors = together(stream_table(path, shape=(1, 4, 4), size=size))
    assert ids == IMAGES
    assert inputs[:, 0, 0, 0].tolist() == [0, 20]
    assert set(errors) == {"broken.png", "gone.png", "../0.png"}
    assert "must lead to a file below" in errors["../0.png"]


def test_a_row_without_its_image_is_called_by_its_number(photos):
    path = csv_file(photos, "photo,kind\n0.png,a\n1.png\n2.png,b\n")
    ids, _, errors = together(stream_table(path, shape=(1, 4, 4)))
    assert ids == ["0.png", "row 3", "2.png"]
    assert "1 fields where the heading names 2" in errors["row 3"]


def test_a_column_that_counts_the_rows_is_left_out(tmp_path):
    path = csv_file(tmp_path, ",x,label\n0,5,a\n1,6,b\n")
    assert together(stream_table(path, shape=(1,)))[1].tolist() == [[5], [6]]


def test_a_column_called_like_a_label_is_a_feature_where_the_model_takes_as_many(tmp_path):
    path = csv_file(tmp_path, "x,y\n3,4\n")
    assert together(stream_table(path, shape=(2,)))[1].tolist() == [[3, 4]]
    assert together(stream_table(path, shape=(1,)))[1].tolist() == [[3]]
    assert together(stream_table(path, shape=(1,), label="x"))[1].tolist() == [[4]]


REFUSED = [
    ("", (2,), {}, "the file is empty"),
    ("x,y\n", (2,), {}, "a heading but no rows"),
    ("1,2\n3,4\n", (2,), {}, "the first row must name the columns"),
    ("x,x\n3,4\n", (2,), {}, "column names must differ"),
    ("x,z\n3,4\n", (3,), {}, r"takes inputs of shape \(3,\), the table has 2 features"),
    ("x,y\n3,4\n", (2,), {"columns": ("x", "z")}, "column 'z' is missing, and the model needs it"),
    ("x,y\nred,4\nblue,5\n", (2,), {}, "column 'x': features must be numbers, got 'red'"),
    ("x,y\n3,4\n", (1, 4, 4), {}, "no column of image paths"),
    ("x,y\n3,4\n", (1, 4, 4), {"image": "photo"}, "no image column 'photo'"),
    ("label,y\n3,4\n", (1,), {}, "'label' and 'y' could be it"),
]


@pytest.mark.parametrize(("text", "shape", "options", "message"), REFUSED)
def test_what_is_wrong_with_the_whole_file_is_refused_before_the_first_chunk(tmp_path, text, shape, options, message):
    with pytest.raises(InputError, match=message):
        stream_table(csv_file(tmp_path, text), shape=shape, **options)


def test_refuses_what_is_no_text_wherever_it_lies(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"x,y\n\xff\xfe,4\n")
    with pytest.raises(InputError, match="not UTF-8 text"):
        stream_table(path, shape=(2,))
    path.write_bytes(b"x,y\n" + b"3,4\n" * 50_000 + b"\xff,4\n")
    with pytest.raises(InputError, match="not UTF-8 text"):
        list(stream_table(path, shape=(2,), size=10))
    with pytest.raises(InputError, match="there is no such file"):
        stream_table(tmp_path / "no.csv", shape=(2,))


def test_refuses_parquet_that_is_none_or_text(tmp_path, monkeypatch):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (tmp_path / "t.parquet").write_bytes(b"no parquet")
    with pytest.raises(InputError, match="not a readable Parquet file"):
        stream_table(tmp_path / "t.parquet", shape=(2,))
    pq.write_table(pa.table({"x": ["a", "b"]}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="column 'x': features must be numbers, got 'a'"):
        stream_table(tmp_path / "t.parquet", shape=(1,))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match="reading Parquet needs pyarrow"):
        stream_table(tmp_path / "t.parquet", shape=(1,))


# ---- forms


RNG = np.random.default_rng(0)


def written(tmp_path, columns, name="t.csv"):
    rows = zip(*columns.values(), strict=True)
    text = "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)])
    (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    return tmp_path / name


LABELS = ["a", "b"] * 20
PLAIN_X = RNG.normal(size=40).round(3)
SENTENCES = [f"the {i}th sentence of some words" for i in range(40)]


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        ({"x": PLAIN_X}, "vectors"),
        ({"x": PLAIN_X, "town": ["Lima", "Rome"] * 20}, "table"),
        ({"x": ["", *PLAIN_X[1:]]}, "table"),
        ({"x": PLAIN_X + 1e8}, "table"),
        ({"x": [1e30, *PLAIN_X[1:]]}, "table"),
        ({"x": PLAIN_X, "id": range(40)}, "table"),
        ({"day": ["2024-01-02", "2023-05-06"] * 20}, "table"),
        ({"text": SENTENCES}, "texts"),
        ({"id": range(40), "words": SENTENCES}, "texts"),
        ({"x": PLAIN_X, "text": SENTENCES}, "table"),
        ({"town": ["Lima", "Rome"] * 20}, "table"),
    ],
)
def test_a_table_comes_in_the_form_that_suits_its_columns(tmp_path, columns, kind):
    data = load_table(written(tmp_path, {**columns, "label": LABELS})).train
    assert data.kind == kind
    assert list(data.ids)[:2] == ["row 2", "row 3"]
    assert data.columns == (tuple(columns) if kind != "texts" else (list(columns)[-1],))
    if kind == "texts":
        assert data.inputs.texts[3] == SENTENCES[3]
        assert data.notes == (() if len(columns) == 1 else ("columns beside 'words' were left out: id",))


def test_a_form_can_be_asked_for(tmp_path):
    path = written(tmp_path, {"x": PLAIN_X + 1e8, "label": LABELS})
    assert load_table(path, form="numbers").train.kind == "vectors"
    assert load_table(path, form="table").train.kind == "table"
    gaps = written(tmp_path, {"x": ["", *PLAIN_X[1:]], "label": LABELS})
    assert load_table(gaps, form="numbers").train.kind == "table"
    with pytest.raises(InputError, match="row 2, column 'x': the cell is empty"):
        load_table(gaps, form="vectors")
    with pytest.raises(InputError, match="which column holds the texts"):
        load_table(gaps, form="texts")


def test_one_list_of_numbers_is_a_vector(tmp_path):
    vectors = RNG.normal(size=(6, 3)).astype(np.float32)
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps({"v": v.tolist(), "label": "ab"[i % 2]}) + "\n" for i, v in enumerate(vectors)))
    data = load_table(path).train
    assert data.kind == "vectors"
    np.testing.assert_array_equal(data.inputs.tensor.numpy(), vectors)


def twice(tmp_path, **options):
    """Read and stream a table with a stand-in for an encoder: the length of each cell as text."""
    path = written(
        tmp_path, {"code": ["007", "12"] * 20, "n": PLAIN_X, "words": SENTENCES, "label": LABELS}, name="r.csv"
    )

    def read(inputs, index):
        some = inputs.subset(index)
        if options["form"] == "texts":
            return torch.tensor([[float(len(text))] for text in some.texts]), {}
        cells = [
            [float(len(column.cells()[row] or "")) for column in some.columns.values()] for row in range(len(some))
        ]
        return torch.tensor(cells), {}

    return together(stream_table(path, shape=(), read=read, size=7, **options))


def test_rows_and_texts_are_streamed_to_their_encoder(tmp_path):
    ids, inputs, errors = twice(tmp_path, form="table", columns=("words", "n"), verbatim=("code",))
    assert (len(ids), errors) == (40, {})
    assert inputs[:, 2].tolist() == [float(len(text)) for text in SENTENCES]
    assert inputs[:, 0].tolist() == [3.0, 2.0] * 20
    ids, inputs, errors = twice(tmp_path, form="texts", columns=("words",))
    assert inputs[:, 0].tolist() == [float(len(text)) for text in SENTENCES]
    with pytest.raises(InputError, match=r"column 'word' is missing, and the model needs it; did you mean 'words'"):
        twice(tmp_path, form="table", columns=("word",))


def test_an_unclosed_quote_is_refused_with_its_row_when_read_and_when_streamed(tmp_path):
    lines = ["x,z,label", *(f"{i % 7}.5,{i % 5},{'ab'[i % 2]}" for i in range(60))]
    lines[12] = '1.5,2,"a'
    path = csv_file(tmp_path, "\n".join(lines) + "\n")
    with pytest.raises(InputError, match=r"t\.csv, row 13: a quote is opened and never closed"):
        load_table(path)
    with pytest.raises(InputError, match=r"t\.csv, row 13: a quote is opened and never closed"):
        list(stream_table(path, shape=(2,), size=5))


def test_a_column_without_a_name_stays_unless_it_counts_rows(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,,label\n" + "".join(f"{i % 3},{0.37 * i:.2f},{'ab'[i % 2]}\n" for i in range(30)))
    assert load_table(path).train.columns == ("x", "Unnamed: 1")
    path.write_text("x,,label\n" + "".join(f"{i % 3},{i},{'ab'[i % 2]}\n" for i in range(30)))
    split = load_table(path)
    assert split.train.columns == ("x",)
    assert any("without a name was left out" in note for note in split.train.notes)
