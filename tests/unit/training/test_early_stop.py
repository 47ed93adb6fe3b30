"""Mirror of src/anchored/training/early_stop.py: a grid instead of the search, a theorem, and chance itself."""

import math

import pytest
import torch

from anchored.training.early_stop import Best, is_worse, label_nll


def drawn(n=3000, rate=0.4, k=5, seed=0):
    g = torch.Generator().manual_seed(seed)
    truth = torch.randint(k, (n,), generator=g)
    wrong = torch.rand(n, generator=g) < rate
    noisy = torch.where(wrong, (truth + torch.randint(1, k, (n,), generator=g)) % k, truth)
    logits = torch.nn.functional.one_hot(truth, k) + 0.3 * torch.randn(n, k, generator=g)
    return logits, truth, noisy


def test_no_temperature_and_rate_of_a_grid_make_the_labels_likelier():
    logits, _, noisy = drawn()
    found = float(label_nll(logits, noisy).mean())
    k = logits.shape[1]
    for temperature in torch.logspace(-2, 1, 30).tolist():
        p = (logits.double() / temperature).softmax(dim=1)[torch.arange(len(noisy)), noisy]
        for rate in torch.linspace(0.0, 0.79, 30).tolist():
            assert found <= float(-((1 - rate) * p + rate / (k - 1) * (1 - p)).log().mean()) + 1e-6


def test_a_model_that_knows_the_truth_reaches_the_entropy_of_the_noise():
    rate, k = 0.4, 5
    _, truth, noisy = drawn(n=200_000, rate=rate, k=k)
    entropy = -(1 - rate) * math.log(1 - rate) - rate * math.log(rate / (k - 1))
    assert float(label_nll(torch.nn.functional.one_hot(truth, k).float(), noisy).mean()) == pytest.approx(
        entropy, abs=0.03
    )


def test_certainty_costs_nothing_and_mistakes_do():
    """The plain loss says the opposite of the first: that is why it is not the guide."""
    logits, _, noisy = drawn()
    pale, certain = label_nll(logits, noisy), label_nll(40 * logits, noisy)
    assert not is_worse(certain, pale)
    assert torch.nn.functional.cross_entropy(40 * logits, noisy) > torch.nn.functional.cross_entropy(logits, noisy) + 1
    mistaken = logits.clone()
    mistaken[:600] = mistaken[:600].roll(1, dims=1)
    assert is_worse(label_nll(mistaken, noisy), pale)


def test_what_differs_by_chance_is_rarely_called_worse():
    g = torch.Generator().manual_seed(1)
    best = torch.randn(200, generator=g, dtype=torch.float64)
    called = [is_worse(best + torch.randn(200, generator=g, dtype=torch.float64), best) for _ in range(1000)]
    assert 5 <= sum(called) <= 50  # 2.3 % of 1000


def test_at_most_five_thousand_samples_are_looked_at():
    logits, _, noisy = drawn(n=12_001)
    assert len(label_nll(logits, noisy)) == 4001
    assert torch.equal(label_nll(logits, noisy), label_nll(logits[::3], noisy[::3]))


def test_the_best_keeps_a_copy():
    layer = torch.nn.Linear(2, 2)
    best = Best.of(layer, torch.zeros(3), 4)
    before = best.weights["weight"].clone()
    with torch.no_grad():
        layer.weight.add_(1.0)
    assert torch.equal(best.weights["weight"], before)
    assert best.epoch == 4
