"""Mirror of src/anchored/audit/next_to_show.py: suspect, and not one mistake twenty times."""

import pytest
import torch

from anchored import InputError
from anchored.audit import next_to_show


def crowd(seed=0):
    """Fifty copies of one clear mistake, and ten others that are a little less clear and lie elsewhere."""
    g = torch.Generator().manual_seed(seed)
    features = torch.cat([torch.tensor([[5.0] + [0.0] * 10]).repeat(50, 1), 5 * torch.eye(11)[1:]])
    features = features + 0.05 * torch.randn(60, 11, generator=g)
    wrong = torch.cat([torch.full((50,), 0.95), torch.full((10,), 0.8)])
    return torch.stack([1 - wrong, wrong], dim=1), features, torch.zeros(60, dtype=torch.int64)


def test_the_first_ones_are_not_all_the_same_mistake():
    posterior, features, labels = crowd()
    plain = next_to_show(posterior, features, 8, labels=labels, diversity=0.0)
    spread = next_to_show(posterior, features, 8, labels=labels)
    assert bool((plain < 50).all())
    assert int((spread >= 50).sum()) >= 5
    assert int(spread[0]) < 50  # the most suspect comes first all the same


def test_other_labels_do_not_take_value_away():
    posterior = torch.tensor([[0.1, 0.9, 0.0], [0.1, 0.0, 0.9], [0.3, 0.7, 0.0]])
    chosen = next_to_show(posterior, torch.ones(3, 2), 2, labels=torch.zeros(3, dtype=torch.int64))
    assert chosen.tolist() == [0, 1]


def test_the_confirmed_are_not_shown_again_and_nobody_twice():
    posterior, features, labels = crowd()
    confirmed = torch.arange(60) < 30
    chosen = next_to_show(posterior, features, 100, labels=labels, confirmed=confirmed)
    assert sorted(chosen.tolist()) == list(range(30, 60))


def test_refuses_what_does_not_fit():
    posterior, features, labels = crowd()
    with pytest.raises(InputError, match="must have 60 rows"):
        next_to_show(posterior, features[:5], 3, labels=labels)
    with pytest.raises(InputError, match="diversity"):
        next_to_show(posterior, features, 3, labels=labels, diversity=1.0)
