"""Mirror of src/anchored/audit/trust.py: each treatment against a loop; no class dies out."""

from dataclasses import replace

import pytest
import torch

from anchored._errors import InputError
from anchored.audit import TREATMENTS, trust_labels
from anchored.audit.trust import treated
from anchored.data import Dataset, TensorInputs


@pytest.fixture
def judged():
    g = torch.Generator().manual_seed(0)
    labels = torch.randint(3, (40,), generator=g)
    data = Dataset("toy", TensorInputs(torch.zeros(40, 2)), labels, ("a", "b", "c"), clean_labels=labels.flip(0))
    return data, (2 * torch.randn(40, 3, generator=g, dtype=torch.float64)).softmax(1)


def test_each_label_counts_as_far_as_it_is_trusted(judged):
    data, posterior = judged
    trusted = trust_labels(data, posterior)
    given = data.labels.tolist()
    trust = [row[y] for row, y in zip(posterior.tolist(), given, strict=True)]
    most = {j: max(t for t, y in zip(trust, given, strict=True) if y == j) for j in range(3)}
    weights = [t / most[y] for t, y in zip(trust, given, strict=True)]
    assert trusted.dataset.weights.tolist() == pytest.approx(weights)
    assert trusted.doubted == sum(t < 0.5 for t in trust)
    wrong = sum(w * (1 - t) for w, t in zip(weights, trust, strict=True))
    assert trusted.residual == pytest.approx(wrong / sum(weights))


def test_the_labels_stay_as_they_were(judged):
    data, posterior = judged
    trusted = trust_labels(data, posterior)
    assert trusted.dataset.labels is data.labels
    assert trusted.dataset.inputs is data.inputs
    assert data.weights is None


def test_a_certain_posterior_trusts_everything():
    labels = torch.arange(12) % 3
    data = Dataset("toy", TensorInputs(torch.zeros(12, 2)), labels, ("a", "b", "c"))
    trusted = trust_labels(data, torch.eye(3, dtype=torch.float64)[labels])
    assert trusted.doubted == 0
    assert trusted.residual == 0.0
    assert trusted.dataset.weights.tolist() == [1.0] * 12


@pytest.mark.parametrize("trust", [0.1, 1e-300])
def test_a_class_that_nobody_trusts_does_not_die_out(trust):
    labels = torch.tensor([0, 0, 0, 0, 1, 1])
    data = Dataset("toy", TensorInputs(torch.zeros(6, 2)), labels, ("a", "b"))
    posterior = torch.tensor([[0.9, 0.1]] * 4 + [[1.0, trust], [1.0, trust / 2]], dtype=torch.float64)
    assert trust_labels(data, posterior).dataset.weights.tolist() == pytest.approx([1, 1, 1, 1, 1, 0.5])


def test_the_users_weights_stay_in_force(judged):
    data, posterior = judged
    weights = torch.arange(1.0, 41.0)
    plain, weighted = trust_labels(data, posterior), trust_labels(replace(data, weights=weights), posterior)
    torch.testing.assert_close(weighted.dataset.weights, plain.dataset.weights * weights)


def test_only_sure_labels_count(judged):
    data, posterior = judged
    weights = trust_labels(data, posterior, "sure").dataset.weights.tolist()
    most = trust_labels(data, posterior).dataset.weights.tolist()
    for row, given, weight, share in zip(posterior.tolist(), data.labels.tolist(), weights, most, strict=True):
        assert weight == float(row[given] >= 0.5 or share == 1.0)


def test_replaced_labels_are_the_likeliest_classes(judged):
    data, posterior = judged
    learnt = trust_labels(data, posterior, "replaced").dataset
    kept = trust_labels(data, posterior).dataset.weights == 1.0
    for row, given, label, weight, keeps in zip(
        posterior.tolist(), data.labels.tolist(), learnt.labels.tolist(), learnt.weights.tolist(), kept, strict=True
    ):
        assert label == (given if keeps else row.index(max(row)))
        assert weight == pytest.approx(1.0 if keeps else max(row))
    assert data.labels is not learnt.labels


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_no_class_dies_out(treatment):
    labels = torch.tensor([0, 0, 0, 0, 1, 1])
    posterior = torch.tensor([[0.9, 0.1]] * 4 + [[0.8, 0.2], [0.9, 0.1]], dtype=torch.float64)
    learnt, weights = treated(labels, posterior, treatment)
    assert set(learnt[weights > 0].tolist()) == {0, 1}


def test_an_unknown_treatment_is_refused(judged):
    with pytest.raises(InputError, match="unknown treatment of labels 'sured'; did you mean 'sure'"):
        treated(judged[0].labels, judged[1], "sured")
