"""Anchored least squares, statement by statement: what the paper's symmetric loss becomes on fixed features.

Labels under noise are exact expectations (rows of probabilities), never samples of them.
"""

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge as Reference

from anchored import losses, theory
from anchored.prototypes import simplex
from anchored.ridge import ArrayRows, as_targets, fit_gathered, fit_ridge, gather, gather_chunk, join

K = 4


@pytest.fixture
def data():
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(K, (90,), generator=generator)
    X = torch.randn(90, 6, generator=generator, dtype=torch.float64)
    return X + torch.randn(K, 6, generator=generator, dtype=torch.float64)[y], y


def flips(eta):
    return torch.full((K, K), eta / (K - 1), dtype=torch.float64).fill_diagonal_(1 - eta)


def raw(model, X):
    """Logits before temperature."""
    return model.logits(X) * model.temperature


# The loss


def test_the_squared_loss_is_nsl_with_a_price_on_the_norm(normal):
    w, z = simplex(K, 5, dtype=torch.float64), normal(30, 5).detach()
    y = torch.arange(30) % K
    nsl = losses.NegativeSampleLogit().per_class(z @ w.T)[torch.arange(30), y]
    squared = (z - w[y]).square().sum(dim=1) / 2
    torch.testing.assert_close(squared, nsl + z.square().sum(dim=1) / 2 + 0.5)
    by_hand = theory.anchored_squared(float(z[0] @ w[y[0]]), float(z[0].norm()))
    assert by_hand == pytest.approx(float(squared[0]))


def test_the_closed_form_is_where_the_squared_loss_stands_still(data, descend):
    X, y = data
    Z = (X - X.mean(dim=0)) / X.std(dim=0, correction=0)
    W = simplex(K, K - 1, dtype=torch.float64)
    B = torch.zeros(6, K - 1, dtype=torch.float64, requires_grad=True)
    b = torch.zeros(K - 1, dtype=torch.float64, requires_grad=True)
    descend(lambda: (Z @ B + b - W[y]).square().sum() / 2 + 5.0 * B.square().sum() / 2, B, b)
    torch.testing.assert_close(
        ((Z @ B + b) @ W.T).detach(), raw(fit_ridge(X, y, K, alpha=5.0), X), atol=1e-6, rtol=1e-6
    )


# Noise


@pytest.mark.parametrize("eta", [0.1, 0.4, 0.7])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
def test_symmetric_noise_shrinks_the_solution_and_nothing_else(data, eta, alpha):
    X, y = data
    clean = fit_ridge(X, y, K, alpha=alpha)
    noisy = fit_ridge(X, torch.nn.functional.one_hot(y, K).double() @ flips(eta), K, alpha=alpha)
    factor = theory.noise_shrinkage(K, eta)
    torch.testing.assert_close(noisy.slope, factor * clean.slope, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(noisy.offset, factor * clean.offset, rtol=1e-9, atol=1e-12)
    assert torch.equal(noisy.logits(X).argmax(dim=1), clean.logits(X).argmax(dim=1))


def test_symmetric_noise_shrinks_kernel_models_too(data):
    X, y = data
    noisy_labels = torch.nn.functional.one_hot(y, K).double() @ flips(0.5)
    clean, noisy = (fit_ridge(X, labels, K, alpha=0.1, kernel="rbf") for labels in (y, noisy_labels))
    if clean.gamma == noisy.gamma:
        torch.testing.assert_close(noisy.slope, theory.noise_shrinkage(K, 0.5) * clean.slope, rtol=1e-6, atol=1e-9)
    assert noisy.loo_log_likelihood < clean.loo_log_likelihood


def test_asymmetric_noise_does_turn_predictions(data):
    X, y = data
    towards_the_next = torch.eye(K, dtype=torch.float64) * 0.45 + torch.eye(K, dtype=torch.float64).roll(1, 1) * 0.55
    clean = fit_ridge(X, y, K, alpha=1.0)
    noisy = fit_ridge(X, torch.nn.functional.one_hot(y, K).double() @ towards_the_next, K, alpha=1.0)
    assert not torch.equal(noisy.logits(X).argmax(dim=1), clean.logits(X).argmax(dim=1))


# Leaving out


def test_leaving_out_a_sample_equals_refitting_without_it(data):
    X, y = data
    model = fit_ridge(X, y, K, alpha=2.0)
    Z = ((X - X.mean(dim=0)) / X.std(dim=0, correction=0)).numpy()
    onehot = np.eye(K)[y.numpy()]
    for i in range(0, 90, 11):
        others = np.arange(90) != i
        alone = Reference(2.0).fit(Z[others], onehot[others]).predict(Z[i : i + 1])[0]
        expected = K / (K - 1) * (alone - 1 / K)
        np.testing.assert_allclose(model.loo_logits[i].numpy() * model.temperature, expected, rtol=1e-7, atol=1e-10)


def test_leaving_out_follows_the_formula_with_the_hat_matrix(data):
    X, y = data
    model = fit_ridge(X, y, K, alpha=2.0)
    Z = (X - X.mean(dim=0)) / X.std(dim=0, correction=0)
    hat = Z @ torch.linalg.inv(Z.T @ Z + 2.0 * torch.eye(6, dtype=torch.float64)) @ Z.T + 1 / 90
    fitted, own = raw(model, X), K / (K - 1) * (torch.nn.functional.one_hot(y, K).double() - 1 / K)
    for i in (0, 44):
        expected = [theory.left_out(float(fitted[i, j]), float(own[i, j]), float(hat[i, i])) for j in range(K)]
        assert (model.loo_logits[i] * model.temperature).tolist() == pytest.approx(expected, abs=1e-9)


# What it is equal to


def test_it_is_ridge_regression_on_centred_one_hot_labels_up_to_a_rotation(data):
    X, y = data
    model = fit_ridge(X, y, K, alpha=3.0)
    Z = ((X - X.mean(dim=0)) / X.std(dim=0, correction=0)).numpy()
    onehot = Reference(3.0).fit(Z, np.eye(K)[y.numpy()] - 1 / K)
    for seed in (0, 1):
        W = simplex(K, K - 1, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        B, b = model.onto(W)
        codes = (X - model.mean) @ B + b
        np.testing.assert_allclose((codes @ W.T).numpy(), K / (K - 1) * onehot.predict(Z), atol=1e-9)


def test_sums_of_parts_give_the_fit_on_all(data):
    X, y = data
    P = as_targets(y.numpy(), K)
    parts = [gather_chunk(X[i::3].numpy(), P[i::3]) for i in range(3)]
    together = fit_gathered(join(parts))
    whole = fit_gathered(gather(ArrayRows(X.numpy()), P))
    torch.testing.assert_close(together.logits(X), whole.logits(X), rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(whole.logits(X), fit_ridge(X, y, K).logits(X), rtol=1e-9, atol=1e-9)


def test_an_orthonormal_design_gives_the_class_mean_rule():
    # Centred orthogonal columns of equal length: least squares scores a class by the inner product with its mean.
    generator = torch.Generator().manual_seed(1)
    basis = torch.cat([torch.ones(60, 1, dtype=torch.float64), torch.randn(60, 5, generator=generator).double()], dim=1)
    X = torch.linalg.qr(basis).Q[:, 1:] * 60**0.5
    y = torch.arange(60) % K
    for alpha in (1e-6, 50.0):
        model = fit_ridge(X, y, K, alpha=alpha)
        means = torch.stack([X[y == j].mean(dim=0) for j in range(K)])
        expected = K / (K - 1) * (X @ means.T) * (60 / K) / (60 + alpha)
        torch.testing.assert_close(raw(model, X), expected, rtol=1e-9, atol=1e-9)
