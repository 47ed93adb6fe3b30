"""Mirror of src/anchored/heads/anchored.py: the two formulas, the bound, and that the prototypes never move."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from anchored._errors import InputError
from anchored.heads import AnchoredHead
from anchored.prototypes import simplex


@pytest.fixture
def features():
    return 4 * torch.randn(16, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.fixture
def rows():
    return simplex(5, 12, dtype=torch.float64)


def test_pal_is_the_plain_product(features, rows):
    head = AnchoredHead(12, 5, normalize=False, scale=0.5, prototypes=rows)
    torch.testing.assert_close(head(features), 0.5 * torch.einsum("nd,kd->nk", features, rows))


def test_fnpal_is_the_scaled_cosine(features, rows):
    head = AnchoredHead(12, 5, scale=7.0, prototypes=rows)
    cosines = F.cosine_similarity(features[:, None, :], rows[None, :, :], dim=2)
    torch.testing.assert_close(head(features), 7.0 * cosines)


@pytest.mark.parametrize("scale", [0.2941, 1.0, 10.0])
def test_the_softmax_of_a_feature_on_its_prototype_attains_the_bound(rows, scale):
    k = 5
    p = AnchoredHead(12, k, scale=scale, prototypes=rows)(100 * rows).softmax(dim=1)
    bound = 1 / (1 + (k - 1) * math.exp(-scale * k / (k - 1)))
    torch.testing.assert_close(p.diagonal(), torch.full((k,), bound, dtype=torch.float64))


def test_logits_on_a_simplex_sum_to_zero(features):
    head = AnchoredHead(12, 5, normalize=False).double()
    assert head(features).sum(dim=1).abs().max() < 1e-5


def test_prototypes_are_saved_and_never_trained(features):
    torch_model = nn.Sequential(nn.Linear(12, 12), AnchoredHead(12, 5)).double()
    head = torch_model[1]
    before = head.prototypes.clone()
    assert list(head.parameters()) == []
    assert list(head.state_dict()) == ["prototypes", "saved_scale", "saved_normalize", "saved_features"]
    optimiser = torch.optim.SGD(torch_model.parameters(), lr=1.0, momentum=0.9, weight_decay=0.1)
    weight = torch_model[0].weight.clone()
    F.cross_entropy(torch_model(features), torch.arange(16) % 5).backward()
    optimiser.step()
    assert torch.equal(head.prototypes, before)
    assert not torch.equal(torch_model[0].weight, weight)


@pytest.mark.parametrize(("k", "d"), [(2, 1), (5, 12), (13, 12), (20, 12), (24, 12), (7, 3)])
def test_any_number_of_classes_gets_unit_rows(k, d):
    head = AnchoredHead(d, k)
    assert head.prototypes.shape == (k, d)
    torch.testing.assert_close(head.prototypes.norm(dim=1), torch.ones(k), atol=1e-6, rtol=0)
    distinct = head.prototypes @ head.prototypes.T - 2 * torch.eye(k)
    assert distinct.max() < 0.99


def test_nonnegative_features_can_reach_their_prototypes():
    k, d = 5, 12
    reachable = AnchoredHead(d, k, features="nonnegative").prototypes.clamp_min(0)
    logits = AnchoredHead(d, k, features="nonnegative")(reachable)
    other = logits.masked_fill(torch.eye(k, dtype=torch.bool), -math.inf).amax(dim=1)
    torch.testing.assert_close(logits.diagonal() - other, torch.full((k,), math.sqrt(k / (k - 1))))


def test_a_generator_turns_the_prototypes_and_none_is_always_the_same():
    one, two = (AnchoredHead(12, 5, generator=torch.Generator().manual_seed(seed)) for seed in (1, 2))
    assert not torch.allclose(one.prototypes, two.prototypes, atol=1e-2)
    torch.testing.assert_close(one.prototypes @ one.prototypes.T, two.prototypes @ two.prototypes.T)
    assert torch.equal(AnchoredHead(12, 5).prototypes, AnchoredHead(12, 5).prototypes)


def test_own_prototypes_are_copied_and_keep_their_dtype(rows):
    head = AnchoredHead(12, 5, prototypes=rows)
    assert head.prototypes.dtype == torch.float64
    kept = rows.clone()
    rows.zero_()
    assert torch.equal(head.prototypes, kept)


def test_strided_prototypes_are_packed(rows):
    head = AnchoredHead(12, 5, prototypes=rows.T.contiguous().T)
    assert head.prototypes.is_contiguous()
    assert torch.equal(head.prototypes, rows)


def test_own_prototypes_do_not_carry_a_graph(rows):
    head = AnchoredHead(12, 5, prototypes=F.normalize(rows.requires_grad_(), dim=1))
    assert not head.prototypes.requires_grad


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_own_prototypes_may_be_rounded_to_half(rows, dtype):
    assert AnchoredHead(12, 5, prototypes=rows.to(dtype)).prototypes.dtype == dtype


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda w: w[:4], r"\(num_classes, in_features\) = \(5, 12\), got \(4, 12\)"),
        (lambda w: w.T, r"got \(12, 5\)"),
        (lambda w: 2 * w, r"rows of length 1, got lengths from 2 to 2; use torch.nn.functional.normalize"),
        (lambda w: w * math.nan, r"rows of length 1"),
        (lambda w: w.long(), r"floating-point tensor, got torch.int64"),
        (lambda w: w.tolist(), r"floating-point tensor, got list"),
    ],
)
def test_refuses_prototypes_that_do_not_fit(rows, change, message):
    with pytest.raises(InputError, match=message):
        AnchoredHead(12, 5, prototypes=change(rows))


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan, "5"])
def test_refuses_a_scale_that_is_not_a_positive_number(scale):
    with pytest.raises(InputError, match="scale must lie in"):
        AnchoredHead(12, 5, scale=scale)


def test_refuses_an_unknown_kind_of_features():
    with pytest.raises(InputError, match="nonneg"):
        AnchoredHead(12, 5, features="nonnegativ")


def test_the_scale_may_be_changed_between_epochs(features, rows):
    head = AnchoredHead(12, 5, prototypes=rows)
    before = head(features)
    head.scale = 3.0
    torch.testing.assert_close(head(features), 3.0 * before)


def test_half_precision_logits_are_as_good_as_their_dtype(features):
    head = AnchoredHead(12, 5, scale=30.0)
    exact = head(features.float())
    found = head.half()(features.half())
    assert found.dtype == torch.float16
    assert (found - exact).abs().max() < 30 * 2e-3


def test_autocast_keeps_float32_logits(features):
    head = AnchoredHead(12, 5, scale=30.0)
    halved = features.bfloat16()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = head(halved)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, head(halved.float()))
