"""Section 4.2: symmetric noise costs nothing for NSL and little for losses whose sum over labels is Lipschitz.

Noisy risks are exact expectations over the flips, never samples of them.
"""

import math

import pytest
import torch
import torch.nn.functional as F

from anchored import losses, theory
from anchored.prototypes import simplex

cross_entropy = losses.CrossEntropy().per_class
negative_logit = losses.NegativeSampleLogit().per_class


def flips(k, eta):
    """Transition matrix of symmetric noise: the true label is kept with 1 - eta, the others share eta."""
    return torch.full((k, k), eta / (k - 1), dtype=torch.float64).fill_diagonal_(1 - eta)


def risk(row, posterior):
    """Mean over x of the expected loss, from values ``(n, k)`` of each label and ``P(y|x)`` ``(n, k)``."""
    return (posterior * row).sum(dim=1).mean()


def posteriors(n, k, seed, sharpness=1.5):
    generator = torch.Generator().manual_seed(seed)
    return (sharpness * torch.randn(n, k, generator=generator, dtype=torch.float64)).softmax(dim=1)


def best_features(row, w, posterior, B, steps=400):
    """Features in the ball of radius B that minimise a risk convex in them, by accelerated projected descent."""
    z = ahead = torch.zeros(len(posterior), w.shape[1], dtype=torch.float64)
    for step in range(steps):
        ahead = ahead.detach().requires_grad_()
        (slope,) = torch.autograd.grad((posterior * row(ahead @ w.T)).sum(), ahead)
        before, z = z, (ahead - slope).detach()
        z = z * (B / z.norm(dim=1, keepdim=True).clamp(min=B))
        ahead = z + step / (step + 3) * (z - before)
    return z


# Proposition 4.3: the negative-signed sample logit


@pytest.mark.parametrize(("k", "d"), [(2, 1), (4, 3), (10, 16)])
def test_proposition_4_3_the_sum_over_labels_is_zero(k, d, normal):
    logits = normal(50, d) @ simplex(k, d, dtype=torch.float64).T
    torch.testing.assert_close((-logits).sum(dim=1), torch.zeros(50, dtype=torch.float64), atol=1e-12, rtol=0)


@pytest.mark.parametrize("eta", [0.1, 0.5, 0.74])
def test_proposition_4_3_the_noisy_risk_is_the_clean_one_scaled(eta, normal):
    k, w, p = 4, simplex(4, 6, dtype=torch.float64), posteriors(30, 4, seed=1)
    row = -normal(30, 6) @ w.T
    torch.testing.assert_close(risk(row, p @ flips(k, eta)), (1 - eta * k / (k - 1)) * risk(row, p))


@pytest.mark.parametrize("eta", [0.1, 0.5, 0.7])
def test_proposition_4_3_noisy_and_clean_minimisers_coincide(eta):
    w, p = simplex(4, 6, dtype=torch.float64), posteriors(20, 4, seed=2)
    clean, noisy = (best_features(negative_logit, w, q, B=1.0) for q in (p, p @ flips(4, eta)))
    torch.testing.assert_close(noisy, clean, atol=1e-6, rtol=0)


def test_proposition_4_3_unbalanced_prototypes_have_another_noisy_minimiser():
    w = F.normalize(simplex(4, 6, dtype=torch.float64) + 0.3, dim=1)
    p = posteriors(20, 4, seed=2)
    clean, noisy = (best_features(negative_logit, w, q, B=1.0) for q in (p, p @ flips(4, 0.5)))
    assert (noisy - clean).norm(dim=1).max() > 0.1


@pytest.mark.parametrize(("eta", "sign"), [(0.74, 1), (0.76, -1)])
def test_proposition_4_3_reaches_the_largest_margin_up_to_the_limit_of_the_noise(eta, sign, margins):
    w, y = simplex(4, 6, dtype=torch.float64), torch.arange(4)
    z = best_features(negative_logit, w, flips(4, eta), B=1.0)
    torch.testing.assert_close(z, sign * w, atol=1e-6, rtol=0)  # beyond (k-1)/k = 0.75 it is the opposite
    if sign > 0:
        assert margins(w, z, y).min().item() == pytest.approx(theory.max_margin(4), abs=1e-6)


def test_proposition_4_3_needs_bounded_features():
    w = simplex(4, 6, dtype=torch.float64)
    assert [(-norm * w @ w.T).diagonal().mean().item() for norm in (1, 10, 100)] == pytest.approx([-1, -10, -100])


def test_proposition_4_3_trained_prototypes_have_a_trivial_minimiser(margins):
    w = torch.tensor([[1.0, 0.0]] * 4).double()
    loss = (-w @ w.T).diagonal()
    assert (loss == -1).all()  # no unit vectors can do better, yet nothing is told apart
    assert margins(w, w, torch.arange(4)).max() == 0


def test_proposition_4_3_the_best_packing_need_not_sum_to_zero_beyond_d_plus_one():
    w = torch.tensor([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, 0, 1], [0, 0, -1]]).double()  # k = 5, d = 3
    assert (w @ w.T - 2 * torch.eye(5)).max() == 0  # largest cosine 0: nothing is better for k > d + 1
    assert w.sum(dim=0).norm() == 1


# Theorem 4.4: any loss whose sum over labels is Lipschitz


LOSSES = ["ce", "gce", "fl", "mae", "rce", "nce", "nfl", "nce+mae", "nsl"]
SYMMETRIC = {"mae", "rce", "nce", "nfl", "nce+mae"}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("anchored", [True, False])
def test_theorem_4_4_bounds_the_excess_risk_in_every_finite_class(name, anchored):
    row, k, d, B, generator = losses.get(name).per_class, 4, 3, 2.0, torch.Generator().manual_seed(7)
    w = simplex(k, d, dtype=torch.float64)
    if not anchored:
        w = F.normalize(torch.randn(k, d, generator=generator, dtype=torch.float64), dim=1)
    constant = theory.lipschitz_search(row, w, B, steps=60).lipschitz + 1e-9
    largest = 0.0
    for trial in range(60):
        p = posteriors(3, k, seed=trial, sharpness=4.0)
        z = F.normalize(torch.randn(600, d, generator=generator, dtype=torch.float64), dim=1)
        z = B * z * torch.rand(600, 1, generator=generator, dtype=torch.float64)
        rows = row(z @ w.T).view(200, 3, k)  # 200 functions on three points
        for eta in (0.3, 0.6):
            clean, noisy = ((q * rows).sum(dim=2).mean(dim=1) for q in (p, p @ flips(k, eta)))
            excess = (clean[noisy.argmin()] - clean.min()).item()
            assert excess <= theory.risk_bound(k, eta, constant, B)
            largest = max(largest, excess)
    symmetric = name in SYMMETRIC or (name == "nsl" and anchored)
    assert (largest < 1e-12) == symmetric  # the others do pay, so that the bound had something to bound


@pytest.mark.parametrize(("k", "eta", "B"), [(2, 0.3, 1.0), (4, 0.5, 2.0), (10, 0.8, 0.5)])
def test_theorem_4_4_the_bound_is_attained(k, eta, B):
    # A linear loss whose noisy risks tie: both functions are noisy minimisers, and one of them is as bad as can be.
    constant = 1.7
    own = eta * constant / ((1 - eta) * k - 1)
    w = torch.full((k, 1), -(own + constant) / (k - 1), dtype=torch.float64)
    w[0] = own
    z = torch.tensor([[B], [-B]], dtype=torch.float64)
    row = -z @ w.T
    clean, noisy = row[:, 0], row @ flips(k, eta)[0]
    assert theory.lipschitz_search(negative_logit, w, B).lipschitz == pytest.approx(constant)
    assert noisy[0].item() == pytest.approx(noisy[1].item(), abs=1e-12)
    assert (clean[1] - clean[0]).item() == pytest.approx(theory.risk_bound(k, eta, constant, B))


# Proposition 4.5: cross entropy over anchored prototypes


@pytest.mark.parametrize("k", [2, 3, 5, 10])
@pytest.mark.parametrize("B", [0.3, 1.0, 3.0, 8.0])
def test_proposition_4_5_the_constant_is_attained_on_the_scaled_prototypes_and_nowhere_exceeded(k, B):
    w = simplex(k, k, dtype=torch.float64)
    found = theory.lipschitz_search(cross_entropy, w, B, steps=60)
    assert found.lipschitz == pytest.approx(theory.lipschitz_ce(k, B), rel=1e-9)
    if k > 2 and B < 8:  # at k = 2 and for saturated softmax the maximum is flat
        assert (w @ found.z).max().item() == pytest.approx(B, rel=1e-3)


def slope_norm(w, z):
    """The gradient norm of the sum over labels of cross entropy, worked out by hand."""
    return (w.sum(dim=0) - len(w) * (w @ z).softmax(dim=0) @ w).norm().item()


@pytest.mark.parametrize("k", [2, 3, 6, 11])
@pytest.mark.parametrize("B", [0.05, 1.0, 4.0, 20.0])
def test_proposition_4_5_all_other_critical_points_are_lower(k, B):
    # On the sphere |z| = B a critical point splits the classes into m high and k - m low logits.
    w = simplex(k, k, dtype=torch.float64)
    values = [slope_norm(w, B * F.normalize(w[:m].sum(dim=0), dim=0)) for m in range(1, k)]
    assert values[0] == pytest.approx(theory.lipschitz_ce(k, B), rel=1e-9)
    assert values == sorted(values, reverse=True)
    opposite = slope_norm(w, -B * w[0])  # m = k - 1
    assert opposite == pytest.approx(values[-1], rel=1e-9)


@pytest.mark.parametrize(("k", "eta"), [(2, 0.2), (4, 0.5), (10, 0.2), (10, 0.8)])
@pytest.mark.parametrize("B", [0.3, 1.0, 3.0, 8.0])
def test_proposition_4_5_bounds_the_excess_risk_of_free_features(k, eta, B):
    w = simplex(k, k, dtype=torch.float64)
    noisy = best_features(cross_entropy, w, flips(k, eta)[:1], B)
    excess = (cross_entropy(noisy @ w.T)[0, 0] - theory.loss_floor(k, B)).item()
    assert excess <= theory.risk_bound_ce(k, eta, B)
    if theory.tolerant_scale(k, eta) >= B:
        torch.testing.assert_close(noisy, B * w[:1], atol=1e-4, rtol=0)
    else:
        assert noisy.norm().item() == pytest.approx(theory.tolerant_scale(k, eta), rel=1e-4)
        assert excess > 0


@pytest.mark.parametrize("eta", [0.2, 0.6])
@pytest.mark.parametrize("B", [0.5, 2.0, 5.0])
def test_proposition_4_5_bounds_the_excess_risk_when_the_classes_overlap(eta, B):
    w, p = simplex(4, 4, dtype=torch.float64), posteriors(20, 4, seed=5, sharpness=2.0)
    rows = [cross_entropy(best_features(cross_entropy, w, q, B) @ w.T) for q in (p, p @ flips(4, eta))]
    excess = (risk(rows[1], p) - risk(rows[0], p)).item()
    assert 0 < excess <= theory.risk_bound_ce(4, eta, B)


# The three comparisons after Proposition 4.5


def test_comparison_1_long_prototypes_have_no_constant():
    z = torch.tensor([1.0, 0.0], dtype=torch.float64)
    fixed = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    slopes = [slope_norm(torch.cat([t * z[None], fixed]), z) for t in (10.0, 100.0, 1000.0)]
    assert slopes == pytest.approx([2 * t for t in (10, 100, 1000)], rel=0.1)  # (k - 1) t
    assert theory.lipschitz_ce_unnormalized(3) == math.inf


@pytest.mark.parametrize("k", [2, 3, 10])
def test_comparison_2_unit_prototypes_approach_k_and_can_go_beyond(k):
    w = simplex(k, k, dtype=torch.float64)
    balanced = [slope_norm(w, R * w[0]) for R in (1.0, 4.0, 12.0)]
    assert balanced == sorted(balanced)
    assert balanced[-1] == pytest.approx(theory.lipschitz_ce_unit_prototypes(k), rel=1e-3)
    assert balanced[-1] < k  # approached, never reached
    opposite = torch.tensor([[1.0]] + [[-1.0]] * (k - 1)).double()
    assert slope_norm(opposite, 12 * opposite[0]) == pytest.approx(theory.lipschitz_ce_unanchored(k), rel=1e-6)


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("B", [0.2, 1.0, 3.0])
def test_comparison_3_opposite_prototypes_have_the_printed_slope(k, B):
    w = torch.tensor([[1.0]] + [[-1.0]] * (k - 1)).double()
    assert slope_norm(w, B * w[0]) == pytest.approx(theory.lipschitz_ce_unit_both(k, B), rel=1e-12)


@pytest.mark.parametrize("B", [0.01, 0.3, 1.0, 5.0, 20.0])
def test_comparison_3_exceeds_the_anchored_constant_from_three_classes_on(B):
    for k in (3, 4, 10, 100, 1000):
        assert theory.lipschitz_ce_unit_both(k, B) > theory.lipschitz_ce(k, B)
    assert theory.lipschitz_ce_unit_both(2, B) == pytest.approx(theory.lipschitz_ce(2, B), rel=1e-12)


@pytest.mark.parametrize(("k", "B"), [(3, 0.5), (6, 0.5), (6, 2.0)])
def test_comparison_3_the_exact_supremum_is_reached_by_climbing_and_never_passed(k, B, normal, descend):
    best = 0.0
    for _ in range(4):
        v, u = normal(k, 3), normal(3)

        def flatness(v=v, u=u):
            w, z = F.normalize(v, dim=1), B * F.normalize(u, dim=0)
            return -(w.sum(dim=0) - k * (w @ z).softmax(dim=0) @ w).norm()

        best = max(best, -descend(flatness, v, u, steps=200))
    exact = theory.lipschitz_ce_unanchored(k, B)
    assert exact * (1 - 1e-3) < best <= exact * (1 + 1e-12)
    assert exact >= theory.lipschitz_ce_unit_both(k, B)


# The appendix on other losses


@pytest.mark.parametrize("k", [2, 4, 10])
@pytest.mark.parametrize("B", [0.3, 2.0, 8.0])
@pytest.mark.parametrize("q", [0.2, 0.7])
def test_appendix_the_generalised_cross_entropy_stays_below_its_bound(k, B, q):
    reached = theory.lipschitz_search(
        losses.GeneralizedCrossEntropy(q).per_class, simplex(k, k, dtype=torch.float64), B, steps=40
    ).lipschitz
    assert 0.05 * theory.lipschitz_gce(k, B, q) < reached <= theory.lipschitz_gce(k, B, q)


@pytest.mark.parametrize("k", [2, 4, 10])
@pytest.mark.parametrize("B", [0.3, 2.0, 8.0])
@pytest.mark.parametrize("gamma", [0.5, 2.0])
def test_appendix_the_focal_loss_stays_below_its_bound(k, B, gamma):
    reached = theory.lipschitz_search(
        losses.Focal(gamma).per_class, simplex(k, k, dtype=torch.float64), B, steps=40
    ).lipschitz
    assert 0.05 * theory.lipschitz_focal(k, B, gamma) < reached <= theory.lipschitz_focal(k, B, gamma)


def test_appendix_generalised_cross_entropy_with_exponent_one_is_symmetric():
    found = theory.lipschitz_search(
        losses.GeneralizedCrossEntropy(1.0).per_class, simplex(5, 5, dtype=torch.float64), 3.0, steps=20
    )
    assert found.lipschitz < 1e-12
    assert theory.lipschitz_gce(5, 3.0, 1.0) == 0


@pytest.mark.parametrize("q", [0.3, 0.7])
def test_appendix_the_sum_of_powers_lies_above_one_not_below(q):
    p = posteriors(5000, 6, seed=3, sharpness=5.0)
    total = (p**q).sum(dim=1)
    assert (total >= 1).all()
    assert (total <= 6 ** (1 - q)).all()
    assert total.max() > 1.5  # the paper prints [0, 1]


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0])
def test_appendix_the_focal_factor_is_bounded_at_both_ends(gamma):
    ends = torch.logspace(-14, -1, 500, dtype=torch.float64)
    p = torch.cat([ends, 1 - ends])
    factor = (1 - p) ** (gamma - 1) * (1 - p - gamma * p * p.log())  # -p times the slope, as printed
    assert (factor <= (1 + gamma) * (1 - p) ** gamma + 1e-12).all()
    assert factor[0].item() == pytest.approx(1.0)  # the paper calls both ends unbounded
    assert factor[500].item() < 1e-6


# The noise-aware scale


def test_noise_aware_scale_makes_the_bound_vary_less_but_not_constant():
    rates = (0.1, 0.2, 0.3, 0.4, 0.6, 0.8)
    aware = [theory.risk_bound_ce(10, eta, theory.noise_aware_scale(eta)) for eta in rates]
    fixed = [theory.risk_bound_ce(10, eta, 1.0) for eta in rates]
    assert aware == pytest.approx([0.146, 0.097, 0.077, 0.070, 0.078, 0.175], abs=6e-4)
    assert 2 < max(aware) / min(aware) < 3 < 30 < max(fixed) / min(fixed)


def test_small_scales_turn_cross_entropy_into_the_negative_sample_logit(normal):
    w, z, s = simplex(10, 16, dtype=torch.float64), F.normalize(normal(50, 16), dim=1), 1e-3
    cosine = z @ w.T
    expansion = math.log(10) - s * cosine
    torch.testing.assert_close(cross_entropy(s * cosine), expansion, atol=s**2, rtol=0)
