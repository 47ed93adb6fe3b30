"""Mirror of src/anchored/losses/_probability.py: the row sum in blocks is the row sum, and so are its derivatives."""

import pytest
import torch

from anchored.losses import Focal, GeneralizedCrossEntropy, Normalized, SymmetricCrossEntropy
from anchored.losses._probability import expm1

LOSSES = [Focal(0.5), Focal(0.5, detach=True), GeneralizedCrossEntropy(0.3), SymmetricCrossEntropy()]


@pytest.fixture
def log_p():
    generator = torch.Generator().manual_seed(0)
    # 9 x 30000 entries are several blocks, the last of them shorter.
    return torch.randn(9, 30_000, generator=generator, dtype=torch.float64).log_softmax(dim=1)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_total_in_blocks_is_the_sum_of_the_row(log_p, loss):
    expected = loss.value(log_p).sum(dim=1)
    torch.testing.assert_close(loss.total(log_p), expected)
    torch.testing.assert_close(loss.total(log_p.requires_grad_()), expected)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_its_gradient_is_autograds(log_p, loss):
    factor = torch.linspace(-1, 1, len(log_p), dtype=torch.float64)
    log_p.requires_grad_()
    (expected,) = torch.autograd.grad((factor * loss.value(log_p).sum(dim=1)).sum(), log_p)
    (got,) = torch.autograd.grad((factor * loss.total(log_p)).sum(), log_p)
    torch.testing.assert_close(got, expected)


def test_the_graph_can_be_walked_twice(log_p):
    log_p.requires_grad_()
    total = GeneralizedCrossEntropy(0.3).total(log_p).sum()
    (first,) = torch.autograd.grad(total, log_p, retain_graph=True)
    (second,) = torch.autograd.grad(total, log_p)
    assert torch.equal(first, second)


@pytest.mark.parametrize("loss", [Focal(0.5), Focal(2.0), GeneralizedCrossEntropy(0.3)], ids=repr)
def test_second_derivatives_are_right(loss):
    logits = torch.randn(3, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64, requires_grad=True)
    target = torch.tensor([0, 1, 3])
    assert torch.autograd.gradgradcheck(lambda x: Normalized(loss)(x, target), (logits,))


def test_the_value_at_the_labels_never_forms_the_row(monkeypatch):
    sizes = []
    value = GeneralizedCrossEntropy.value
    monkeypatch.setattr(
        GeneralizedCrossEntropy, "value", lambda self, log_p: sizes.append(log_p.shape) or value(self, log_p)
    )
    GeneralizedCrossEntropy()(torch.zeros(6, 50), torch.arange(6))
    assert sizes == [(6,)]


def test_an_empty_batch_has_empty_totals():
    assert Focal().total(torch.zeros(0, 5)).shape == (0,)
    assert Focal().total(torch.zeros(0, 5, requires_grad=True)).shape == (0,)


@pytest.mark.parametrize("x", [0.0, -1e-9, -0.5, -20.0, -80.0])
def test_expm1_has_the_value_and_the_slope_to_the_last_digit(x):
    at = torch.tensor(x, requires_grad=True)
    value = expm1(at)
    value.backward()
    assert value == torch.expm1(at)
    assert at.grad == torch.exp(at)
