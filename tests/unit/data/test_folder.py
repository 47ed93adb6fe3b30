"""Mirror of src/anchored/data/folder.py: layouts, names kept verbatim, and folders that cannot be learned from."""

import os

import numpy as np
import pytest
import torch
from PIL import Image

from anchored._errors import InputError
from anchored.data import load_folder


def picture(path, seed, size=(8, 8)):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, (*size, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)
    return pixels


@pytest.fixture
def folder(tmp_path):
    for j, name in enumerate(["dog", "cat"]):
        for i in range(3):
            picture(tmp_path / name / f"{i}.png", 10 * j + i)
    return tmp_path


def test_class_folders_become_classes_in_order_of_name(folder):
    data = load_folder(folder).train
    assert data.class_names == ("cat", "dog")
    assert list(data.ids) == [f"{name}/{i}.png" for name in ("cat", "dog") for i in range(3)]
    assert data.labels.tolist() == [0, 0, 0, 1, 1, 1]
    expected = np.random.default_rng(1).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    assert np.array_equal(data.inputs.take(torch.tensor([4]))[0].numpy(), expected.transpose(2, 0, 1))


@pytest.mark.parametrize("test_name", ["test", "val", "valid", "validation"])
def test_train_and_test_folders(tmp_path, test_name):
    for part in ("train", test_name):
        for j, name in enumerate("ab"):
            for i in range(2):
                picture(tmp_path / part / name / f"{i}.png", len(part) * 100 + 10 * j + i)
    split = load_folder(tmp_path)
    assert (len(split.train), len(split.test)) == (4, 4)
    assert split.test.ids[0] == f"{test_name}/a/0.png"


def test_a_test_class_unseen_in_training_is_named(tmp_path):
    for place in ("train/a", "train/b", "test/a", "test/z"):
        picture(tmp_path / place / "1.png", len(place))
    with pytest.raises(InputError, match=r"test/z .*label 'z' was not seen in training"):
        load_folder(tmp_path)


def test_a_class_called_train_beside_others_is_a_class(tmp_path):
    for name in ("train", "car"):
        picture(tmp_path / name / "1.png", len(name))
    assert load_folder(tmp_path).train.class_names == ("car", "train")


@pytest.mark.parametrize("name", ["猫", "naïve café", "<b>x", "a & b", "'; DROP TABLE", "${HOME}", "%s{0}", " x "])
def test_odd_class_names_are_kept_verbatim(tmp_path, name):
    picture(tmp_path / name / "1.png", 1)
    picture(tmp_path / "plain" / "1.png", 2)
    assert name in load_folder(tmp_path).train.class_names


def test_names_that_are_no_text_can_still_be_printed(tmp_path):
    os.makedirs(os.fsencode(tmp_path) + b"/\xff\xfe")
    picture(tmp_path / "plain" / "1.png", 2)
    (tmp_path / "plain" / "1.png").rename(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe/1.png"))
    picture(tmp_path / "plain" / "1.png", 3)
    data = load_folder(tmp_path).train
    " ".join([*data.class_names, *data.ids]).encode("utf-8")


def test_images_may_lie_deeper_and_other_files_are_noted(folder):
    picture(folder / "cat" / "more" / "deep.PNG", 99)
    (folder / "cat" / "notes.txt").write_text("x")
    (folder / "cat" / ".hidden.png").write_text("x")
    data = load_folder(folder).train
    assert "cat/more/deep.PNG" in data.ids
    assert "1 files that are not images were left out" in data.notes


def test_loops_of_links_end(folder):
    (folder / "cat" / "loop").symlink_to(folder / "cat")
    (folder / "dog" / "up").symlink_to(folder / "dog", target_is_directory=True)
    assert len(load_folder(folder).train) == 6


def test_linked_class_folders_are_followed(tmp_path):
    picture(tmp_path / "store" / "1.png", 1)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").symlink_to(tmp_path / "store")
    picture(tmp_path / "data" / "b" / "1.png", 2)
    assert load_folder(tmp_path / "data").train.class_names == ("a", "b")


def test_copies_are_noted(folder):
    (folder / "dog" / "copy.png").write_bytes((folder / "cat" / "0.png").read_bytes())
    (note,) = load_folder(folder).train.notes
    assert note == "the same image under different labels: 1 group, e.g. cat/0.png = dog/copy.png"


def test_an_empty_class_folder_is_noted(folder):
    (folder / "empty").mkdir()
    data = load_folder(folder).train
    assert data.class_names == ("cat", "dog")
    assert any(note.startswith("empty: no images") for note in data.notes)


def test_a_class_of_one_image_is_noted(folder):
    picture(folder / "fox" / "1.png", 77)
    assert any("one sample only of class 'fox'" in note for note in load_folder(folder).train.notes)


def test_images_of_different_sizes_are_brought_to_one(folder):
    picture(folder / "cat" / "wide.png", 5, size=(8, 30))
    assert load_folder(folder).train.inputs.shape == (3, 8, 8)
    assert load_folder(folder, side=5).train.inputs.shape == (3, 5, 5)
    assert load_folder(folder, shape=(1, 6, 7)).train.inputs.shape == (1, 6, 7)


def empty(path):
    path.mkdir()


def flat(path):
    picture(path / "1.png", 0)


def one_class(path):
    picture(path / "only" / "1.png", 0)
    picture(path / "only" / "2.png", 1)


def only_text(path):
    (path / "a").mkdir(parents=True)
    (path / "a" / "x.txt").write_text("x")


def broken(path):
    picture(path / "a" / "1.png", 0)
    picture(path / "b" / "1.png", 1, size=(64, 64))
    file = path / "b" / "1.png"
    file.write_bytes(file.read_bytes()[:300])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda _path: None, "there is no such folder"),
        (empty, "the folder holds no images"),
        (flat, "1 images but no class folders; put each class's images in a folder named after it"),
        (one_class, "all 2 samples are of class 'only'"),
        (only_text, "its class folders hold no images"),
        (broken, r"b/1\.png: the image is damaged or cut short"),
    ],
)
def test_folders_that_cannot_be_learned_from(tmp_path, make, words):
    make(tmp_path / "d")
    with pytest.raises(InputError, match=words) as caught:
        load_folder(tmp_path / "d")
    assert "\n" not in str(caught.value)


def test_prediction_takes_a_flat_folder_or_unknown_folders(tmp_path, folder):
    names = ("cat", "dog")
    flat(tmp_path / "flat")
    assert not load_folder(tmp_path / "flat", class_names=names, labels="optional").train.labelled
    picture(tmp_path / "batches" / "monday" / "1.png", 1)
    assert load_folder(tmp_path / "batches", class_names=names, labels="optional").train.labels.tolist() == [-1]
    with pytest.raises(InputError, match="label 'monday' was not seen"):
        load_folder(tmp_path / "batches", class_names=names)


def test_prediction_uses_known_folders_as_labels(folder, tmp_path):
    target = tmp_path / "new"
    picture(target / "dog" / "1.png", 4)
    data = load_folder(target, class_names=("cat", "dog"), labels="optional").train
    assert data.labels.tolist() == [1]
    assert load_folder(target, class_names=("cat", "dog"), labels="ignored").train.labels.tolist() == [-1]
