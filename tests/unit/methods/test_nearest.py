"""Mirror of src/anchored/methods/nearest.py: neighbours and votes against a loop."""

import math

import pytest
import torch

from anchored.methods import nearest


def unit(n=40, d=3):
    rows = torch.randn(n, d, generator=torch.Generator().manual_seed(0))
    return torch.nn.functional.normalize(rows, dim=1)


@pytest.mark.parametrize("block", [100, 2**24])
def test_the_search_is_what_a_loop_finds(monkeypatch, block):
    monkeypatch.setattr(nearest, "_BLOCK_NUMBERS", block)
    rows, copies = unit(), torch.arange(40) // 2
    asked = torch.tensor([3, 17, 39])
    index, near = nearest.find_nearest(rows, copies, 4, asked)
    for place, i in enumerate(asked.tolist()):
        cosines = {j: float(rows[i] @ rows[j]) for j in range(40) if j // 2 != i // 2}
        assert index[place].tolist() == sorted(cosines, key=cosines.get, reverse=True)[:4]
        assert near[place].tolist() == pytest.approx([cosines[int(j)] for j in index[place]], abs=1e-6)


def test_who_is_missing_has_no_vote():
    rows = unit(3)
    index, near = nearest.most_similar(rows, torch.tensor([0]), torch.tensor([1, 2]), None, 5)
    assert near.isinf().sum() == 3
    shares = torch.full((2,), 0.5, dtype=torch.float64)
    for width in (math.inf, 0.2):
        votes = nearest.votes_of(
            torch.zeros_like(index), torch.ones(1, 5, dtype=torch.float64), shares, near, 1.0 / width
        )
        weight = sum(1.0 if math.isinf(width) else math.exp((float(s) - 1) / width) for s in near[0, :2])
        assert votes.exp()[0].tolist() == pytest.approx([0.5 + weight, 0.5])


def test_the_choice_is_the_likeliest():
    """Classes are told apart only along a small direction: half whitened rows see it, plain ones do not."""
    g = torch.Generator().manual_seed(0)
    y = torch.arange(400) % 2
    X = torch.stack([30 * torch.randn(400, generator=g), 3 * torch.randn(400, generator=g), 2.0 * y - 1], dim=1)
    spaces = [torch.nn.functional.normalize(X * torch.tensor(f), dim=1) for f in ((1.0, 1.0, 1.0), (0.02, 0.2, 1.0))]
    shares = torch.full((2,), 0.5, dtype=torch.float64)
    one = torch.ones(400, dtype=torch.float64)
    chosen = nearest.choose_votes(
        spaces,
        lambda rows, count: nearest.find_nearest(rows, None, count),
        lambda index, near, width: nearest.votes_of(y[index], one[index], shares, near, 1.0 / width),
        y,
        one,
        2,
    )
    assert chosen.space == 1
    assert nearest.choose_votes([], None, None, y, one, 2) is None
