"""Mirror of src/anchored/ridge/calibrate.py: against scipy's search, at both ends, with many classes."""

import tracemalloc

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from anchored.ridge import as_targets, fit_sharpness, log_likelihood
from anchored.ridge.calibrate import given_logits, log_normalizer


@pytest.fixture
def judged():
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=400)
    return rng.normal(size=(400, 5)) + 1.3 * np.eye(5)[y], y, rng.uniform(0.1, 4, size=400)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e5])
def test_it_finds_what_a_general_search_finds(judged, size):
    logits, y, c = judged
    P = as_targets(y, 5)
    smooth = 1 / (c.sum() + 2)
    target = (1 - smooth) * P.toarray() + smooth / 5

    def risk(log_sharpness):
        scores = np.exp(log_sharpness) * logits
        return -np.average(((scores - log_normalizer(scores)[:, None]) * target).sum(axis=1), weights=c)

    found = np.exp(minimize_scalar(risk, bounds=(-5, 5), method="bounded", options={"xatol": 1e-10}).x)
    assert fit_sharpness(size * logits, P, c) * size == pytest.approx(found, rel=1e-4)


def test_the_start_does_not_matter(judged):
    logits, y, _ = judged
    answers = [fit_sharpness(logits, as_targets(y, 5), start=start) for start in (None, 1e-8, 1e6)]
    assert answers[1:] == pytest.approx([answers[0]] * 2, rel=1e-9)


def test_labels_without_a_contradiction_show_no_more_than_laplace_allows():
    y = np.arange(100) % 2
    logits = np.eye(2)[y]
    p = 1 / (1 + np.exp(-fit_sharpness(logits, as_targets(y, 2))))
    assert p == pytest.approx(1 - 0.5 / 102, rel=1e-6)


def test_logits_that_contradict_the_labels_are_not_believed():
    y = np.arange(100) % 3
    assert fit_sharpness(-np.eye(3)[y], as_targets(y, 3)) < 1e-6


def test_ten_thousand_classes_need_a_large_sharpness():
    k, n = 10_000, 200
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    logits = 1e-3 * rng.normal(size=(n, k))
    logits[np.arange(n), y] += 5e-3
    sharpness = fit_sharpness(logits, as_targets(y, k))
    assert sharpness > 1e3
    gain = log_likelihood(sharpness * logits, as_targets(y, k)) + np.log(k)
    assert gain > 3


def test_weights_are_copies(judged):
    logits, y, _ = judged
    times = np.arange(400) % 3
    again = np.repeat(np.arange(400), times)
    repeated = fit_sharpness(logits[again], as_targets(y[again], 5))
    assert fit_sharpness(logits, as_targets(y, 5), times.astype(float)) == pytest.approx(repeated, rel=1e-9)


def test_soft_targets_take_the_mean_logit():
    logits = np.array([[1.0, 3.0]])
    assert given_logits(logits, as_targets(np.array([[0.25, 0.75]]), 2))[0] == 2.5


def test_blocks_of_rows_change_no_digit(monkeypatch):
    rng = np.random.default_rng(3)
    logits, y = rng.normal(size=(300, 40)), rng.integers(40, size=300)
    whole = log_normalizer(logits), fit_sharpness(logits, as_targets(y, 40))
    monkeypatch.setattr("anchored.ridge.calibrate._BLOCK", 7 * 40)
    assert np.array_equal(log_normalizer(logits), whole[0])
    assert fit_sharpness(logits, as_targets(y, 40)) == whole[1]


def test_the_normalizer_of_many_classes_takes_little_memory():
    logits = np.zeros((1_000, 4_000))
    tracemalloc.start()
    log_normalizer(logits)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < logits.nbytes / 4
