"""Mirror of src/anchored/losses/anchored_squared.py: the distance of vectors, the frame identity, noise, gradients."""

import pytest
import torch
import torch.nn.functional as F

from anchored import losses, prototypes
from anchored.losses import AnchoredSquared, NegativeSampleLogit


def features(n, d, seed=0):
    return 2 * torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("k", [2, 3, 5, 11])
@pytest.mark.parametrize("orientation", ["random", "orthant"])
def test_the_outer_products_of_a_simplex_add_up_to_a_multiple_of_the_projection(k, orientation):
    w = prototypes.simplex(k, k + 3, orientation=orientation, dtype=torch.float64)
    outer = sum(torch.outer(row, row) for row in w)
    eigenvalues = torch.linalg.eigvalsh(outer)
    expected = torch.tensor([0.0] * 4 + [k / (k - 1)] * (k - 1), dtype=torch.float64)
    torch.testing.assert_close(eigenvalues, expected, atol=1e-9, rtol=0)


@pytest.mark.parametrize("k", [2, 3, 5, 11])
def test_is_half_the_squared_distance_from_the_anchor(k):
    w = prototypes.simplex(k, k - 1, dtype=torch.float64)
    z, y = features(20, k - 1), torch.arange(20) % k
    by_hand = torch.stack([0.5 * (z[i] - w[y[i]]).square().sum() for i in range(20)])
    torch.testing.assert_close(AnchoredSquared(reduction="none")(z @ w.T, y), by_hand)


def test_what_lies_outside_the_span_of_the_anchors_costs_nothing():
    w = prototypes.simplex(4, 10, dtype=torch.float64)
    z, y = features(20, 10), torch.arange(20) % 4
    inside = z @ torch.linalg.pinv(w) @ w
    got = AnchoredSquared(reduction="none")(z @ w.T, y)
    torch.testing.assert_close(got, 0.5 * (inside - w[y]).square().sum(dim=1))
    torch.testing.assert_close(got, AnchoredSquared(reduction="none")(inside @ w.T, y))


def test_is_zero_at_the_anchor_and_positive_around_it():
    w = prototypes.simplex(6, 5, dtype=torch.float64)
    loss = AnchoredSquared(reduction="none")
    torch.testing.assert_close(loss(w @ w.T, torch.arange(6)), torch.zeros(6, dtype=torch.float64))
    moved = w + 0.1 * F.normalize(features(6, 5), dim=1)
    torch.testing.assert_close(loss(moved @ w.T, torch.arange(6)), torch.full((6,), 0.005, dtype=torch.float64))


def test_the_gradient_is_the_feature_minus_its_anchor():
    w = prototypes.simplex(5, 4, dtype=torch.float64)
    z = features(3, 4).requires_grad_()
    AnchoredSquared(reduction="sum")(z @ w.T, torch.tensor([0, 3, 3])).backward()
    torch.testing.assert_close(z.grad, z.detach() - w[[0, 3, 3]])


def test_on_normalised_features_it_is_the_negative_sample_logit_plus_one():
    w = prototypes.simplex(5, 4, dtype=torch.float64)
    logits = F.normalize(features(20, 4), dim=1) @ w.T
    torch.testing.assert_close(AnchoredSquared().per_class(logits), NegativeSampleLogit().per_class(logits) + 1)


def test_the_row_sums_to_half_k_times_one_plus_the_squared_norm():
    w = prototypes.simplex(5, 4, dtype=torch.float64)
    z = features(20, 4)
    total = AnchoredSquared().per_class(z @ w.T).sum(dim=1)
    torch.testing.assert_close(total, 2.5 * (1 + z.square().sum(dim=1)))


@pytest.mark.parametrize("eta", [0.0, 0.3, 0.6])
def test_symmetric_noise_shrinks_the_minimiser_and_keeps_its_direction(eta):
    k = 5
    w = prototypes.simplex(k, k - 1, dtype=torch.float64)
    p = torch.tensor([[0.5, 0.2, 0.15, 0.1, 0.05]], dtype=torch.float64)
    noisy = (1 - eta) * p + eta / (k - 1) * (1 - p)
    z = torch.zeros(1, k - 1, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(AnchoredSquared()(z @ w.T, noisy), z)  # one Newton step: the Hessian is I
    torch.testing.assert_close(-gradient, (1 - eta * k / (k - 1)) * (p @ w))


def test_on_linear_features_it_is_least_squares_onto_the_anchors():
    w = prototypes.simplex(4, 3, dtype=torch.float64)
    x, y = features(50, 6), torch.arange(50) % 4
    matrix = torch.linalg.lstsq(x, w[y]).solution.requires_grad_()
    (gradient,) = torch.autograd.grad(AnchoredSquared()(x @ matrix @ w.T, y), matrix)
    torch.testing.assert_close(gradient, torch.zeros_like(gradient))
    (elsewhere,) = torch.autograd.grad(AnchoredSquared()(x @ (matrix + 0.1) @ w.T, y), matrix)
    assert elsewhere.abs().max() > 0.01


def test_its_lowest_value_over_arbitrary_logits_is_the_documented_one():
    k = 4
    logits = torch.zeros(1, k, dtype=torch.float64)
    logits[0, 2] = k / (k - 1)
    lowest = AnchoredSquared()(logits, torch.tensor([2])).item()
    assert lowest == pytest.approx(-1 / (2 * (k - 1)))
    around = logits + 0.3 * features(200, k)
    assert AnchoredSquared().per_class(around)[:, 2].min().item() > lowest


def test_can_be_asked_for_by_name():
    assert isinstance(losses.get("anchored-squared", reduction="sum"), AnchoredSquared)
