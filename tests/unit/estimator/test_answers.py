"""Mirror of src/anchored/estimator/answers.py: all answers follow from the logits."""

import numpy as np
import pytest

from anchored.estimator.answers import AnswersByLogits


class Fixed(AnswersByLogits):
    def __init__(self, classes):
        self.classes_ = np.array(classes)

    def _logits(self, X):
        return np.asarray(X, dtype=np.float64)


def test_probabilities_are_the_softmax_and_logs_stay_exact():
    model = Fixed(["a", "b", "c"])
    X = [[0.0, 1.0, -2.0], [900.0, 0.0, 1.0]]
    expected = np.exp(X[0]) / np.exp(X[0]).sum()
    np.testing.assert_allclose(model.predict_proba(X)[0], expected)
    np.testing.assert_allclose(model.predict_log_proba(X)[1], [0.0, -900.0, -899.0])
    assert model.predict(X).tolist() == ["b", "a"]
    assert model.decision_function(X).shape == (2, 3)


def test_two_classes_have_log_odds():
    model = Fixed([0, 1])
    assert model.decision_function([[1.0, 3.5]]).tolist() == [2.5]
    odds = model.predict_proba([[1.0, 3.5]])[0]
    assert np.log(odds[1] / odds[0]) == pytest.approx(2.5)
