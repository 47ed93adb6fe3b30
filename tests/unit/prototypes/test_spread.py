"""Mirror of src/anchored/prototypes/_spread.py: the descent against autograd, and its ends."""

import pytest
import torch
import torch.nn.functional as F

from anchored.prototypes import spread


def by_autograd(k, d, steps):
    """The published procedure: the optimiser takes a step on the mean of the largest cosines, rows are normalised."""
    w = F.normalize(torch.randn(k, d, generator=torch.Generator().manual_seed(3)), dim=1)
    for _ in range(steps):
        w = w.detach().requires_grad_()
        product = w @ w.T + 1
        product = product - 2 * torch.diag(torch.diag(product))
        loss = product.max(dim=1).values.mean()
        loss.backward()
        with torch.no_grad():
            w = F.normalize(w - 0.1 * w.grad, dim=1)
    return w.detach()


@pytest.mark.parametrize(("k", "d"), [(4, 3), (12, 5), (30, 30)])
def test_the_descent_is_the_published_one(k, d):
    # The one with the lowest value is kept, which in the first steps is the last: its value has just been looked at.
    rows = spread(k, d, steps=21, generator=torch.Generator().manual_seed(3))
    torch.testing.assert_close(rows, by_autograd(k, d, 20))


@pytest.mark.parametrize(("k", "d"), [(3, 2), (4, 3), (10, 10)])
def test_few_prototypes_come_close_to_a_simplex(k, d):
    rows = spread(k, d)
    largest = (rows @ rows.T).fill_diagonal_(-1).max()
    assert -1 / (k - 1) <= largest < -1 / (k - 1) + 0.06
    torch.testing.assert_close(rows.norm(dim=1), torch.ones(k))


def test_more_prototypes_than_dimensions_are_spread_too():
    rows = spread(20, 8, steps=1000, generator=torch.Generator().manual_seed(0))
    start = spread(20, 8, steps=1, generator=torch.Generator().manual_seed(0))
    off = [(w @ w.T).fill_diagonal_(-1).max() for w in (start, rows)]
    assert off[1] < 0.2 < off[0]
