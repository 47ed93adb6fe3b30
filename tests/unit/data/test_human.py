"""Mirror of src/anchored/data/human.py: labels that people gave, the truth kept beside, and layouts that do not fit."""

import csv

import numpy as np
import pytest
import torch

from anchored._errors import InputError
from anchored.data import load_agnews, load_cifar10n, open_source
from anchored.data.human import CIFAR10N, ORIGINS

TRUTH = np.arange(20) % 10


@pytest.fixture
def root(tmp_path):
    rng = np.random.default_rng(0)
    folder = tmp_path / "cifar-10-batches-bin"
    folder.mkdir()
    for i, name in enumerate([*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]):
        labels = TRUTH[4 * i : 4 * i + 4] if i < 5 else np.arange(4)
        rows = np.concatenate([labels[:, None], rng.integers(0, 256, (4, 3072))], axis=1).astype(np.uint8)
        (folder / f"{name}.bin").write_bytes(rows.tobytes())
    save(tmp_path)
    return tmp_path


def save(root, **changes):
    (root / "cifar10n").mkdir(exist_ok=True)
    arrays = {name: (TRUTH + i) % 10 for i, name in enumerate(CIFAR10N, start=1)} | {"clean": TRUTH} | changes
    np.savez(root / "cifar10n" / "labels.npz", **{k: np.asarray(v) for k, v in arrays.items() if v is not None})


@pytest.mark.parametrize("labels", CIFAR10N)
def test_cifar10_under_the_labels_of_people(root, labels):
    split = load_cifar10n(root, labels)
    plain = open_source("cifar10", root=root)
    place = CIFAR10N.index(labels) + 1
    assert split.train.labels.tolist() == [(i + place) % 10 for i in TRUTH]
    assert torch.equal(split.train.clean_labels, plain.train.labels)
    assert torch.equal(split.train.inputs.tensor, plain.train.inputs.tensor)
    assert torch.equal(split.test.labels, plain.test.labels)
    assert split.test.clean_labels is None
    assert split.train.name == split.test.name == f"cifar10n-{labels}"
    assert torch.equal(open_source(f"cifar10n-{labels}", root=root).train.labels, split.train.labels)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"worse": None}, "must hold an array called 'worse', got aggre, "),
        ({"clean": None}, "must hold an array called 'clean'"),
        ({"worse": TRUTH[:5]}, r"array 'worse': 20 whole numbers in 0\.\.9 are needed.* got int64 of shape \(5,\)"),
        ({"worse": TRUTH + 1}, r"array 'worse': 20 whole numbers in 0\.\.9"),
        ({"worse": TRUTH - 1}, r"array 'worse': 20 whole numbers in 0\.\.9"),
        ({"worse": TRUTH / 2}, "got float64"),
        ({"clean": np.roll(TRUTH, 1)}, "array 'clean', row 0: it is not the label of this image of CIFAR-10"),
    ],
)
def test_labels_that_do_not_fit_the_images_are_refused(root, changes, words):
    save(root, **changes)
    with pytest.raises(InputError, match=rf"labels\.npz.*{words}"):
        load_cifar10n(root, "worse")


def test_unknown_labels_and_single_arrays_are_refused(root):
    with pytest.raises(InputError, match="unknown labels of CIFAR-10N 'worst'; did you mean 'worse'"):
        load_cifar10n(root, "worst")
    with (root / "cifar10n" / "labels.npz").open("wb") as file:
        np.save(file, TRUTH)
    with pytest.raises(InputError, match="must hold an array called 'worse', got a single array"):
        load_cifar10n(root, "worse")


def news(root, part, *rows, heading=("text", "label", "truth")):
    (root / "agnews").mkdir(exist_ok=True)
    with (root / "agnews" / f"{part}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([heading, *rows])


def test_news_with_the_labels_of_people(tmp_path):
    news(tmp_path, "train", ["a, b\nand “c”", "World", "Sports"], ["d", "Sports", "Sports"], ["e", "World", "Business"])
    news(tmp_path, "test", ["f", "Business", "World"])
    split = open_source("agnews", root=tmp_path)
    assert split.train.kind == "texts"
    assert split.train.class_names == split.test.class_names == ("Business", "Sports", "World")
    assert split.train.inputs.texts == ("a, b\nand “c”", "d", "e")
    assert split.train.labels.tolist() == [2, 1, 2]
    assert split.train.clean_labels.tolist() == [1, 1, 0]
    assert (split.test.labels.tolist(), split.test.clean_labels) == ([2], None)


def test_news_without_a_column_or_a_label_are_refused(tmp_path):
    news(tmp_path, "train", ["a", "World", "World"])
    with pytest.raises(InputError, match=r"agnews/test\.csv is not there; .*`anchored data agnews --root"):
        load_agnews(tmp_path)
    news(tmp_path, "test", ["a", "World"], heading=("text", "label"))
    with pytest.raises(InputError, match=r"test\.csv: there is no column 'truth'"):
        load_agnews(tmp_path)
    news(tmp_path, "test", ["a", "World", "World"], ["b", "", "World"])
    with pytest.raises(InputError, match=r"test\.csv, row 3: the label is empty"):
        load_agnews(tmp_path)


def test_each_set_says_in_one_line_where_its_files_come_from():
    assert set(ORIGINS) == {*(f"cifar10n-{labels}" for labels in CIFAR10N), "agnews"}
    for text in ORIGINS.values():
        assert "https://" in text
        assert "\n" not in text
