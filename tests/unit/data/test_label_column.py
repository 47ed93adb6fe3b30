"""Mirror of src/anchored/data/label_column.py: the label is found by name, and what is no label is refused."""

import numpy as np
import pytest

from anchored._errors import InputError
from anchored.data import TableInputs, column_of, find_label, label_texts


@pytest.mark.parametrize("name", ["label", "Label", " TARGET", "class", "y", "outcome"])
def test_usual_names_are_found(name):
    assert find_label(["age", name], None, source="t") == name


def test_the_message_lists_all_columns():
    names = [f"column_{i}" for i in range(40)]
    with pytest.raises(InputError) as error:
        find_label(names, None, source="t.csv")
    assert all(repr(name) in str(error.value) for name in names)
    assert "--label COLUMN" in str(error.value)
    with pytest.raises(InputError) as error:
        find_label([*names, "income"], "incom", source="t.csv")
    assert "did you mean 'income'" in str(error.value)
    assert "'column_39'" in str(error.value)


def test_two_candidates_are_not_guessed():
    with pytest.raises(InputError, match="'label' and 'class' could be it"):
        find_label(["label", "class", "x"], None, source="t")


def test_a_label_that_is_not_needed_may_be_absent():
    assert find_label(["a"], None, source="t", needed=False) is None
    assert find_label(["a"], "b", source="t", needed=False) is None


def table(values):
    return TableInputs({"y": column_of(values, "t")}, rows=np.arange(2, len(values) + 2), source="t.csv")


def test_labels_are_verbatim():
    assert label_texts(table(["1.0", "2", "1.0"]), "y") == ["1.0", "2", "1.0"]
    assert label_texts(table([0, 1, 1]), "y") == ["0", "1", "1"]
    assert label_texts(table(["NA", "DE", "NA"]), "y") == ["NA", "DE", "NA"]


def test_missing_labels_are_named_by_their_rows():
    with pytest.raises(InputError, match=r"missing in 2 of 4 rows \(row 3, 5\); fill or drop them"):
        label_texts(table(["a", None, "b", None]), "y")
    assert label_texts(table(["a", None, "b"]), "y", missing="keep") == ["a", None, "b"]
    with pytest.raises(InputError, match="every label is missing"):
        label_texts(table([None, None]), "y")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.random.default_rng(0).normal(size=50).tolist(), "continuous.*put it into ranges"),
        ([f"{i / 7:.3f}" for i in range(30)] * 20, "continuous"),
        (list(range(100)), "100 different labels in 100 rows .* look like a count or an amount"),
        ([f"C{i}" for i in range(30)], "look like an id or a free text"),
        ([[1, 2], [3, 4]], "got a list of numbers"),
        ([np.datetime64("2020-01-01").astype(object)] * 3, "got dates"),
    ],
)
def test_what_is_no_label_is_refused_with_the_way_out(values, message):
    with pytest.raises(InputError, match=message) as error:
        label_texts(table(values), "y")
    assert "--label COLUMN" in str(error.value)


def test_the_user_may_insist():
    values = [f"C{i}" for i in range(30)]
    assert label_texts(table(values), "y", as_category=True) == values


@pytest.mark.parametrize("values", [[1.5, 2.5] * 30, [f"class {i}" for i in range(100)] * 3, list(range(10)) * 2])
def test_classes_of_any_kind_pass(values):
    assert len(label_texts(table(values), "y")) == len(values)
