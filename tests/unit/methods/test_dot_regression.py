"""Mirror of src/anchored/methods/dot_regression.py: the rectified loss by hand, signed features, scoring."""

import math

import pytest
import torch
from hypothesis import given as examples
from hypothesis import strategies as st
from tests.builders import build_context
from torch import nn

from anchored.losses import DotRegression
from anchored.methods import make_procedure
from anchored.methods.dot_regression import RectifiedDotRegression, squared_lengths

K = 4


def given(method="dot-regression", **settings):
    return build_context(method, **settings)


def by_hand(cosines, labels):
    """The published form: prototypes are made longer or shorter, then the dot is regressed on both lengths."""
    classes = set(labels)
    values = []
    for row, label in zip(cosines, labels, strict=True):
        length = math.sqrt(len(labels) / len(classes) / labels.count(label))
        dot = length * row[label]
        values.append(0.5 * (dot - length * 1.0) ** 2 / 1.0)
    return torch.tensor(values, dtype=torch.float64)


def test_agrees_with_the_published_form():
    g = torch.Generator().manual_seed(0)
    cosines = 2 * torch.rand(12, K, generator=g, dtype=torch.float64) - 1
    labels = torch.tensor([0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 3, 3])  # class 2 is absent
    values = RectifiedDotRegression(DotRegression()).pointwise(cosines, labels)
    torch.testing.assert_close(values, by_hand(cosines.tolist(), labels.tolist()))


def test_an_even_batch_is_not_changed():
    labels = torch.arange(K).repeat(3)
    assert torch.equal(squared_lengths(labels, K), torch.ones(12))


@examples(st.lists(st.integers(0, K - 1), min_size=1, max_size=30))
def test_every_class_of_a_batch_counts_the_same(labels):
    labels = torch.tensor(labels)
    weights = squared_lengths(labels, K).double()
    totals = torch.zeros(K, dtype=torch.float64).index_add(0, labels, weights)
    present = labels.unique()
    torch.testing.assert_close(
        totals[present], torch.full((len(present),), len(labels) / len(present)).double(), rtol=1e-5, atol=0
    )


def test_batch_norm_puts_anchors_for_signed_features_within_reach():
    network = make_procedure(given()).network()
    assert isinstance(network.projection, nn.BatchNorm1d)
    x = torch.randn(64, 6, generator=torch.Generator().manual_seed(0))
    features = network.train().features(x)
    assert network.backbone(x).min() >= 0
    torch.testing.assert_close(features.mean(dim=0), torch.zeros(32), atol=1e-6, rtol=0)
    anchors = network.head.prototypes
    torch.testing.assert_close(anchors @ anchors.T, (K * torch.eye(K) - 1) / (K - 1))
    assert network.head.normalize
    assert network.head.scale == 1.0


def test_data_that_is_not_trained_on_is_scored_without_rectification():
    (stage,) = make_procedure(given()).stages()
    cosines, labels = torch.zeros(4, K), torch.tensor([0, 0, 0, 1])
    assert stage.loss.pointwise(cosines, labels).tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1.0])
    assert stage.scored_by.pointwise(cosines, labels).tolist() == [0.5] * 4


def test_weights_may_set_in_late():
    assert make_procedure(given("dot-regression+drw")).stages()[0].deferred
