"""Mirror of src/anchored/prototypes/_simplex.py: the Gram matrix, the two orientations, the refusals."""

import math

import pytest
import torch

from anchored import InputError
from anchored.prototypes import simplex
from anchored.prototypes._simplex import helmert

SIZES = [(2, 1), (2, 7), (3, 2), (10, 9), (10, 128), (100, 99), (1000, 999), (1000, 2048)]


def gram_error(w):
    """Against the definition, entry by entry: 1 on the diagonal and -1/(k-1) off it."""
    k = len(w)
    ideal = torch.full((k, k), -1 / (k - 1), dtype=torch.float64).fill_diagonal_(1.0)
    return float((w.double() @ w.double().T - ideal).abs().max())


@pytest.mark.parametrize(("k", "d"), SIZES)
@pytest.mark.parametrize(("dtype", "limit"), [(torch.float64, 1e-13), (torch.float32, 1e-6)])
def test_random_orientation_has_the_simplex_gram_matrix(k, d, dtype, limit):
    w = simplex(k, d, dtype=dtype)
    assert w.shape == (k, d)
    assert w.dtype == dtype
    assert gram_error(w) <= limit


@pytest.mark.parametrize(("k", "d"), [(k, d) for k, d in SIZES if k <= d] + [(2, 2), (10, 10), (7, 10)])
@pytest.mark.parametrize(("dtype", "limit"), [(torch.float64, 1e-13), (torch.float32, 1e-6)])
def test_orthant_orientation_has_the_simplex_gram_matrix(k, d, dtype, limit):
    assert gram_error(simplex(k, d, orientation="orthant", dtype=dtype)) <= limit


def test_random_orientation_is_haar():
    """Entry (0, 0) of a Haar-turned unit vector in R^3 is uniform on [-1, 1] (Archimedes); here in 4000 draws."""
    generator = torch.Generator().manual_seed(0)
    draws = torch.stack([simplex(3, 3, generator=generator) for _ in range(4000)]).double()
    for row, column in [(0, 0), (1, 2), (2, 1)]:
        ordered = draws[:, row, column].sort().values
        uniform = torch.linspace(-1, 1, len(ordered), dtype=torch.float64)
        assert (ordered - uniform).abs().max() / 2 < 1.95 / math.sqrt(len(ordered))  # Kolmogorov, p = 0.001


@pytest.mark.parametrize(("k", "d"), [(2, 2), (3, 10), (10, 64), (10, 10)])
def test_orthant_supports_are_disjoint_use_all_coordinates_and_keep_the_margin(k, d):
    w = simplex(k, d, orientation="orthant", dtype=torch.float64)
    support = w > 0
    assert (support.sum(dim=0) == 1).all()
    assert support.sum(dim=1).max() - support.sum(dim=1).min() <= 1
    z = torch.nn.functional.normalize(support.double(), dim=1)
    scores = z @ w.T
    for y in range(k):
        rival = max(float(scores[y, j]) for j in range(k) if j != y)
        assert float(scores[y, y]) - rival == pytest.approx(math.sqrt(k / (k - 1)), abs=1e-14)


@pytest.mark.parametrize("orientation", ["random", "orthant"])
def test_the_generator_decides_the_orientation(orientation):
    def draw(seed):
        return simplex(4, 8, orientation=orientation, generator=torch.Generator().manual_seed(seed))

    assert torch.equal(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))
    assert torch.equal(simplex(4, 8, orientation=orientation), draw(0))


def test_helmert_agrees_with_centred_axes_in_every_distance():
    axes = torch.eye(6, dtype=torch.float64)
    centred = math.sqrt(6 / 5) * (axes - axes.mean(dim=0))
    torch.testing.assert_close(torch.cdist(helmert(6), helmert(6)), torch.cdist(centred, centred))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_the_float64_answer_rounded(dtype):
    assert torch.equal(simplex(5, 9, dtype=dtype), simplex(5, 9, dtype=torch.float64).to(dtype))


def test_refuses_more_classes_than_fit():
    with pytest.raises(InputError, match=r"k <= d \+ 1, got k=12, d=10; use make\(k, d\) or packing.*d=11"):
        simplex(12, 10)


def test_refuses_an_orthant_with_more_classes_than_coordinates():
    with pytest.raises(InputError, match=r"needs k <= d .*got k=11, d=10; use packing\(k, d, nonnegative=True\)"):
        simplex(11, 10, orientation="orthant")


def test_refuses_an_unknown_orientation():
    with pytest.raises(InputError, match="unknown orientation 'orthand'; did you mean 'orthant'"):
        simplex(4, 8, orientation="orthand")
