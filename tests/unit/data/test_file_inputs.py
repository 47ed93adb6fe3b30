"""Mirror of src/anchored/data/file_inputs.py: disk and memory give the same pixels; windows come from the original."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from anchored._errors import InputError
from anchored._progress import telling
from anchored._random import per_index_uniform
from anchored.data import Batches, Compose, Dataset, FileInputs, HorizontalFlip, RandomResizedCrop, TensorInputs
from anchored.data.duplicates import find_duplicates
from anchored.data.file_inputs import below, choose_shape, files_below, image_inputs
from anchored.data.images import ImageHead


@pytest.fixture
def paths(tmp_path):
    rng = np.random.default_rng(0)
    files = []
    for i in range(12):
        files.append(tmp_path / f"{i}.png")
        Image.fromarray(rng.integers(0, 256, (20 + i, 30, 3), dtype=np.uint8)).save(files[-1])
    return files


def test_memory_and_disk_give_the_same_pixels(paths):
    memory, disk = image_inputs(paths), image_inputs(paths, memory_limit=0)
    assert isinstance(memory, TensorInputs)
    assert isinstance(disk, FileInputs)
    assert memory.shape == disk.shape
    index = torch.tensor([5, 0, 11, 5])
    assert torch.equal(memory.take(index), disk.take(index))
    assert torch.equal(memory.subset(index).take(torch.tensor([2])), disk.subset(index).take(torch.tensor([2])))


@pytest.mark.parametrize("workers", [0, 3])
def test_batches_from_disk_do_not_depend_on_workers(paths, workers):
    data = Dataset("files", image_inputs(paths, memory_limit=0), torch.arange(12) % 2, ("a", "b"))
    augment = Compose(RandomResizedCrop(16), HorizontalFlip())

    def inputs(count, size):
        batches = Batches(data, batch_size=size, augment=augment, workers=count)
        return torch.cat([batch.inputs for batch in batches.epoch(torch.arange(12), seed=0, epoch=1)])

    assert inputs(workers, 5).shape == (12, 3, 16, 16)
    assert torch.equal(inputs(workers, 5), inputs(0, 12))


def test_a_window_comes_from_the_original_image(tmp_path):
    # Left half red, right half green, much larger than the shape: the window is where boxes says it is.
    pixels = np.zeros((400, 800, 3), dtype=np.uint8)
    pixels[:, :400, 0] = 255
    pixels[:, 400:, 1] = 255
    Image.fromarray(pixels).save(tmp_path / "i.png")
    crop = RandomResizedCrop(8, scale=(0.01, 0.02))
    u = per_index_uniform(0, torch.arange(30), crop.draws, "crop")
    inputs = FileInputs([tmp_path / "i.png"] * 30, (3, 32, 32))
    windows = inputs.take_cropped(torch.arange(30), crop, u)
    for window, (_, left, _, width) in zip(
        windows, crop.boxes(u, torch.full((30,), 400), torch.full((30,), 800)).tolist(), strict=True
    ):
        if left + width <= 400:
            assert (window[0] == 255).all()
        elif left >= 400:
            assert (window[1] == 255).all()


@pytest.mark.parametrize(
    ("heads", "side", "shape"),
    [
        ([ImageHead(28, 28, 1)] * 3, None, (1, 28, 28)),
        ([ImageHead(28, 28, 1), ImageHead(28, 28, 3)], None, (3, 28, 28)),
        ([ImageHead(100, 50, 3)] * 2, None, (3, 100, 50)),
        ([ImageHead(600, 600, 3)] * 2, None, (3, 224, 224)),
        ([ImageHead(40, 60, 3), ImageHead(90, 50, 3), ImageHead(10, 10, 3)], None, (3, 40, 40)),
        ([ImageHead(600, 600, 3)], 64, (3, 64, 64)),
    ],
)
def test_the_shape_is_chosen_from_the_sizes(heads, side, shape):
    assert choose_shape(heads, side=side) == shape


def test_a_broken_file_is_found_when_the_source_is_opened(paths):
    paths[7].write_bytes(paths[7].read_bytes()[:200])
    with pytest.raises(InputError, match=r"7\.png: the image is damaged or cut short"):
        image_inputs(paths)


def test_images_for_a_model_of_vectors_are_refused(paths):
    with pytest.raises(InputError, match="the model takes vectors of 64 features"):
        image_inputs(paths, shape=(64,))


def test_a_shape_of_two_channels_is_refused():
    with pytest.raises(InputError, match=r"got \(2, 8, 8\)"):
        FileInputs(["a.png"], (2, 8, 8))


def test_large_images_are_evaluated_with_a_margin():
    assert FileInputs([], (3, 224, 224)).resize == pytest.approx(256 / 224)
    assert FileInputs([], (3, 32, 32)).resize == 1.0


@pytest.mark.parametrize("written", ["a.png", "x/a.png", "./x/../a.png", "x//a.png", "/data/root/a.png", "..a.png"])
def test_paths_below_the_root_are_taken(written):
    assert Path("/data/root") in below(Path("/data/root"), written, where="l").parents


@pytest.mark.parametrize(
    "written", ["../a.png", "x/../../a.png", "/etc/passwd", "/data/rooted/a.png", "..", ".", "", "a\0.png"]
)
def test_paths_that_lead_out_are_refused(written):
    with pytest.raises(InputError, match=r"^list\.txt, row 3: a path must lead to a file below /data/root, got"):
        below(Path("/data/root"), written, where="list.txt, row 3")


def test_files_that_a_list_names_must_be_there(paths):
    root = paths[0].parent
    assert files_below(root, ["3.png", "./0.png"], where=str) == [paths[3], paths[0]]
    (root / "folder.png").mkdir()
    for written in ("none.png", "folder.png"):
        with pytest.raises(InputError, match=rf"^1: there is no file .*{written}; .*--data-root"):
            files_below(root, ["3.png", written], where=str)


def test_reading_many_images_is_told_with_the_time_left(tmp_path, monkeypatch):
    for i in range(3):
        Image.new("L", (4, 4), i).save(tmp_path / f"{i}.png")
    paths, lines = sorted(tmp_path.iterdir()), []
    monkeypatch.setattr("anchored._progress._BETWEEN_LINES", 0.0)
    with telling(lines.append):
        image_inputs(paths)
        assert find_duplicates(paths) == []
    whats = [line.partition(":")[0] for line in lines]
    assert set(whats) >= {"reading the sizes of images", "looking for files that come twice"}
    assert all(line.endswith(" left") for line in lines)
