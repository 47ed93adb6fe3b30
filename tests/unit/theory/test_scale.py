"""Mirror of src/anchored/theory/scale.py: the table of scales, the tolerant scale by what defines it, refusals."""

import math

import pytest

from anchored._errors import InputError
from anchored.theory import max_probability, noise_aware_scale, tolerant_scale


@pytest.mark.parametrize(
    ("eta", "scale"),
    [(0.0, 5.0), (0.1, 1.6667), (0.2, 1.0), (0.3, 0.7143), (0.4, 0.5556), (0.6, 0.3846), (0.8, 0.2941)],
)
def test_reproduces_the_table_of_scales(eta, scale):
    assert noise_aware_scale(eta) == pytest.approx(scale, abs=5e-5)


@pytest.mark.parametrize(("k", "eta"), [(2, 0.1), (10, 0.2), (10, 0.8), (100, 0.6)])
def test_at_the_tolerant_scale_the_largest_probability_is_the_share_of_right_labels(k, eta):
    assert max_probability(k, tolerant_scale(k, eta)) == pytest.approx(1 - eta, rel=1e-12)


@pytest.mark.parametrize("eta", [0.1, 0.2, 0.4, 0.6, 0.8])
@pytest.mark.parametrize("k", [10, 100])
def test_the_noise_aware_scale_is_below_the_tolerant_one(k, eta):
    assert noise_aware_scale(eta) < tolerant_scale(k, eta)


def test_without_noise_every_scale_is_tolerated():
    assert tolerant_scale(10, 0.0) == math.inf


@pytest.mark.parametrize("eta", [-0.01, 1.0, math.nan, "0.2"])
def test_refuses_what_is_not_a_share(eta):
    with pytest.raises(InputError, match=r"eta must lie in \[0, 1\)"):
        noise_aware_scale(eta)


def test_refuses_noise_beyond_the_limit():
    with pytest.raises(InputError, match=r"k=2 classes, got 0\.5"):
        tolerant_scale(2, 0.5)
