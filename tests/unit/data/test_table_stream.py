"""Mirror of src/anchored/data/table_stream.py: beside the reader that takes a table whole, whatever the chunks."""

import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from anchored._errors import InputError
from anchored.data import load_table
from anchored.data.table_stream import stream_table


def csv_file(tmp_path, text, name="t.csv"):
    (tmp_path / name).write_bytes(text.encode())
    return tmp_path / name


def together(parts):
    """Ids, inputs and errors by id, of all chunks."""
    parts = list(parts)
    return (
        [name for part in parts for name in part.ids],
        torch.cat([part.inputs for part in parts]),
        {part.ids[place]: reason for part in parts for place, reason in part.errors.items()},
    )


PLAIN = "x,y2,label\n1,2.5,a\n3,-4e2,b\n5,6,a\n7,8,b\n9,10,a\n"
WAYS = [
    PLAIN,
    PLAIN.replace(",", ";"),
    PLAIN.replace(",", "\t"),
    PLAIN.replace("1,2", " 1 , 2"),
    "\ufeff" + PLAIN,
    PLAIN.replace("\n", "\r\n"),
    PLAIN.rstrip("\n"),
    PLAIN.replace("3,", "\n\n3,"),
    "\n" + PLAIN,
    PLAIN.replace("5,6,a", '"5","6","a, ""b"""'),
    PLAIN.replace("5,6,a", '5,6,"two\nlines"'),
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
    ("nan,4", "column 'x': features must be finite in single precision, got nan"),
    ("4,1e39", r"column 'y': features must be finite in single precision, got 1e\+39"),
    ("4", "1 fields where the heading names 2"),
    ("4,5,6", "3 fields where the heading names 2"),
    ("  ", "1 fields where the heading names 2"),
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
    want = load_table(tmp_path / "t.parquet").train
    ids, inputs, errors = together(stream_table(tmp_path / "t.parquet", shape=(3,), size=size))
    assert (ids, errors) == ([f"row {i}" for i in range(4)], {})
    assert torch.equal(inputs, want.inputs.take(torch.arange(4)))


def test_an_empty_cell_of_parquet_is_named(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"x": [1, None, 3], "b": [True, True, None]}), tmp_path / "t.parquet")
    ids, inputs, errors = together(stream_table(tmp_path / "t.parquet", shape=(2,)))
    assert len(ids) == 3
    assert inputs.tolist() == [[1, 1]]
    assert "row 1, column 'x': features must be finite in single precision" in errors["row 1"]
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
    ("1,2\n3,4\n", (2,), {}, "it must name the columns"),
    ("x,x\n3,4\n", (2,), {}, "column names must differ"),
    ("x,z\n3,4\n", (3,), {}, r"takes inputs of shape \(3,\), the table has 2 features"),
    ("x,y\n3,4\n", (2,), {"columns": ("x", "z")}, "column 'z' is missing, and the model needs it"),
    ("x,y\nred,4\nblue,5\n", (2,), {}, "column 'x': features must be numbers, got 'red'"),
    ("x,y\n3,4\n", (1, 4, 4), {}, "no column of image paths"),
    ("x,y\n3,4\n", (1, 4, 4), {"image": "photo"}, "no image column 'photo'"),
    ("label,y\n3,4\n", (1,), {}, "both 'label' and 'y' could be it"),
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
    pq.write_table(pa.table({"x": ["1", "2"]}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="column 'x': features must be numbers, got '1'"):
        stream_table(tmp_path / "t.parquet", shape=(1,))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match="reading Parquet needs pyarrow"):
        stream_table(tmp_path / "t.parquet", shape=(1,))
