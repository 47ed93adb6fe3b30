"""Heads under arbitrary inputs: invariances, bounds and the geometry that the anchors guarantee."""

import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from anchored.heads import AnchoredHead, CosineHead, LinearHead, ScaledHead, TauNormHead

sizes = st.integers(2, 9).flatmap(lambda k: st.tuples(st.just(k), st.integers(k - 1, 16)))  # (k, d) with k <= d + 1
seeds = st.integers(0, 2**16)
scales = st.floats(0.05, 50.0)


def draw(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def anchored(k, d, seed, **options):
    return AnchoredHead(d, k, generator=torch.Generator().manual_seed(seed), **options).double()


@given(size=sizes, seed=seeds, scale=scales, length=st.floats(1e-3, 1e6))
def test_fnpal_sees_directions_only_and_stays_within_its_scale(size, seed, scale, length):
    k, d = size
    head, z = anchored(k, d, seed, scale=scale), draw(seed, 6, d)
    logits = head(z)
    torch.testing.assert_close(head(length * z), logits)
    assert logits.abs().max() <= scale * (1 + 1e-5)


@given(size=sizes, seed=seeds, scale=scales)
def test_pal_is_linear(size, seed, scale):
    k, d = size
    head = anchored(k, d, seed, normalize=False, scale=scale)
    a, b = draw(seed, 6, d), draw(seed + 1, 6, d)
    torch.testing.assert_close(head(2 * a - 3 * b), 2 * head(a) - 3 * head(b))


@given(size=sizes, seed=seeds, normalize=st.booleans())
def test_logits_sum_to_zero_on_a_simplex(size, seed, normalize):
    k, d = size
    head, z = anchored(k, d, seed, normalize=normalize), draw(seed, 6, d)
    assert head(z).sum(dim=1).abs().max() <= 1e-5 * max(1.0, z.norm(dim=1).max().item())


@given(size=sizes, seed=seeds, scale=scales)
def test_no_feature_has_a_larger_margin_than_its_prototype(size, seed, scale):
    k, d = size
    head = anchored(k, d, seed, scale=scale)

    def margins(logits, target):
        rest = logits.scatter(1, target[:, None], -math.inf).amax(dim=1)
        return logits.gather(1, target[:, None]).squeeze(1) - rest

    own = margins(head(head.prototypes), torch.arange(k))
    torch.testing.assert_close(own, torch.full((k,), scale * k / (k - 1), dtype=torch.float64), rtol=1e-5, atol=1e-6)
    for label in range(k):
        assert (margins(head(draw(seed, 20, d)), torch.full((20,), label)) <= own[label] * (1 + 1e-5)).all()


@given(size=sizes, seed=seeds)
def test_permuting_the_classes_permutes_the_logits(size, seed):
    k, d = size
    head, z = anchored(k, d, seed), draw(seed, 6, d)
    order = torch.randperm(k, generator=torch.Generator().manual_seed(seed))
    permuted = AnchoredHead(d, k, prototypes=head.prototypes[order])
    torch.testing.assert_close(permuted(z), head(z)[:, order])


@given(size=sizes, seed=seeds, stretch=st.floats(1e-3, 1e3))
def test_cosine_logits_ignore_the_length_of_rows(size, seed, stretch):
    k, d = size
    head, z = CosineHead(d, k, scale=30.0, generator=torch.Generator().manual_seed(seed)).double(), draw(seed, 6, d)
    before = head(z)
    with torch.no_grad():
        head.weight *= stretch
    torch.testing.assert_close(head(z), before)


@given(size=sizes, seed=seeds, tau=st.floats(0.0, 2.0))
def test_tau_norm_is_a_choice_of_factors_without_bias(size, seed, tau):
    k, d = size
    linear = LinearHead(d, k, bias=False, generator=torch.Generator().manual_seed(seed)).double()
    scaled = ScaledHead(linear)
    with torch.no_grad():
        scaled.factors.copy_(linear.weight.norm(dim=1) ** -tau)
    z = draw(seed, 6, d)
    torch.testing.assert_close(TauNormHead(linear, tau=tau)(z), scaled(z))


@settings(max_examples=30)
@given(size=sizes, seed=seeds, exponent=st.integers(-300, 300))
def test_no_length_of_features_makes_logits_or_gradients_infinite(size, seed, exponent):
    k, d = size
    head = anchored(k, d, seed, scale=10.0)
    z = (draw(seed, 3, d) * 10.0**exponent).requires_grad_()
    logits = head(z)
    logits.logsumexp(dim=1).sum().backward()
    assert torch.isfinite(logits).all()
    assert torch.isfinite(z.grad).all()
