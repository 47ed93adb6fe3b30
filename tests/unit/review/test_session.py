"""Mirror of src/anchored/review/session.py: what the page is told, and what becomes of its decisions."""

import json
from datetime import datetime

import pytest
import torch
from tests.unit.review.conftest import NAMES

from anchored import InputError
from anchored.data import Correction, Dataset, TensorInputs, correct, read_corrections
from anchored.review import Cases, DecisionLog, Review


def test_the_payload_is_json_with_columns_of_one_length(review):
    told = json.loads(json.dumps(review.payload(), allow_nan=False))
    assert told["classes"] == list(NAMES)
    assert (told["index"], told["given"], told["suggested"]) == ([5, 0, 7], [2, 0, 1], [0, 1, 2])
    assert (told["wrong"], told["expected_elsewhere"]) == ([0.9, 0.75, 0.25], 1.5)
    columns = ("id", "margin", "given_probability", "suggested_probability", "group")
    assert {len(told[name]) for name in columns} == {3}
    assert (told["image"], told["small"], told["columns"]) == (True, True, None)


def test_decisions_are_written_by_name_and_told_by_number(review):
    review.decide(5, "accept")
    review.decide(0, "relabel", 2)
    review.decide(7, "skip")
    review.decide(5, "keep")
    lines = [line.row()[:5] for line in read_corrections(review.log.path).lines]
    assert lines == [
        ("5", "p/5.png", NAMES[2], "accept", "cat"),
        ("0", "p/0.png", "cat", "relabel", NAMES[2]),
        ("7", "p/7.png", "dog", "skip", ""),
        ("5", "p/5.png", NAMES[2], "keep", NAMES[2]),
    ]
    assert review.decisions() == [[0, "relabel", 2], [7, "skip", 1], [5, "keep", 2]]
    review.decide(7, "undo")
    assert review.payload()["decisions"] == [[0, "relabel", 2], [5, "keep", 2]]
    assert all(datetime.fromisoformat(line.time).tzinfo for line in review.log.lines)


def test_what_was_decided_is_what_a_fit_applies(review, images):
    for index, decision, label in ((5, "accept", None), (0, "relabel", 2), (7, "keep", None)):
        review.decide(index, decision, label)
    labels = correct(images, review.log.path).dataset.labels
    assert (labels != images.labels).nonzero()[:, 0].tolist() == [0, 5]
    assert (int(labels[0]), int(labels[5])) == (2, 0)


def test_a_line_about_an_earlier_label_says_nothing_about_the_present_one(review):
    review.log.append(Correction(5, "p/5.png", "dog", "accept", NAMES[2]))
    assert review.decisions() == []
    review.log.append(Correction(99, "p/5.png", NAMES[2], "keep"))  # by its id, though the data has moved
    assert review.decisions() == [[5, "keep", 2]]
    review.log.append(Correction(3, "p/3.png", "cat", "keep"))  # is no suspect any more
    assert review.decisions() == [[5, "keep", 2]]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ((3, "accept"), "sample 3 is not among the suspects"),
        ((5, "relabel"), "relabel needs a class number in 0..2, got None"),
        ((5, "relabel", 3), "got 3"),
        ((5, "relabel", -1), "got -1"),
        ((5, "acept"), "unknown decision 'acept'"),
    ],
)
def test_refuses_a_decision_that_cannot_be_and_writes_nothing(review, asked, message):
    before = review.log.path.read_bytes()
    with pytest.raises(InputError, match=message):
        review.decide(*asked)
    assert review.log.path.read_bytes() == before


def test_only_samples_of_the_data_are_given_out(review):
    for index in (-1, 12):
        for ask in (review.picture, lambda i: review.values([i]), lambda i: review.neighbours(i, 0)):
            with pytest.raises(InputError, match=f"there is no sample {index}; pets has 12"):
                ask(index)
    with pytest.raises(InputError, match="there is no class 3"):
        review.neighbours(0, 3)
    assert review.neighbours(0, 1) == {"index": [], "id": [], "similarity": []}
    assert review.picture(11).startswith(b"\x89PNG")
    with pytest.raises(InputError, match="rows are for tables"):
        review.values([0])


def test_a_table_is_told_by_its_columns(tmp_path):
    table = Dataset(
        "t", TensorInputs(torch.tensor([[1.0, 0.1234567], [-2.5e8, 3.0]])), torch.tensor([0, 1]), ("a", "b"),
        columns=("width", "<b>"),
    )  # fmt: skip
    with DecisionLog(tmp_path / "c.csv") as log:
        review = Review("t", table, Cases(("a", "b"), ()), log=log)
        assert review.payload()["columns"] == ["width", "<b>"]
        assert review.values([1, 0]) == [["-2.5e+08", "3"], ["1", "0.123457"]]
        with pytest.raises(InputError, match="t holds no images"):
            review.picture(0)
        with pytest.raises(InputError, match="at most 200 at a time"):
            review.values([0] * 201)


def test_without_a_record_nothing_can_be_decided(images, cases):
    review = Review("pets", images, cases)
    assert review.payload()["decisions"] == []
    with pytest.raises(InputError, match="keeps no record"):
        review.decide(5, "accept")
