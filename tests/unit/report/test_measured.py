"""Mirror of src/anchored/report/_measured.py: the numbers are those of the run, and large data is asked in part."""

import pytest
import torch

from anchored import metrics
from anchored.report._measured import measure
from anchored.runs import TrainedModel


@pytest.fixture(scope="module")
def model(digits_run):
    return TrainedModel.load(digits_run.path)


@pytest.fixture(scope="module")
def digits_test():
    from anchored.data import load_digits

    return load_digits().test


def test_answers_agree_with_the_result_of_the_run(model, digits_test, digits_run):
    found, result = measure(model, digits_test, "test"), digits_run.read_result()["test"]
    assert metrics.accuracy(found.logits, found.labels) == pytest.approx(result["accuracy"])
    assert metrics.ece(found.calibrated, found.labels) == pytest.approx(result["ece"], abs=1e-6)
    assert metrics.ece(found.sharp, found.labels) == pytest.approx(result["ece_uncalibrated"], abs=1e-6)
    assert (found.n, found.total, found.noisy, found.anchored, found.normalized) == (360, 360, False, True, True)
    assert found.scale == pytest.approx(0.25 / (0.05 + 0.3), rel=1e-6)  # the paper's scale for this noise rate


def test_features_give_the_logits_back(model, digits_test):
    found = measure(model, digits_test, "test")
    torch.testing.assert_close(model.classifier.head(found.features), found.logits)


def test_of_large_data_a_random_part_is_asked(model, digits_test):
    told = []
    found = measure(model, digits_test, "test", answers=100, features=30, tell=lambda *place: told.append(place))
    assert (found.n, found.total, len(found.features)) == (100, 360, 30)
    assert told == [(100, 100)]
    assert len(found.labels.unique()) > 5
    torch.testing.assert_close(model.classifier.head(found.features), found.logits[:30])


def test_the_true_labels_judge_where_they_are_known(model, digits_test):
    wrong = digits_test.with_labels((digits_test.labels + 1) % 10, clean_labels=digits_test.labels)
    found = measure(model, wrong, "held_out")
    assert torch.equal(found.labels, digits_test.labels)
    assert not found.noisy
    assert measure(model, digits_test, "held_out").noisy


def test_a_head_without_directions_has_no_geometry(model, digits_test, monkeypatch):
    monkeypatch.setattr(type(model.classifier.head), "rows", lambda _self: None)
    found = measure(model, digits_test, "test")
    assert found.features is None
    assert found.directions is None
