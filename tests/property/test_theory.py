"""Bounds that hold for every k, B, eta, margin and feature; symmetries; no overflow anywhere."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from anchored import theory
from anchored.prototypes import simplex

classes = st.integers(2, 12)
many_classes = st.integers(2, 10**6)
radius = st.floats(1e-3, 20.0)
any_radius = st.floats(1e-9, 1e9)
seeds = st.integers(0, 2**16)
margins = st.floats(-1e3, 1e3)


def draw(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def min_margin(w, z):
    logits = z @ w.T
    others = logits.masked_fill(torch.eye(len(w), dtype=torch.bool), -torch.inf)
    return (logits.diagonal() - others.amax(dim=1)).min().item()


@settings(deadline=None)
@given(k=classes, d=st.integers(1, 12), B=radius, seed=seeds)
def test_no_features_in_the_ball_exceed_the_largest_margin(k, d, B, seed):
    w, z = F.normalize(draw(seed, k, d), dim=1), B * F.normalize(draw(seed + 1, k, d), dim=1)
    best = theory.max_margin(k, B)
    assert min_margin(w, z) <= best * (1 + 1e-12)
    assert min_margin(w, B * w) <= best * (1 + 1e-12)
    assert min_margin(w, z.abs()) <= theory.max_margin_nonnegative(k, B) * (1 + 1e-12)


@settings(deadline=None)
@given(k=classes, B=radius, seed=seeds)
def test_every_probability_lies_in_the_interval(k, B, seed):
    w = simplex(k, k, dtype=torch.float64)
    towards = torch.cat([draw(seed, 20, k), w, -w, (w[:, None] - w).flatten(0, 1)])
    p = (B * F.normalize(towards, dim=1) @ w.T).softmax(dim=1)
    assert p.max() <= theory.max_probability(k, B) * (1 + 1e-9)
    assert p.min() >= theory.probability_floor(k, B) * (1 - 1e-9)


@settings(deadline=None)
@given(k=classes, B=radius, q=st.floats(0.01, 1.0), gamma=st.floats(0.0, 5.0), seed=seeds)
def test_no_gradient_exceeds_its_constant(k, B, q, gamma, seed):
    w = simplex(k, k, dtype=torch.float64)
    z = (B * F.normalize(torch.cat([draw(seed, 20, k), w, -w]), dim=1)).requires_grad_()
    log_p = (z @ w.T).log_softmax(dim=1)
    focal = -((-torch.expm1(log_p.clamp(max=-1e-300))) ** gamma) * log_p
    for row, constant in (
        (-log_p, theory.lipschitz_ce(k, B)),
        (-torch.expm1(q * log_p) / q, theory.lipschitz_gce(k, B, q)),
        (focal, theory.lipschitz_focal(k, B, gamma)),
    ):
        (slope,) = torch.autograd.grad(row.sum(), z, retain_graph=True)
        assert slope.norm(dim=1).max() <= constant * (1 + 1e-9) + 1e-12


@settings(deadline=None)
@given(k=classes, d=st.integers(1, 6), B=radius, seed=seeds)
def test_no_unit_prototypes_exceed_the_unanchored_constant(k, d, B, seed):
    w, z = F.normalize(draw(seed, k, d), dim=1), B * F.normalize(draw(seed + 1, 30, d), dim=1)
    slopes = (w.sum(dim=0) - k * (z @ w.T).softmax(dim=1) @ w).norm(dim=1)
    assert slopes.max() <= theory.lipschitz_ce_unanchored(k, B) * (1 + 1e-9) + 1e-12


@settings(deadline=None)
@given(k=many_classes, B=any_radius)
def test_anchoring_never_has_the_larger_constant(k, B):
    anchored = theory.lipschitz_ce(k, B)
    slack = 1 + 1e-12
    assert 0 < anchored <= theory.lipschitz_ce_unit_prototypes(k) * slack
    assert anchored <= theory.lipschitz_ce_unit_both(k, B) * slack
    assert theory.lipschitz_ce_unit_both(k, B) <= theory.lipschitz_ce_unanchored(k, B) * slack
    assert theory.lipschitz_ce_unanchored(k, B) <= theory.lipschitz_ce_unanchored(k) * slack


@settings(deadline=None)
@given(k=many_classes, B=any_radius, share=st.floats(0, 0.999), more=st.floats(1.0, 10.0))
def test_the_risk_bound_grows_with_noise_and_with_the_norm(k, B, share, more):
    eta = share * (k - 1) / k
    bound = theory.risk_bound_ce(k, eta, B)
    assert math.isfinite(bound)
    assert bound >= theory.risk_bound_ce(k, eta / more, B) >= 0
    assert theory.risk_bound_ce(k, eta, B * more) >= bound * (1 - 1e-12)


@settings(deadline=None)
@given(k=many_classes, scale=any_radius, alpha=margins)
def test_probabilities_and_floors_are_finite_and_in_order(k, scale, alpha):
    assert 0 <= theory.probability_floor(k, scale) <= 1 / k * (1 + 1e-9)
    assert 1 / k * (1 - 1e-9) <= theory.max_probability(k, scale) <= 1
    assert 0 <= theory.loss_floor(k, scale, alpha) < math.inf


@settings(deadline=None)
@given(plus=margins, minus=margins, r=st.none() | st.floats(1e-6, 1e6))
def test_exchanging_the_classes_mirrors_the_threshold(plus, minus, r):
    threshold = theory.ldam_threshold(plus, minus, r)
    assert 0 <= threshold <= 1
    assert threshold + theory.ldam_threshold(minus, plus, r) == pytest.approx(1.0, abs=1e-9)
    # The class with the larger alpha is the one that has to be likelier; below -30 the loss no longer sees alpha.
    if plus > minus and plus > -30:
        assert threshold >= 0.5 - 1e-9


@settings(deadline=None)
@given(plus=st.floats(-20, 20), minus=st.floats(-20, 20), p=st.floats(0.01, 0.99))
def test_the_slope_at_zero_decides_the_prediction(plus, minus, p):
    def slope(u):  # of the conditional risk, one term per class
        return -p / (1 + math.exp(u + plus)) + (1 - p) / (1 + math.exp(minus - u))

    if abs(p - theory.ldam_threshold(plus, minus)) > 1e-9:
        assert (slope(0.0) < 0) == (p > theory.ldam_threshold(plus, minus))


@settings(deadline=None)
@given(eta=st.floats(0, 0.99), more=st.floats(0, 0.5))
def test_more_noise_asks_for_a_smaller_scale(eta, more):
    assert 0 < theory.noise_aware_scale(min(eta + more, 0.999)) <= theory.noise_aware_scale(eta) <= 5
