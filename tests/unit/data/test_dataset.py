"""Mirror of src/anchored/data/dataset.py: what belongs to a sample stays with it."""

import pytest
import torch

from anchored._errors import InputError
from anchored.data import UNLABELLED, Dataset, RowIds, Split, TensorInputs, TextInputs


def toy(**changes):
    values = {
        "name": "toy",
        "inputs": TensorInputs(torch.arange(8.0).view(4, 2)),
        "labels": torch.tensor([0, 1, 2, 1]),
        "class_names": ("a", "b", "c"),
        "ids": ["one", "two", "three", "four"],
    }
    return Dataset(**(values | changes))


def test_a_subset_keeps_everything_that_belongs_to_a_sample():
    part = toy(clean_labels=torch.tensor([2, 2, 0, 0])).subset(torch.tensor([3, 0]))
    assert part.inputs.take(torch.tensor([0, 1])).tolist() == [[6.0, 7.0], [0.0, 1.0]]
    assert (part.labels.tolist(), part.clean_labels.tolist(), list(part.ids)) == ([1, 0], [0, 2], ["four", "one"])
    assert part.class_names == ("a", "b", "c")


def test_counts_have_one_entry_per_class_even_for_absent_ones():
    assert toy(labels=torch.tensor([0, 0, UNLABELLED, 1])).counts.tolist() == [2, 1, 0]


def test_labelled_means_every_sample():
    assert toy().labelled
    assert not toy(labels=torch.tensor([0, 0, UNLABELLED, 1])).labelled


def test_rows_are_numbered_when_they_have_no_names_and_keep_their_number():
    part = toy(ids=()).subset(torch.tensor([3, 1])).subset(torch.tensor([0]))
    assert list(part.ids) == ["row 3"]
    assert list(RowIds(torch.arange(5))[3:]) == ["row 3", "row 4"]


def test_with_labels_keeps_the_clean_ones_unless_told():
    clean = torch.tensor([0, 1, 2, 1])
    noisy = toy().with_labels(torch.tensor([1, 1, 1, 1]), clean_labels=clean)
    assert noisy.with_labels(clean).clean_labels is clean
    assert toy().with_labels(clean).clean_labels is None


def test_notes_add_up():
    assert toy().with_notes("x").with_notes("y", "z").notes == ("x", "y", "z")
    assert Split(toy()).test is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"labels": torch.tensor([0, 1])}, "labels must have one entry per input, got 2 for 4"),
        ({"ids": ["a"]}, "ids must have one entry per input"),
        ({"labels": torch.tensor([0, 1, 2, 3])}, r"labels must lie in 0..2, or be -1 for none, got values from 0 to 3"),
        ({"labels": torch.tensor([0, 1, 2, -2])}, "got values from -2 to 2"),
        ({"clean_labels": torch.tensor([0, 1, 2, 9])}, "clean_labels must lie in"),
        ({"labels": torch.zeros(4)}, "must be .* int64"),
        ({"class_names": ("a", "b", "a")}, "got 'a' twice"),
    ],
)
def test_refuses_what_does_not_fit_together(changes, words):
    with pytest.raises(InputError, match=words):
        toy(**changes)


def test_what_was_confirmed_stays_with_its_samples_and_must_fit():
    part = toy(confirmed=torch.tensor([True, False, False, True])).subset(torch.tensor([3, 2]))
    assert part.confirmed.tolist() == [True, False]
    with pytest.raises(InputError, match="confirmed must have one entry per input"):
        toy(confirmed=torch.tensor([True]))


def test_weights_stay_with_their_samples_and_must_fit():
    part = toy(weights=torch.tensor([0.1, 0.2, 0.3, 0.4])).subset(torch.tensor([2, 0]))
    torch.testing.assert_close(part.weights, torch.tensor([0.3, 0.1]))
    with pytest.raises(InputError, match="weights must have one entry per input"):
        toy(weights=torch.ones(3))


class Rows:
    """Stands in for the rows of a table: no shape before they are encoded."""

    shape = ()
    in_memory = True

    def __len__(self):
        return 4


@pytest.mark.parametrize(
    ("inputs", "kind"),
    [
        (TensorInputs(torch.zeros(4, 2)), "vectors"),
        (TensorInputs(torch.zeros(4, 1, 2, 2, dtype=torch.uint8)), "images"),
        (TextInputs(["a", "b", "c", "d"]), "texts"),
        (Rows(), "table"),
    ],
)
def test_the_kind_says_what_the_inputs_are(inputs, kind):
    data = toy(inputs=inputs)
    assert data.kind == kind
    assert data.is_image == (kind == "images")


def test_texts_stay_with_their_samples():
    part = toy(inputs=TextInputs(["one", "two", "three", "four"])).subset(torch.tensor([3, 1]))
    assert part.inputs.texts == ("four", "two")
    assert list(part.ids) == ["four", "two"]
