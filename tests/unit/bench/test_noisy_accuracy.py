"""Mirror of src/anchored/bench/noisy_accuracy.py: given labels in training, true ones in the test."""

import numpy as np
import pytest
import torch

from anchored._errors import InputError
from anchored.bench import BENCHMARKS, LONG
from anchored.bench import noisy_accuracy as bench
from anchored.bench.noisy_sets import NoisySet
from anchored.bench.tables import Score


@pytest.fixture
def two_sets(monkeypatch):
    """Two clouds, clean and with every label of the given part turned round."""
    truth = torch.arange(90) % 2
    X = torch.stack([truth * 4.0 - 2.0, torch.arange(90) / 90.0], dim=1)
    found = [
        NoisySet("clouds", "clean", X, truth, truth, 2, False),
        NoisySet("clouds", "turned", X, 1 - truth, truth, 2, True),
        NoisySet("others", "clean", X, truth, truth, 2, False),
    ]
    monkeypatch.setattr(bench, "noisy_sets", lambda root, seed: iter(found))


def test_it_is_a_long_benchmark():
    assert BENCHMARKS["noisy-accuracy"] == "anchored.bench.noisy_accuracy"
    assert "noisy-accuracy" in LONG


def test_trained_on_the_given_labels_and_tested_on_the_true_ones(two_sets):
    told = []
    found = bench.run(models=("logistic regression",), sets=("clouds",), tell=told.append)
    assert told == ["seed 0: clouds, clean", "seed 0: clouds, turned"]
    assert found.rows == (("clouds", "clean", 100.0), ("clouds", "turned", 0.0))


def test_clean_rows_in_which_ours_is_behind_are_counted(two_sets, monkeypatch):
    accuracies = {"AnchoredClassifier": iter([0.900, 0.5, 0.880]), "network alone": iter([0.905, 0.9, 0.895])}
    monkeypatch.setattr(bench, "_accuracy", lambda kept, each, seed, name: next(accuracies[name]))
    found = bench.run(models=("AnchoredClassifier", "network alone"))
    assert (found.facts["clean_rows"], found.facts["clean_rows_behind"]) == (2.0, 1.0)
    assert "in 1 of 2 rows" in found.note


def test_a_stopped_run_goes_on(two_sets, tmp_path, monkeypatch):
    asked = {"models": ("logistic regression",), "store": tmp_path / "scores.jsonl"}
    monkeypatch.setattr(bench, "measure", lambda *parts: Score(0.25, 0.5, 1.0, 2.0))
    bench.run(sets=("clouds",), **asked)
    monkeypatch.setattr(bench, "measure", lambda *parts: Score(0.75, 0.5, 1.0, 2.0))
    found = bench.run(**asked)
    np.testing.assert_allclose([row[2] for row in found.rows], [25.0, 25.0, 75.0])


def test_an_unknown_classifier_is_refused(two_sets):
    with pytest.raises(InputError, match="unknown classifier 'forest'"):
        bench.run(models=("forest",))
