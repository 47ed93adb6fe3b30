"""Mirror of src/anchored/metrics/_inputs.py: what counts as scores, predictions and labels."""

import math

import pytest
import torch

from anchored import InputError
from anchored.metrics._inputs import checked_predictions, checked_scores, checked_target, checked_truth, share_right


def test_the_first_of_equal_scores_is_predicted():
    predictions, _, k = checked_predictions(torch.zeros(2, 3), torch.tensor([0, 2]), None)
    assert predictions.tolist() == [0, 0]
    assert k == 3


def test_number_of_classes_comes_from_scores_then_argument_then_labels():
    predictions, target = torch.tensor([0, 1]), torch.tensor([4, 1])
    assert checked_predictions(predictions, target, None)[2] == 5
    assert checked_predictions(predictions, target, 9)[2] == 9


@pytest.mark.parametrize(
    ("scores", "rule"),
    [
        (torch.zeros(3), r"\(n, k\) with k >= 2 classes, got shape \(3,\)"),
        (torch.zeros(3, 1), r"k >= 2"),
        (torch.zeros(0, 5), r"at least one sample, got shape \(0, 5\)"),
        (torch.zeros(3, 5, dtype=torch.int64), r"real numbers, got torch\.int64"),
        (torch.tensor([[0.0, 1.0], [math.nan, 1.0]]), "NaN in 1 of 2 rows"),
    ],
)
def test_refuses_what_are_no_scores(scores, rule):
    with pytest.raises(InputError, match=rule):
        checked_scores(scores)


def test_refuses_labels_that_do_not_fit():
    with pytest.raises(InputError, match="got 2 labels for 3 samples"):
        checked_target(torch.tensor([0, 1]), 3, 5)
    with pytest.raises(InputError, match=r"target must be in 0\.\.4"):
        checked_target(torch.tensor([0, 1, 5]), 3, 5)
    with pytest.raises(InputError, match="got 3 columns for k = 4"):
        checked_predictions(torch.zeros(1, 3), torch.tensor([0]), 4)
    with pytest.raises(InputError, match="predictions must hold at least one"):
        checked_predictions(torch.zeros(0, dtype=torch.int64), torch.zeros(0, dtype=torch.int64), None)


def test_probabilities_of_the_true_labels_are_taken_where_they_fit():
    rows = torch.tensor([[0.25, 0.75], [1.0, 0.0]])
    predictions, truth, k = checked_predictions(torch.tensor([1, 1]), rows, None)
    assert (truth.dtype, k) == (torch.float64, 2)
    assert share_right(predictions, truth).tolist() == [0.75, 0.0]
    assert share_right(predictions, torch.tensor([1, 0])).tolist() == [1.0, 0.0]
    for bad, rule in (
        (rows[:1], r"got \(1, 2\) for 2 samples of 2 classes"),
        (torch.ones(2, 3) / 3, r"got \(2, 3\) for 2 samples of 2 classes"),
        (rows * 2, "must hold probabilities"),
        (torch.tensor([[1.5, -0.5], [1.0, 0.0]]), "must hold probabilities"),
        (torch.full((2, 2), math.nan), "must hold probabilities"),
    ):
        with pytest.raises(InputError, match=rule):
            checked_truth(bad, 2, 2)
    with pytest.raises(InputError, match=r"predictions must be in 0\.\.1"):
        checked_predictions(torch.tensor([0, 2]), rows, None)
