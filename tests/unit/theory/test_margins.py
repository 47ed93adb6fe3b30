"""Mirror of src/anchored/theory/margins.py: the two best margins, measured on the prototypes that reach them."""

import pytest
import torch

from anchored._errors import InputError
from anchored.prototypes import simplex
from anchored.theory import max_margin, max_margin_nonnegative


def min_margin(w, z):
    """gamma_min of features z, one per class, in plain loops."""
    logits = (z @ w.T).tolist()
    return min(row[y] - max(v for j, v in enumerate(row) if j != y) for y, row in enumerate(logits))


@pytest.mark.parametrize("k", [2, 3, 10, 50])
@pytest.mark.parametrize("B", [0.5, 1.0, 7.0])
def test_is_the_margin_of_features_on_simplex_prototypes(k, B):
    w = simplex(k, k + 3, dtype=torch.float64)
    assert max_margin(k, B) == pytest.approx(min_margin(w, B * w), rel=1e-12)


@pytest.mark.parametrize("k", [2, 3, 10, 50])
def test_is_the_margin_of_the_orthant_aligned_simplex_with_nonnegative_features(k):
    w = simplex(k, 2 * k, orientation="orthant", dtype=torch.float64)
    z = torch.nn.functional.normalize(w.clamp(min=0), dim=1)
    assert max_margin_nonnegative(k, 2.0) == pytest.approx(min_margin(w, 2 * z), rel=1e-12)


@pytest.mark.parametrize(
    ("k", "signed", "nonnegative"), [(10, 1.1111, 1.0541), (100, 1.0101, 1.0050), (50, 1.0204, 1.0102)]
)
def test_known_values(k, signed, nonnegative):
    assert max_margin(k) == pytest.approx(signed, abs=5e-5)
    assert max_margin_nonnegative(k) == pytest.approx(nonnegative, abs=5e-5)


@pytest.mark.parametrize("margin", [max_margin, max_margin_nonnegative])
def test_refuses_one_class_and_an_empty_ball(margin):
    with pytest.raises(InputError, match="k must be at least 2, got 1"):
        margin(1)
    with pytest.raises(InputError, match="B must lie in"):
        margin(3, B=0.0)
