"""Mirror of src/anchored/data/sources.py: which loader is asked, and what holds whichever it was."""

import numpy as np
import pytest
import torch
from PIL import Image

from anchored._errors import InputError
from anchored.data import BUILT_IN, Dataset, Split, TensorInputs, open_source

X, Y = np.arange(12.0).reshape(6, 2), np.array([0, 1] * 3)


def test_parts_of_a_built_in_set():
    split = open_source("digits")
    assert isinstance(split, Split)
    assert torch.equal(open_source("digits", split="train").labels, split.train.labels)
    assert torch.equal(open_source("digits", split="test").labels, split.test.labels)


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name != "digits"])
def test_other_built_in_sets_need_a_root(name, tmp_path):
    with pytest.raises(InputError, match=f"{name}: where are its files"):
        open_source(name)
    with pytest.raises(InputError, match=f"anchored data {name} --root"):
        open_source(name, root=tmp_path)


def test_arrays_data_sets_and_torch_data_sets_from_python():
    assert len(open_source((X, Y)).train) == 6
    data = Dataset("own", TensorInputs(torch.zeros(2, 3)), torch.tensor([0, 1]), ("a", "b"))
    assert open_source(data).train is data
    assert open_source(Split(data, data), split="test") is data
    assert len(open_source(torch.utils.data.TensorDataset(torch.eye(2), torch.tensor([0, 1]))).train) == 2


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("digit", "neither a file, a folder nor a built-in data set; did you mean 'digits'"),
        ("no/such/file.csv", "neither a file"),
        ("", "the data has no name"),
        (3.5, "must have a length and items, got float"),
    ],
)
def test_what_is_no_source_is_refused(data, words):
    with pytest.raises(InputError, match=words):
        open_source(data)


def test_an_unknown_ending_is_refused(tmp_path):
    (tmp_path / "d.pdf").write_text("")
    with pytest.raises(InputError, match=r"must end in \.csv, .* got \.pdf"):
        open_source(tmp_path / "d.pdf")


def test_a_missing_test_part_is_refused():
    with pytest.raises(InputError, match="has no test part"):
        open_source((X, Y), split="test")


def test_a_second_file_can_be_the_test_part(tmp_path):
    (tmp_path / "a.csv").write_text("x,z,label\n1,2,a\n3,4,b\n")
    (tmp_path / "b.csv").write_text("z,label,x\n6,b,5\n")
    split = open_source(tmp_path / "a.csv", test=tmp_path / "b.csv")
    assert split.test.labels.tolist() == [1]
    assert split.test.inputs.take(torch.tensor([0])).tolist() == [[5.0, 6.0]]


def test_a_test_image_is_brought_to_the_shape_of_training(tmp_path):
    for place, size in (("a/x/1.png", 8), ("a/y/1.png", 8), ("b/x/1.png", 20)):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((size, size, 3), size, dtype=np.uint8)).save(tmp_path / place)
    assert open_source(tmp_path / "a", test=tmp_path / "b").test.inputs.shape == (3, 8, 8)


def test_the_models_shape_must_be_met():
    with pytest.raises(InputError, match=r"the model takes inputs of shape \(5,\), these are \(2,\)"):
        open_source((X, Y), shape=(5,))
    with pytest.raises(InputError, match=r"the model takes inputs of shape \(1, 28, 28\)"):
        open_source("digits", shape=(1, 28, 28))


def test_the_models_classes_must_be_met():
    with pytest.raises(InputError, match="y, row 1: label '1' was not seen"):
        open_source((X, Y), class_names=("0", "2"))
    with pytest.raises(InputError, match="digits: class '0' was not seen in training"):
        open_source("digits", class_names=("cat", "dog"))


def test_ignored_labels_are_not_looked_at_in_any_part():
    split = open_source("digits", class_names=("even", "odd"), labels="ignored")
    for part in (split.train, split.test):
        assert part.class_names == ("even", "odd")
        assert set(part.labels.tolist()) == {-1}
    with pytest.raises(InputError, match="class '0' was not seen in training"):
        open_source("digits", class_names=("even", "odd"), labels="optional")


def test_a_folder_of_texts_is_a_source_and_another_its_test_part(tmp_path):
    for place in ("a/x/1.txt", "a/y/1.txt", "b/y/2.txt"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(place)
    split = open_source(tmp_path / "a", test=tmp_path / "b")
    assert split.train.inputs.texts == ("a/x/1.txt", "a/y/1.txt")
    assert split.test.inputs.texts == ("b/y/2.txt",)
    assert split.test.labels.tolist() == [1]
    with pytest.raises(InputError, match=r"the model takes inputs of shape \(3,\), these are \(\)"):
        open_source(tmp_path / "a", shape=(3,))


def test_an_option_that_nobody_knows_is_refused():
    with pytest.raises(TypeError, match="lable"):
        open_source("digits", lable="y")
