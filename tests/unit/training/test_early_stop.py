"""Mirror of src/anchored/training/early_stop.py: against scipy's exact test, chance itself, and the noise formula."""

import pytest
import torch
from scipy.stats import binomtest

from anchored.training.early_stop import Best, is_worse


def pair(lost, won, both=50):
    best = torch.tensor([True] * lost + [False] * won + [True] * both)
    right = torch.tensor([False] * lost + [True] * won + [True] * both)
    return right, best


@pytest.mark.parametrize(("lost", "won"), [(0, 0), (3, 9), (20, 20), (30, 22), (40, 15), (12, 0), (300, 220)])
def test_agrees_with_the_exact_test_of_a_fair_coin(lost, won):
    """One-sided, 2 standard deviations are 2.3 %; these pairs are on one side or the other, not on the edge."""
    exact = binomtest(lost, lost + won, alternative="greater").pvalue if lost + won else 1.0
    assert is_worse(*pair(lost, won)) == (exact < 0.023)


def test_samples_on_which_both_agree_say_nothing():
    assert is_worse(*pair(40, 15, both=0)) == is_worse(*pair(40, 15, both=5000))


def test_what_differs_by_chance_is_rarely_called_worse():
    g = torch.Generator().manual_seed(1)
    called = [is_worse(*(torch.rand(2, 2000, generator=g) < 0.5)) for _ in range(1000)]
    assert 5 <= sum(called) <= 50  # 2.3 % of 1000


def test_wrong_labels_do_not_change_which_model_is_better():
    """6 points of true accuracy are found with 80 % of 5,000 labels wrong, as memorising costs them on MNIST."""
    g, n, k, rate = torch.Generator().manual_seed(0), 5000, 10, 0.8
    truth = torch.randint(k, (n,), generator=g)
    wrong = torch.rand(n, generator=g) < rate
    noisy = torch.where(wrong, (truth + torch.randint(1, k, (n,), generator=g)) % k, truth)
    good = torch.where(torch.rand(n, generator=g) < 0.96, truth, (truth + 1) % k)
    worse = torch.where(torch.rand(n, generator=g) < 0.06 / 0.96, (truth + 3) % k, good)
    assert is_worse(worse == truth, good == truth)
    assert is_worse(worse == noisy, good == noisy)
    assert not is_worse(good == noisy, worse == noisy)


def test_the_best_keeps_a_copy():
    layer = torch.nn.Linear(2, 2)
    best = Best.of(layer, torch.ones(3, dtype=torch.bool), 4)
    before = best.weights["weight"].clone()
    with torch.no_grad():
        layer.weight.add_(1.0)
    assert torch.equal(best.weights["weight"], before)
    assert best.epoch == 4
