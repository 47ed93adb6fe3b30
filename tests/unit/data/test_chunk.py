"""Mirror of src/anchored/data/chunk.py: chunks put together are the data, and what cannot be read keeps its place."""

import numpy as np
import pytest
import torch
from PIL import Image

from anchored._errors import InputError
from anchored.data import Dataset, FileInputs, TensorInputs
from anchored.data.chunk import Chunk, chunk_size, chunks, read_each


def data_of(inputs, ids=()):
    return Dataset("toy", inputs, torch.full((len(inputs),), -1), (), ids=ids)


@pytest.mark.parametrize("size", [1, 3, 7, 100, None])
def test_chunks_put_together_are_the_data(size):
    x = torch.arange(14.0).view(7, 2)
    parts = list(chunks(data_of(TensorInputs(x)), size=size))
    assert torch.equal(torch.cat([part.inputs for part in parts]), x)
    assert [name for part in parts for name in part.ids] == [f"row {i}" for i in range(7)]
    assert all(len(part.ids) <= (size or 7) and not part.errors for part in parts)


@pytest.fixture
def files(tmp_path):
    """Five files: the second is no image, the fourth is not there."""
    for i in range(5):
        Image.fromarray(np.full((4, 4), 10 * i, dtype=np.uint8)).save(tmp_path / f"{i}.png")
    (tmp_path / "1.png").write_bytes(b"no image")
    (tmp_path / "3.png").unlink()
    return [tmp_path / f"{i}.png" for i in range(5)]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_broken_file_keeps_its_place_and_the_others_go_on(files, size):
    names = [path.name for path in files]
    parts = list(chunks(data_of(FileInputs(files, (1, 4, 4)), names), size=size))
    assert [name for part in parts for name in part.ids] == names
    pixels = torch.cat([part.inputs.to(torch.uint8) for part in parts])
    assert pixels[:, 0, 0, 0].tolist() == [0, 20, 40]
    errors = {part.ids[place]: reason for part in parts for place, reason in part.errors.items()}
    assert set(errors) == {"1.png", "3.png"}
    assert "not an image" in errors["1.png"]
    assert "there is no such file" in errors["3.png"]


def test_nothing_readable_has_the_shape_of_an_input(files):
    inputs, errors = read_each(FileInputs(files, (1, 4, 4)), torch.tensor([3, 1]))
    assert inputs.shape == (0, 1, 4, 4)
    assert set(errors) == {0, 1}


def test_the_size_of_a_chunk_is_bounded_in_rows_and_values():
    for shape in [(1,), (20,), (1, 28, 28), (3, 224, 224), (2**26,)]:
        n, values = chunk_size(shape), int(np.prod(shape))
        assert 1 <= n <= 4096
        assert n == 1 or n * values <= 2**20


def test_refuses_a_chunk_that_leaves_a_sample_open():
    with pytest.raises(InputError, match="each of its 3 samples, got 1 and 1"):
        Chunk(["a", "b", "c"], torch.zeros(1, 2), {0: "damaged"})
