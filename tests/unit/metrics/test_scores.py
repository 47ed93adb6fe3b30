"""Mirror of src/anchored/metrics/_scores.py: against scikit-learn and by hand."""

import pytest
import torch
from sklearn.metrics import accuracy_score, log_loss, recall_score

from anchored.metrics import scores


@pytest.fixture
def batch():
    g = torch.Generator().manual_seed(0)
    return torch.randn(60, 4, generator=g, dtype=torch.float64), torch.arange(4).repeat_interleave(15)


def test_agrees_with_scikit_learn(batch):
    logits, labels = batch
    numbers = scores(logits, labels, temperature=2.0)
    predicted = logits.argmax(dim=1).numpy()
    assert numbers["n"] == 60
    assert numbers["accuracy"] == pytest.approx(accuracy_score(labels, predicted))
    assert numbers["per_class"] == pytest.approx(recall_score(labels, predicted, average=None).tolist())
    assert numbers["nll"] == pytest.approx(log_loss(labels, (logits / 2).softmax(dim=1).numpy()))


def test_calibration_is_told_before_and_after(batch):
    logits, labels = batch
    same, cooler = scores(logits, labels), scores(logits, labels, temperature=100.0)
    assert same["ece"] == same["ece_uncalibrated"] == cooler["ece_uncalibrated"]
    # At a high temperature every confidence is 1/k, so the error is the distance of the accuracy from it.
    assert cooler["ece"] == pytest.approx(abs(cooler["accuracy"] - 0.25), abs=0.02)


def test_shots_follow_the_training_counts(batch):
    logits, labels = batch
    assert "few" not in scores(logits, labels)
    numbers = scores(logits, labels, counts=[500, 400, 50, 5])
    each = numbers["per_class"]
    assert numbers["many"] == pytest.approx((each[0] + each[1]) / 2)
    assert (numbers["medium"], numbers["few"]) == (pytest.approx(each[2]), pytest.approx(each[3]))
    assert scores(logits, labels, counts=[500] * 4)["few"] is None, "a group without classes has no accuracy"
