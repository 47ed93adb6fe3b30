"""Mirror of src/anchored/features/choice.py: the best score wins, the first of equals, never NaN."""

import math

import pytest
import torch

from anchored import InputError
from anchored.features import choose_features

TWO = {"a": torch.zeros(3, 2), "b": torch.ones(3, 4)}


def test_the_best_wins_and_every_score_is_told():
    assert choose_features(TWO, lambda x: -x.shape[1]) == ("a", {"a": -2.0, "b": -4.0})
    assert choose_features(TWO, lambda x: x.shape[1]) == ("b", {"a": 2.0, "b": 4.0})


def test_of_equals_the_first():
    assert choose_features(TWO, lambda _: 1.0)[0] == "a"


def test_a_score_that_is_no_number_loses():
    assert choose_features(TWO, lambda x: math.nan if x.sum() == 0 else -1e9)[0] == "b"


@pytest.mark.parametrize("candidates", [{}, {"a": torch.zeros(3, 2), "b": torch.zeros(4, 2)}])
def test_other_samples_are_refused(candidates):
    with pytest.raises(InputError, match="must be of the same samples"):
        choose_features(candidates, float)
