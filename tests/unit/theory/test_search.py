"""Mirror of src/anchored/theory/search.py: what it finds, where, and what it leaves alone."""

import pytest
import torch

from anchored._errors import InputError
from anchored.prototypes import simplex
from anchored.theory import lipschitz_search


def cross_entropy(logits):
    return -logits.log_softmax(dim=1)


def test_the_point_returned_has_the_slope_returned():
    w = torch.randn(7, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    found = lipschitz_search(cross_entropy, w, B=1.5)
    z = found.z.requires_grad_()
    cross_entropy((w @ z)[None]).sum().backward()
    assert found.lipschitz == pytest.approx(z.grad.norm().item(), rel=1e-9)
    assert found.z.norm() <= 1.5 + 1e-12


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_finds_the_highest_value_of_a_fine_grid(seed):
    w = torch.randn(5, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    line = torch.linspace(-1, 1, 401, dtype=torch.float64)
    grid = torch.cartesian_prod(line, line)
    grid = grid[grid.norm(dim=1) <= 1]
    slopes = (w.sum(dim=0) - 5 * (grid @ w.T).softmax(dim=1) @ w).norm(dim=1)  # the gradient, worked out by hand
    found = lipschitz_search(cross_entropy, w, B=1.0, starts=8)
    assert slopes.max() <= found.lipschitz <= slopes.max() + 0.01


def test_a_bounded_loss_is_steepest_inside_the_ball():
    w = simplex(3, 3, dtype=torch.float64)
    small, large = (
        lipschitz_search(lambda logits: -torch.expm1(0.7 * logits.log_softmax(dim=1)) / 0.7, w, B=B)
        for B in (5.0, 20.0)
    )
    assert small.lipschitz == pytest.approx(large.lipschitz, rel=1e-3)
    assert large.z.norm() < 10


def test_a_linear_loss_has_a_constant_slope():
    w = torch.randn(4, 6, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    assert lipschitz_search(torch.neg, w, B=1.0).lipschitz == pytest.approx(w.sum(dim=0).norm().item())


def test_the_same_seed_gives_the_same_answer_and_the_prototypes_stay_as_they_are():
    w = simplex(4, 6)
    before = w.clone()
    first, second = (lipschitz_search(cross_entropy, w, B=1.0, starts=5) for _ in range(2))
    assert first.lipschitz == second.lipschitz
    assert torch.equal(first.z, second.z)
    assert first.z.dtype == torch.float32
    assert torch.equal(w, before)


def test_works_where_gradients_are_switched_off():
    with torch.no_grad():
        assert lipschitz_search(cross_entropy, simplex(3, 3), B=1.0, steps=2).lipschitz > 0


@pytest.mark.parametrize("prototypes", [torch.zeros(3), torch.zeros(3, 2, dtype=torch.int64)])
def test_refuses_what_is_not_a_float_matrix(prototypes):
    with pytest.raises(InputError, match=r"prototypes must be a float matrix \(k, d\)"):
        lipschitz_search(cross_entropy, prototypes, B=1.0)


def test_refuses_a_bad_radius():
    with pytest.raises(InputError, match="B must lie in"):
        lipschitz_search(cross_entropy, simplex(3, 3), B=-1.0)
