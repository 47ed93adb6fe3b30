"""Mirror of src/anchored/review/neighbours.py: the same samples as a loop over all cosines finds."""

import math

import pytest
import torch
from torch import nn

from anchored import AnchoredHead, backbones
from anchored.data import Dataset, Normalization, TensorInputs
from anchored.methods import Classifier
from anchored.review import Neighbours
from anchored.runs import TrainedModel

K, D = 3, 4


@pytest.fixture
def model():
    """Its features are its inputs."""
    classifier = Classifier(backbones.wrap(nn.Identity(), (D,)), AnchoredHead(D, K))
    classifier.register_parameter("unused", nn.Parameter(torch.zeros(1)))
    return TrainedModel(classifier, Normalization((0.0,) * D, (1.0,) * D, 1.0), ("a", "b", "c"))


@pytest.fixture
def data():
    g = torch.Generator().manual_seed(0)
    return Dataset("x", TensorInputs(torch.randn(60, D, generator=g)), torch.arange(60) % K, ("a", "b", "c"))


def by_hand(data, index, label, count):
    rows = data.inputs.tensor.tolist()

    def cosine(a, b):
        return sum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b))

    others = [i for i in range(len(rows)) if int(data.labels[i]) == label and i != index]
    ranked = sorted(others, key=lambda i: -cosine(rows[index], rows[i]))[:count]
    return [(i, cosine(rows[index], rows[i])) for i in ranked]


@pytest.mark.parametrize(("index", "label"), [(0, 1), (0, 0), (17, 2)])
def test_agrees_with_a_loop_over_all_cosines(model, data, index, label):
    found, expected = Neighbours(model, data).nearest(index, label, 5), by_hand(data, index, label, 5)
    assert [i for i, _ in found] == [i for i, _ in expected]
    assert [c for _, c in found] == pytest.approx([c for _, c in expected], abs=1e-6)


def test_a_small_class_gives_what_it_has(model, data):
    assert len(Neighbours(model, data).nearest(0, 0, 100)) == 19
    empty = Dataset("x", data.inputs, torch.zeros(60, dtype=torch.int64), ("a", "b", "c"))
    assert Neighbours(model, empty).nearest(0, 2, 5) == []


def test_of_a_large_class_an_even_selection_is_looked_at(model, data):
    found = Neighbours(model, data, limit=4).nearest(1, 0, 10)
    assert {i for i, _ in found} == {0, 18, 39, 57}


def test_the_features_of_a_class_are_computed_once_and_only_so_many_are_kept(model, data, monkeypatch):
    monkeypatch.setattr("anchored.review.neighbours._CLASSES_KEPT", 2)
    asked = []
    take = data.inputs.take
    monkeypatch.setattr(data.inputs, "take", lambda index: asked.append(len(index)) or take(index))
    neighbours = Neighbours(model, data)
    for label, computed in ((0, [20, 1]), (0, [1]), (1, [20, 1]), (0, [1]), (2, [20, 1]), (0, [1]), (1, [20, 1])):
        asked.clear()
        neighbours.nearest(5, label, 3)
        assert asked == computed
