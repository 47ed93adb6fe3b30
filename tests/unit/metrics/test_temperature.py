"""Mirror of src/anchored/metrics/_temperature.py: against scikit-learn, against a law we drew from, and its ends."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from anchored._errors import InputError
from anchored.metrics import fit_noise_and_temperature, fit_temperature, least_temperature, noisy_nll


def drawn(n, k, temperature, eta, seed=0):
    """Logits, labels drawn from softmax(logits / temperature), and those labels with symmetric noise."""
    g = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(n, k, generator=g, dtype=torch.float64)
    truth = torch.multinomial((logits / temperature).softmax(dim=1), 1, generator=g).squeeze(1)
    wrong = torch.rand(n, generator=g) < eta
    other = (truth + torch.randint(1, k, (n,), generator=g)) % k
    return logits, truth, torch.where(wrong, other, truth)


def test_without_noise_the_likelihood_is_cross_entropy():
    logits, truth, _ = drawn(50, 5, 1.0, 0.0)
    assert noisy_nll(logits, truth, 2.0) == pytest.approx(F.cross_entropy(logits / 2, truth).item(), abs=1e-12)


@pytest.mark.parametrize("eta", [0.2, 0.6])
def test_with_noise_it_is_that_of_the_mixed_law(eta):
    logits, truth, _ = drawn(50, 5, 1.0, 0.0)
    p = logits.softmax(dim=1).numpy()
    mixed = p @ ((1 - eta) * np.eye(5) + eta / 4 * (1 - np.eye(5)))
    by_hand = -np.log(mixed[np.arange(50), truth.numpy()]).mean()
    assert noisy_nll(logits, truth, 1.0, noise_rate=eta) == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.parametrize("temperature", [0.05, 1.0, 4.0])
@pytest.mark.parametrize("eta", [0.0, 0.4])
def test_the_temperature_that_made_the_labels_is_found_again(temperature, eta):
    logits, _, noisy = drawn(20000, 4, temperature, eta)
    assert fit_temperature(logits, noisy, noise_rate=eta) == pytest.approx(temperature, rel=0.1)


def test_ignoring_the_noise_makes_the_model_too_unsure():
    logits, _, noisy = drawn(5000, 4, 1.0, 0.4)
    assert fit_temperature(logits, noisy) > 2 * fit_temperature(logits, noisy, noise_rate=0.4)


def test_agrees_with_scikit_learn():
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator

    class Given(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def decision_function(self, X):
            return X

        def predict(self, X):
            return self.classes_[X.argmax(axis=1)]

    logits, truth, _ = drawn(3000, 4, 2.5, 0.0)
    X, y = logits.numpy(), truth.numpy()
    reference = CalibratedClassifierCV(FrozenEstimator(Given().fit(X, y)), method="temperature").fit(X, y)
    ours = (logits / fit_temperature(logits, truth)).softmax(dim=1).numpy()
    np.testing.assert_allclose(ours, reference.predict_proba(X), atol=2e-3)


def test_weights_count_samples():
    logits, _, noisy = drawn(300, 4, 1.5, 0.1)
    weights = torch.ones(300)
    weights[:100] = 2
    repeated = torch.cat([torch.arange(300), torch.arange(100)])
    assert fit_temperature(logits, noisy, weights=weights) == pytest.approx(
        fit_temperature(logits[repeated], noisy[repeated]), rel=1e-4
    )


def test_a_confident_mistake_does_not_break_the_fit():
    logits = torch.tensor([[1e4, 0.0], [0.0, 1e4], [1e4, 0.0]])
    assert math.isfinite(fit_temperature(logits, torch.tensor([0, 1, 1])))


@pytest.mark.parametrize("eta", [0.0, 0.2, 0.6])
def test_noise_and_temperature_are_told_apart(eta):
    logits, _, noisy = drawn(20000, 4, 0.5, eta)
    found, temperature = fit_noise_and_temperature(logits, noisy)
    assert found == pytest.approx(eta, abs=0.02)
    assert temperature == pytest.approx(0.5, rel=0.15)


@pytest.mark.parametrize("n", [10, 1000])
def test_at_the_least_temperature_the_confidence_follows_the_rule_of_succession(n):
    logits = torch.randn(n, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    p = (logits / least_temperature(logits)).softmax(dim=1)
    assert 1 - float(p.amax(dim=1).mean()) == pytest.approx(1 / (n + 2), rel=1e-6)


def test_for_the_least_temperature_too_weights_count_samples():
    logits = torch.randn(6, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    weights = torch.tensor([1, 2, 3, 0, 1, 2])
    repeated = logits.repeat_interleave(weights, dim=0)
    assert least_temperature(logits, weights=weights) == pytest.approx(least_temperature(repeated), rel=1e-8)


@pytest.mark.parametrize(("rows", "rate"), [(0, 0.0), (3, 1.0), (3, -0.1)])
def test_refusals(rows, rate):
    with pytest.raises(InputError):
        fit_temperature(torch.zeros(rows, 2), torch.zeros(rows, dtype=torch.int64), noise_rate=rate)


def test_probabilities_of_the_true_labels_stand_for_them():
    logits, truth, _ = drawn(300, 4, 0.5, 0.0)
    certain = F.one_hot(truth, 4).double()
    assert noisy_nll(logits, certain, 2.0) == pytest.approx(noisy_nll(logits, truth, 2.0))
    assert fit_temperature(logits, certain) == pytest.approx(fit_temperature(logits, truth), rel=1e-4)


def test_the_law_itself_gives_its_temperature_exactly():
    logits, _, _ = drawn(200, 4, 1.0, 0.0)
    assert fit_temperature(logits, (logits / 0.3).softmax(dim=1)) == pytest.approx(0.3, rel=1e-3)


def test_probabilities_that_do_not_fit_are_refused():
    logits, _, _ = drawn(20, 4, 1.0, 0.0)
    with pytest.raises(InputError, match=r"the shape of the logits and no noise rate, got \(20, 3\)"):
        fit_temperature(logits, torch.ones(20, 3) / 3)
    with pytest.raises(InputError, match="no noise rate"):
        fit_temperature(logits, torch.ones(20, 4) / 4, noise_rate=0.1)
