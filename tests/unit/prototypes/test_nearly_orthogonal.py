"""Mirror of src/anchored/prototypes/_nearly_orthogonal.py: the bound is kept, Welch's bound is named."""

import pytest
import torch
import torch.nn.functional as F

from anchored import InputError
from anchored.prototypes import nearly_orthogonal


def largest(rows):
    return float((rows @ rows.T).fill_diagonal_(0).abs().max())


@pytest.mark.parametrize(("k", "d"), [(2, 2), (10, 10), (10, 64)])
def test_as_many_dimensions_as_classes_give_an_orthonormal_basis(k, d):
    rows = nearly_orthogonal(k, d, alpha=0.0)
    torch.testing.assert_close(rows @ rows.T, torch.eye(k))


@pytest.mark.parametrize(("k", "d", "alpha"), [(6, 4, 0.5), (12, 6, 0.5), (60, 30, 0.3)])
def test_beyond_no_cosine_is_larger_than_asked_for(k, d, alpha):
    rows = nearly_orthogonal(k, d, alpha=alpha, generator=torch.Generator().manual_seed(1))
    assert rows.shape == (k, d)
    assert 0 < largest(rows) <= alpha + 1e-4
    torch.testing.assert_close(rows.norm(dim=1), torch.ones(k))


def test_a_step_is_one_of_gradient_descent_on_the_excess():
    start = F.normalize(torch.randn(6, 3, generator=torch.Generator().manual_seed(2)), dim=1).requires_grad_()
    cosines = start @ start.T
    excess = (cosines.abs() - 0.5).clamp_min(0)
    (excess.sum() - excess.diagonal().sum()).backward()
    expected = F.normalize(start.detach() - 1e-3 * start.grad, dim=1)
    with pytest.raises(InputError) as refusal:  # after two looks it says how far it came
        nearly_orthogonal(6, 3, alpha=0.5, steps=2, generator=torch.Generator().manual_seed(2))
    assert f"up to {largest(expected):.4f} after 2 steps" in str(refusal.value)


def test_less_than_welchs_bound_is_refused_and_the_bound_named():
    # Six lines through the vertices of the icosahedron attain it in three dimensions: 1/sqrt(5).
    with pytest.raises(InputError, match=r"at least 0.4472 for 6 vectors in 3 dimensions .*, got 0.4; .* to 6"):
        nearly_orthogonal(6, 3, alpha=0.4)


def test_a_search_that_fails_says_what_it_reached():
    with pytest.raises(InputError, match=r"7 vectors in 3 dimensions .* after 50 steps, asked for 0.48; raise alpha"):
        nearly_orthogonal(7, 3, alpha=0.48, steps=50)
