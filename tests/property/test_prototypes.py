"""Invariances and bounds of prototypes, over random sizes and seeds."""

import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from anchored.prototypes import direct_sum, make, quality, reachable_margin, simplex
from anchored.prototypes._rotation import haar_frame

seeds = st.integers(0, 2**32)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


@settings(deadline=None)
@given(k=st.integers(2, 40), extra=st.integers(-1, 30), seed=seeds)
def test_a_simplex_is_exact_for_every_size(k, extra, seed):
    measured = quality(simplex(k, k + extra, generator=seeded(seed), dtype=torch.float64))
    assert measured.gram_error <= 1e-13
    assert measured.sum_norm <= 1e-13


@settings(deadline=None)
@given(d=st.integers(2, 30), share=st.floats(0, 1), seed=seeds)
def test_a_direct_sum_attains_rankins_bound_for_every_size(d, share, seed):
    k = d + 2 + round(share * (d - 2))
    measured = quality(direct_sum(k, d, generator=seeded(seed), dtype=torch.float64))
    assert measured.gram_error <= 1e-13
    assert measured.sum_norm <= 1e-12


@settings(max_examples=30, deadline=None)
@given(k=st.integers(2, 12), extra=st.integers(0, 12), seed=seeds)
def test_no_turn_of_the_simplex_beats_the_orthant_for_nonnegative_features(k, extra, seed):
    """The bound sqrt(k/(k-1)) on the worst class, for a Haar-random turn and for the orthant, where it is attained."""
    bound = math.sqrt(k / (k - 1))
    turned = reachable_margin(simplex(k, k + extra, generator=seeded(seed), dtype=torch.float64))
    aligned = reachable_margin(simplex(k, k + extra, orientation="orthant", generator=seeded(seed)))
    assert turned.min() <= bound + 1e-9
    assert (aligned - bound).abs().max() < 1e-6


@settings(deadline=None)
@given(k=st.integers(2, 10), d=st.integers(1, 8), seed=seeds)
def test_quality_does_not_depend_on_the_axes_or_the_order(k, d, seed):
    generator = seeded(seed)
    w = torch.randn(k, d, generator=generator, dtype=torch.float64)
    moved = (w @ haar_frame(d, d, generator))[torch.randperm(k, generator=generator)]
    before, after = quality(w), quality(moved)
    assert abs(before.max_cosine - after.max_cosine) < 1e-12
    assert abs(before.gram_error - after.gram_error) < 1e-11
    assert abs(before.sum_norm - after.sum_norm) < 1e-11


@settings(max_examples=30, deadline=None)
@given(k=st.integers(2, 10), d=st.integers(1, 8), seed=seeds)
def test_signed_features_reach_at_least_the_margin_of_nonnegative_ones(k, d, seed):
    w = torch.nn.functional.normalize(torch.randn(k, d, generator=seeded(seed), dtype=torch.float64), dim=1)
    signed = reachable_margin(w, nonnegative=False, tolerance=1e-3)
    assert (signed >= reachable_margin(w, nonnegative=True, tolerance=1e-3) - 1e-3).all()


@settings(max_examples=3, deadline=None)
@given(d=st.integers(2, 4), extra=st.integers(1, 5), seed=seeds)
def test_a_packing_beats_random_directions_and_respects_rankin(d, extra, seed):
    k = 2 * d + extra
    measured = quality(make(k, d, generator=seeded(seed), dtype=torch.float64))
    random = quality(torch.randn(k, d, generator=seeded(seed + 1), dtype=torch.float64))
    assert 0 < measured.max_cosine < random.max_cosine
