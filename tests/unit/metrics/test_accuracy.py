"""Mirror of src/anchored/metrics/_accuracy.py: against scikit-learn, ties, absent classes, refusals."""

import numpy as np
import pytest
import torch
from sklearn import metrics as sk
from tests.builders import batch as make_batch

from anchored import InputError, metrics


@pytest.fixture
def batch():
    return make_batch(500, 12)


def test_top_one_agrees_with_scikit_learn(batch):
    scores, target = batch
    expected = sk.accuracy_score(target, scores.argmax(dim=1))
    assert metrics.accuracy(scores, target) == pytest.approx(expected)
    assert metrics.accuracy(scores.argmax(dim=1), target) == pytest.approx(expected)


@pytest.mark.parametrize("topk", [2, 5, 11])
def test_top_k_agrees_with_scikit_learn(batch, topk):
    scores, target = batch
    expected = sk.top_k_accuracy_score(target, scores.numpy(), k=topk, labels=range(12))
    assert metrics.accuracy(scores, target, topk=topk) == pytest.approx(expected)


def test_as_many_guesses_as_classes_are_always_right(batch):
    assert metrics.accuracy(*batch, topk=12) == 1.0


def test_equal_scores_rank_by_class_index():
    same, target = torch.zeros(6, 6), torch.arange(6)
    assert [metrics.accuracy(same, target, topk=t) for t in range(1, 7)] == [t / 6 for t in range(1, 7)]


def test_confusion_agrees_with_scikit_learn(batch):
    scores, target = batch
    expected = sk.confusion_matrix(target, scores.argmax(dim=1), labels=range(12))
    assert metrics.confusion(scores, target).tolist() == expected.tolist()


def test_mean_of_per_class_is_the_balanced_accuracy(batch):
    scores, target = batch
    by_class = metrics.per_class_accuracy(scores, target)
    assert sum(by_class) / 12 == pytest.approx(sk.balanced_accuracy_score(target, scores.argmax(dim=1)))


def test_a_class_without_samples_has_no_accuracy(batch):
    scores, target = batch
    by_class = metrics.per_class_accuracy(scores, target % 11)
    assert by_class[11] is None
    assert all(value is not None for value in by_class[:11])


def test_numpy_arrays_and_half_precision_are_taken(batch):
    scores, target = batch
    expected = metrics.accuracy(scores, target)
    assert metrics.accuracy(np.asarray(scores), np.asarray(target, dtype=np.uint8)) == expected
    assert metrics.accuracy(scores.requires_grad_(), target) == expected
    assert 0 <= metrics.accuracy(scores.detach().bfloat16(), target, topk=5) <= 1


def test_refuses_more_guesses_than_classes():
    with pytest.raises(InputError, match="topk = 5 for k = 3"):
        metrics.accuracy(torch.zeros(2, 3), torch.tensor([0, 1]), topk=5)
    with pytest.raises(InputError, match=r"topk = 2 needs scores \(n, k\), got predictions \(2,\)"):
        metrics.accuracy(torch.tensor([0, 1]), torch.tensor([0, 1]), topk=2)
    with pytest.raises(InputError, match="topk must be at least 1"):
        metrics.accuracy(torch.zeros(2, 3), torch.tensor([0, 1]), topk=0)


def test_by_certain_probabilities_the_numbers_are_those_of_the_labels(batch):
    scores, target = batch
    certain = torch.nn.functional.one_hot(target, 12).double()
    assert metrics.accuracy(scores, certain) == metrics.accuracy(scores, target)
    assert torch.equal(metrics.confusion(scores, certain).long(), metrics.confusion(scores, target))
    assert metrics.per_class_accuracy(scores, certain) == metrics.per_class_accuracy(scores, target)


def test_by_probabilities_the_numbers_are_means_over_labels_drawn_from_them():
    g = torch.Generator().manual_seed(1)
    scores, truth = torch.randn(40, 3, generator=g), torch.randn(40, 3, generator=g).double().softmax(dim=1)
    drawn = [torch.multinomial(truth, 1, generator=g)[:, 0] for _ in range(4000)]
    means = torch.stack([metrics.confusion(scores, labels).double() for labels in drawn]).mean(dim=0)
    torch.testing.assert_close(metrics.confusion(scores, truth), means, atol=0.2, rtol=0)
    assert metrics.accuracy(scores, truth) == pytest.approx(float(means.trace()) / 40, abs=0.01)


def test_a_class_that_is_hardly_expected_has_no_accuracy():
    truth = torch.tensor([[0.9, 0.1, 0.0], [0.6, 0.3, 0.1]])
    assert metrics.per_class_accuracy(torch.tensor([0, 1]), truth) == (pytest.approx(0.6), None, None)
