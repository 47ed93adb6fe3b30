"""Mirror of src/anchored/audit/treatments.py: the likelihood by a loop, clear cases, and what is not clear enough."""

import math

import pytest
import torch

from anchored import noise
from anchored.audit import compare_treatments, treatments
from anchored.audit.judges import Vectors


def blobs(n, k, generator, spread=0.6):
    truth = torch.arange(n) % k
    return torch.eye(k, dtype=torch.float64)[truth] + spread * torch.randn(n, k, generator=generator), truth


def test_the_likelihood_mixes_classes_by_the_law_of_the_labels():
    g = torch.Generator().manual_seed(0)
    labels = torch.randint(3, (30,), generator=g)
    logits = torch.randn(30, 3, generator=g, dtype=torch.float64) + 2 * torch.eye(3, dtype=torch.float64)[labels]
    matrix = torch.tensor([[0.8, 0.2, 0.0], [0.0, 0.7, 0.3], [0.1, 0.1, 0.8]], dtype=torch.float64)
    vectors = Vectors.check(torch.zeros(30, 2), labels, 3)

    def by_hand(T):
        total = 0.0
        for row, y in zip(logits.tolist(), labels.tolist(), strict=True):
            e = [math.exp(f / T) for f in row]
            total += math.log(sum(e[i] / sum(e) * float(matrix[i, y]) for i in range(3)))
        return total

    found = float(treatments._mixed(logits, matrix.T[labels], vectors).sum())
    assert found == pytest.approx(max(by_hand(0.05 * 1.05**step) for step in range(120)), abs=1e-2)


def test_many_classes_with_few_samples_are_left_as_given():
    g = torch.Generator().manual_seed(1)
    X, truth = blobs(480, 24, g, spread=0.35)
    given = noise.symmetric(truth, 0.2, 24, generator=g).labels
    found = compare_treatments(Vectors.check(X, given, 24))
    assert found.chosen == "given"
    assert found.errors["given"] > 2
    assert found.errors["cleaned"] == 0.0


def test_a_small_difference_does_not_change_the_usual_way():
    g = torch.Generator().manual_seed(2)
    X, truth = blobs(200, 2, g)
    given = noise.symmetric(truth, 0.3, 2, generator=g).labels
    found = compare_treatments(Vectors.check(X, given, 2))
    assert found.chosen == "cleaned"
    assert max(found.errors.values()) <= 2


def test_nothing_depends_on_the_labels_of_the_fold_that_is_asked(monkeypatch):
    g = torch.Generator().manual_seed(3)
    X, truth = blobs(80, 2, g)
    seen = []
    monkeypatch.setattr(
        treatments, "_asked", lambda rest, rows: (seen.append(len(rest)) or {}, torch.eye(2, dtype=torch.float64))
    )
    compare_treatments(Vectors.check(X, truth, 2))
    assert seen == [60] * 4


def test_of_large_data_a_part_is_drawn(monkeypatch):
    monkeypatch.setattr(treatments, "_MOST_SAMPLES", 40)
    g = torch.Generator().manual_seed(4)
    X, truth = blobs(400, 2, g)
    vectors = Vectors.check(X, truth, 2, weights=torch.rand(400, generator=g))
    assert compare_treatments(vectors) == compare_treatments(vectors)
