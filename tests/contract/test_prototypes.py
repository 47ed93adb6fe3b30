"""What every prototype set promises: shape, dtype, unit rows, distinct rows, one answer per generator, refusals."""

import pytest
import torch

from anchored import InputError
from anchored.prototypes import _packing, _relu_packing, direct_sum, make, packing, paper, quality, simplex
from anchored.prototypes._anneal import Effort

FAMILY = {
    "simplex": (simplex, 5, 9),
    "simplex, k = d + 1": (simplex, 5, 4),
    "simplex, orthant": (lambda k, d, **o: simplex(k, d, orientation="orthant", **o), 5, 9),
    "direct sum": (direct_sum, 7, 5),
    "packing": (packing, 9, 4),
    "packing, plane": (packing, 7, 2),
    "packing, nonnegative": (lambda k, d, **o: packing(k, d, nonnegative=True, **o), 6, 4),
    "make": (make, 11, 5),
    "make, nonnegative": (lambda k, d, **o: make(k, d, features="nonnegative", **o), 4, 9),
}


@pytest.fixture(params=FAMILY, ids=str)
def member(request, monkeypatch):
    """A builder with its sizes. The promises hold however short the search is, so it is cut short."""
    for module in (_packing, _relu_packing):
        monkeypatch.setattr(module, "effort", lambda k, d: Effort(restarts=8, steps=20, first=4.0, last=256.0))
    return FAMILY[request.param]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_rows_have_the_shape_and_dtype_asked_and_unit_length_to_rounding(member, dtype):
    build, k, d = member
    w = build(k, d, dtype=dtype)
    assert w.shape == (k, d)
    assert w.dtype == dtype
    assert w.is_contiguous()
    assert not w.requires_grad
    assert (w.double().norm(dim=1) - 1).abs().max() <= 2 * torch.finfo(dtype).eps


def test_no_two_rows_are_closer_than_a_right_angle_shared_out_allows(member):
    build, k, d = member
    assert quality(build(k, d)).min_angle_degrees > 30


def test_the_default_is_float32_with_seed_0(member):
    build, k, d = member
    w = build(k, d)
    assert w.dtype == torch.float32
    assert torch.equal(w, build(k, d, generator=torch.Generator().manual_seed(0)))


def test_the_global_generator_is_neither_read_nor_moved(member):
    build, k, d = member
    before = torch.get_rng_state()
    first = build(k, d)
    assert torch.equal(torch.get_rng_state(), before)
    with torch.random.fork_rng():
        torch.manual_seed(123)
        assert torch.equal(build(k, d), first)


def test_paper_keeps_the_same_promises():
    before = torch.get_rng_state()
    w = paper(4, 6, steps=20)
    assert torch.equal(torch.get_rng_state(), before)
    assert w.shape == (4, 6)
    assert w.dtype == torch.float32
    assert not w.requires_grad


@pytest.mark.parametrize("build", [simplex, direct_sum, packing, paper, make])
@pytest.mark.parametrize(("k", "d"), [(1, 5), (0, 5), (5, 0), (3, 1), (2.5, 5), (5, "9")])
def test_impossible_sizes_are_refused_in_one_line(build, k, d):
    with pytest.raises(InputError) as refusal:
        build(k, d)
    assert "\n" not in str(refusal.value)
    assert ";" in str(refusal.value)
