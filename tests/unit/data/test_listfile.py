"""Mirror of src/anchored/data/listfile.py: class ids kept, nothing outside the root; a list in chunks is the list."""

import numpy as np
import pytest
import torch
from PIL import Image

from anchored._errors import InputError
from anchored.data import FileInputs, listfile, load_list, stream_list


@pytest.fixture
def root(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("a.png", "b c.png", "d.png"):
        Image.fromarray(rng.integers(0, 256, (6, 6, 3), dtype=np.uint8)).save(tmp_path / name)
    return tmp_path


def write(root, text):
    (root / "list.txt").write_text(text, encoding="utf-8")
    return root / "list.txt"


def test_reads_paths_with_spaces_and_keeps_the_class_ids(root):
    data = load_list(write(root, "a.png 3\nb c.png 0\n\nd.png\t3\n")).train
    assert list(data.ids) == ["a.png", "b c.png", "d.png"]
    assert data.labels.tolist() == [3, 0, 3]
    assert data.class_names == ("0", "1", "2", "3")
    assert any("no sample of class '1', '2'" in note for note in data.notes)


def test_after_a_tab_comes_the_label_whatever_the_path_holds(root):
    data = load_list(write(root, "b c.png\t0\nd.png\t1\n")).train
    assert list(data.ids) == ["b c.png", "d.png"]
    assert data.labels.tolist() == [0, 1]


def test_the_root_may_be_elsewhere(root, tmp_path_factory):
    other = tmp_path_factory.mktemp("lists")
    assert len(load_list(write(other, "a.png 0\nd.png 1\n"), root=root).train) == 2


def test_the_first_classes_only(root):
    data = load_list(write(root, "a.png 0\nb c.png 1\nd.png 70\n"), below_label=50).train
    assert len(data) == 2
    assert data.k == 2


def test_a_long_list_streams_without_being_looked_through(root, monkeypatch):
    monkeypatch.setattr(listfile, "_LARGE", 2)
    data = load_list(write(root, "a.png 0\nb c.png 1\nd.png 1\n")).train
    assert isinstance(data.inputs, FileInputs)
    assert data.inputs.shape == (3, 224, 224)


def test_prediction_may_go_without_labels(root):
    data = load_list(write(root, "a.png\nb c.png\n"), class_names=("0", "1"), labels="optional").train
    assert data.labels.tolist() == [-1, -1]
    assert list(data.ids) == ["a.png", "b c.png"]


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("", {}, "the list names no file"),
        ("a.png 0\nd.png\n", {}, "row 2: a line must be `path label` with a whole number, got 'd.png'"),
        ("a.png x\n", {}, "row 1: a line must be"),
        ("a.png -1\n", {}, "row 1: a line must be"),
        ("a.png 0\n../d.png 1\n", {}, "row 2: a path must lead to a file below"),
        ("a.png 0\n/etc/passwd 1\n", {}, "row 2: a path must lead to a file below"),
        ("a.png 0\n\nnone.png 1\n", {}, r"row 3: there is no file .*none\.png"),
        ("a.png 0\nd.png 0\n", {}, "all 2 samples are of class '0'"),
        ("a.png 0\nd.png 7\n", {"class_names": ("0", "1")}, "row 2: label '7' was not seen in training"),
        ("a.png 60\nd.png 70\n", {"below_label": 50}, "names no file with a label below 50"),
    ],
)
def test_each_refusal_names_its_row(root, text, options, words):
    with pytest.raises(InputError, match=rf"list\.txt.*{words}"):
        load_list(write(root, text), **options)


def test_unreadable_lists_are_refused(root):
    with pytest.raises(InputError, match="no such file"):
        load_list(root / "none.txt")
    (root / "list.txt").write_bytes(b"\xff\xfea.png 0")
    with pytest.raises(InputError, match="not UTF-8"):
        load_list(root / "list.txt")


@pytest.fixture
def photos(tmp_path):
    for i in range(4):
        Image.fromarray(np.full((4, 4), 10 * i, dtype=np.uint8)).save(tmp_path / f"a {i}.png")
    return tmp_path


@pytest.mark.parametrize("size", [1, 3, 100, None])
@pytest.mark.parametrize(
    "text",
    ["a 0.png 7\na 1.png 0\na 3.png 7\n", "a 0.png\n\na 1.png\r\na 3.png", "\ufeffa 0.png 1\na 1.png 2\na 3.png 2"],
)
def test_agrees_with_the_list_read_whole(photos, text, size):
    (photos / "l.txt").write_bytes(text.encode())
    want = load_list(photos / "l.txt", labels="ignored", class_names=("x", "y"), shape=(1, 4, 4)).train
    parts = list(stream_list(photos / "l.txt", shape=(1, 4, 4), size=size))
    assert [name for part in parts for name in part.ids] == list(want.ids) == ["a 0.png", "a 1.png", "a 3.png"]
    assert torch.equal(torch.cat([part.inputs for part in parts]), want.inputs.take(torch.arange(3)))


def test_a_path_that_leads_nowhere_is_an_error_of_its_row(photos):
    (photos / "l.txt").write_text("a 0.png 1\ngone.png 1\n../x.png 1\na 2.png 0\n")
    (chunk,) = stream_list(photos / "l.txt", shape=(1, 4, 4))
    assert chunk.inputs[:, 0, 0, 0].tolist() == [0, 20]
    assert "there is no such file" in chunk.errors[1]
    assert "row 3: a path must lead to a file below" in chunk.errors[2]


def test_paths_start_at_the_root(photos, tmp_path_factory):
    path = tmp_path_factory.mktemp("lists") / "l.lst"
    path.write_text("a 1.png\n")
    (chunk,) = stream_list(path, shape=(1, 4, 4), root=photos)
    assert chunk.inputs[0, 0, 0, 0] == 10


def test_refuses_a_list_that_is_none(photos):
    path = photos / "l.txt"
    path.write_text("\n \n")
    with pytest.raises(InputError, match="the list names no file"):
        stream_list(path, shape=(1, 4, 4))
    with pytest.raises(InputError, match="is a list of images, but the model takes vectors of 8 features"):
        stream_list(path, shape=(8,))
    path.write_bytes(b"\xff\n")
    with pytest.raises(InputError, match="not UTF-8 text"):
        stream_list(path, shape=(1, 4, 4))
    with pytest.raises(InputError, match="cannot be read"):
        stream_list(photos / "no.txt", shape=(1, 4, 4))
