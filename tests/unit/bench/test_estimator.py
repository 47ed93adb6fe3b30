"""Mirror of src/anchored/bench/estimator.py: the three models are compared on the same noisy folds."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from anchored.bench import estimator as bench


def blobs(return_X_y):
    assert return_X_y
    return make_blobs(120, centers=3, random_state=0, cluster_std=0.5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_accuracies_are_percent_of_clean_test_labels():
    got = bench._accuracies(blobs, 0.3)
    assert len(got) == len(bench._models())
    assert all(80 < value <= 100 for value in got), "clean blobs are easy; scores against noisy labels would be near 70"


def test_the_estimator_is_the_default_one():
    first = bench._models()[0]
    assert type(first).__name__ == "AnchoredClassifier"
    assert {
        name: value for name, value in first.get_params().items() if value not in (None, "auto") and value is not False
    } == {"random_state": 0}
    assert np.isscalar(first.random_state)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_times_are_in_units_of_the_mlp(monkeypatch):
    monkeypatch.setattr(bench, "load_digits", blobs)
    result = bench._speed(fits=1, predictions=3)
    names = ["one network alone", "AnchoredClassifier", "logistic regression", "MLP"]
    assert [row[0] for row in result.rows] == names
    assert result.rows[3][2] == 1.0
    assert all(row[2] == pytest.approx(row[1] / result.rows[3][1]) and row[3] > 0 for row in result.rows)
