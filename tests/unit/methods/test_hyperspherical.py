"""Mirror of src/anchored/methods/hyperspherical.py: the descent against autograd, its ends, the loss, the network."""

import pytest
import torch
import torch.nn.functional as F

from anchored import InputError, backbones
from anchored._random import stream
from anchored.methods import Given, parse, procedure
from anchored.methods.hyperspherical import HypersphericalPrototypes, spread

K = 4


def given(**settings):
    return Given(
        method=parse("hyperspherical"),
        backbone=lambda: backbones.get("tiny", (6,), generator=stream(0, "init")),
        counts=torch.tensor([40, 20, 10, 5]),
        **settings,
    )


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


def test_the_loss_is_the_square_of_one_minus_the_cosine():
    plan = procedure(given(options={"weight": 3.0}))
    network, (stage,) = plan.network(), plan.stages()
    x, labels = torch.randn(5, 6, generator=torch.Generator().manual_seed(0)), torch.tensor([0, 1, 2, 3, 0])
    cosines = F.cosine_similarity(network.features(x), network.head.prototypes[labels], dim=1)
    torch.testing.assert_close(stage.scored_by.pointwise(network(x), labels), (1 - cosines).square())
    torch.testing.assert_close(stage.loss.pointwise(network(x), labels), 3 * (1 - cosines).square())


@pytest.mark.parametrize(("asked", "dimensions"), [(None, K), (7, 7), (2, 2)])
def test_the_output_has_the_dimensions_of_the_prototypes(asked, dimensions):
    network = procedure(given(options={"dimensions": asked})).network()
    assert network.head.prototypes.shape == (K, dimensions)
    assert network.features(torch.zeros(1, 6)).shape == (1, dimensions)


def test_prototypes_that_are_going_to_be_loaded_are_not_searched(monkeypatch):
    monkeypatch.setattr("anchored.methods.hyperspherical.spread", None)
    assert procedure(given(blank=True)).network().head.prototypes.shape == (K, K)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dimensions": 1}, "dimensions must be at least 2"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"weight": 0.0}, r"weight must lie in \(0"),
        ({"learning_rate": -1.0}, r"learning_rate must lie in \(0"),
    ],
)
def test_refuses_settings_without_sense(options, message):
    with pytest.raises(InputError, match=message):
        HypersphericalPrototypes.Options(**options)
