"""Mirror of src/anchored/data/labels.py: names verbatim, numbers in order, unseen ones refused with their place."""

import pytest
import torch

from anchored._errors import InputError
from anchored.data import Dataset, TensorInputs
from anchored.data.labels import check_classes, encode_labels, order_names, review_classes, review_if_trained_on


def test_codes_point_back_at_the_names():
    values = ["猫", "<b>dog</b>", "a & b", "猫"]
    codes, names = encode_labels(values, None, where=str)
    assert [names[c] for c in codes.tolist()] == values


def test_whole_numbers_are_ordered_as_numbers():
    assert order_names({"10", "9", "1"}) == ("1", "9", "10")
    assert order_names({"01", "1"}) == ("01", "1")


def test_known_names_keep_their_codes():
    codes, names = encode_labels(["c", "a"], ("a", "b", "c"), where=str)
    assert codes.tolist() == [2, 0]
    assert names == ("a", "b", "c")


def test_an_unseen_label_is_refused_with_its_place_and_the_nearest_name():
    with pytest.raises(InputError, match=r"^f\.csv, row 1: label 'catt' was not seen in training; did you mean 'cat'"):
        encode_labels(["cat", "catt"], ("cat", "dog"), where=lambda i: f"f.csv, row {i}")


def dataset(labels, names):
    return Dataset("toy", TensorInputs(torch.zeros(len(labels), 2)), torch.tensor(labels), names)


def test_one_class_is_refused():
    with pytest.raises(InputError, match="toy: all 3 samples are of class 'b'; training needs at least two classes"):
        review_classes(dataset([1, 1, 1], ("a", "b")))


def test_no_labels_at_all_are_refused():
    with pytest.raises(InputError, match="no sample has a label"):
        review_classes(dataset([-1, -1], ("a", "b")))


def test_a_class_with_one_sample_or_none_is_noted():
    notes = review_classes(dataset([0, 0, 1], ("a", "b", "c"))).notes
    assert any("no sample of class 'c'" in note for note in notes)
    assert any("one sample only of class 'b'" in note for note in notes)
    assert review_classes(dataset([0, 0, 1, 1], ("a", "b"))).notes == ()


def test_many_small_classes_make_one_short_note():
    (note,) = review_classes(dataset(list(range(20)), tuple(f"c{i:02}" for i in range(20)))).notes
    assert "and 15 more" in note


def test_what_has_no_label_stays_without():
    codes, names = encode_labels(["b", None, "a"], None, where=str)
    assert (codes.tolist(), names) == ([1, -1, 0], ("a", "b"))
    codes, names = encode_labels([None, None], ("x",), where=str)
    assert (codes.tolist(), names) == ([-1, -1], ("x",))
    with pytest.raises(InputError, match=r"^2: label 'z' was not seen in training"):
        encode_labels(["x", None, "z"], ("x",), where=str)


def test_only_data_to_be_trained_on_is_reviewed():
    one_class = Dataset("d", TensorInputs(torch.zeros(2, 1)), torch.tensor([0, 0]), ("a", "b"))
    assert review_if_trained_on(one_class, ("a", "b"), "required", where="f") is one_class
    assert review_if_trained_on(one_class, None, "optional", where="f") is one_class
    with pytest.raises(InputError, match=r"^f: all 2 samples are of class 'a'"):
        review_if_trained_on(one_class, None, "required", where="f")


def test_names_that_look_alike_are_noted():
    data = Dataset("toy", TensorInputs(torch.zeros(6, 1)), torch.arange(6) % 3, ("C", "c", "d"))
    assert any("classes 'C' and 'c' differ in the case" in note for note in review_classes(data).notes)
    data = Dataset("toy", TensorInputs(torch.zeros(6, 1)), torch.arange(6) % 3, ("b", "c", "d"))
    assert review_classes(data).notes == ()


def test_control_characters_are_no_name():
    data = Dataset("toy", TensorInputs(torch.zeros(4, 1)), torch.arange(4) % 2, ("a", "c\0d"))
    with pytest.raises(InputError, match=r"t\.csv: a class name may not hold control characters, got 'c\\x00d'"):
        review_classes(data, where="t.csv")


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([f"{i / 7:.3f}" for i in range(1, 41)] * 5, "the label is continuous"),
        ([str(i) for i in range(12)], "look like a count or an amount"),
        ([f"id{i}" for i in range(12)], "look like an id or a free text"),
    ],
)
def test_what_is_no_class_is_refused(cells, message):
    with pytest.raises(InputError, match=message):
        check_classes(cells, where="t")


@pytest.mark.parametrize("cells", [["0.5", "1.5"] * 10, ["a", "b", "c"], [str(i) for i in range(9)], ["nan", "1"] * 9])
def test_few_values_are_classes(cells):
    check_classes(cells, where="t")
