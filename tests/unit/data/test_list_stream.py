"""Mirror of src/anchored/data/list_stream.py: beside the reader that takes a list whole, whatever the chunks."""

import numpy as np
import pytest
import torch
from PIL import Image

from anchored._errors import InputError
from anchored.data import load_list
from anchored.data.list_stream import stream_list


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
