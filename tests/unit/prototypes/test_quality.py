"""Mirror of src/anchored/prototypes/_quality.py: against plain Python, and the bounds it is measured from."""

import math

import pytest
import torch

from anchored.prototypes import direct_sum, quality, simplex


def by_hand(rows):
    """Largest cosine and largest deviation from the simplex, with loops over floats."""
    k = len(rows)
    length = [math.sqrt(sum(x * x for x in row)) for row in rows]
    cosine, error = -1.0, 0.0
    for i in range(k):
        for j in range(k):
            product = sum(a * b for a, b in zip(rows[i], rows[j], strict=True))
            error = max(error, abs(product - (1.0 if i == j else -1 / (k - 1))))
            if i != j:
                cosine = max(cosine, product / length[i] / length[j])
    return cosine, error


def test_agrees_with_loops_for_rows_of_any_length():
    w = torch.randn(6, 9, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    cosine, error = by_hand(w.tolist())
    measured = quality(w)
    assert measured.max_cosine == pytest.approx(cosine, abs=1e-14)
    assert measured.gram_error == pytest.approx(error, abs=1e-13)
    assert measured.min_angle_degrees == pytest.approx(math.degrees(math.acos(cosine)))
    assert measured.sum_norm == pytest.approx(math.sqrt(sum(sum(c) ** 2 for c in zip(*w.tolist(), strict=True))))


def test_the_simplex_has_no_error():
    measured = quality(simplex(4, 3, dtype=torch.float64))
    assert measured.gram_error < 1e-14
    assert measured.sum_norm < 1e-14
    assert measured.max_cosine == pytest.approx(-1 / 3)
    assert measured.min_angle_degrees == pytest.approx(109.4712206)


def test_beyond_the_simplex_the_error_is_the_distance_from_rankins_bound():
    assert quality(direct_sum(6, 4, dtype=torch.float64)).gram_error < 1e-14
    hexagon = torch.tensor([[math.cos(a * math.pi / 3), math.sin(a * math.pi / 3)] for a in range(6)])
    assert quality(hexagon).gram_error == pytest.approx(0.5, abs=1e-6)


def test_beyond_the_simplex_a_row_that_is_not_unit_counts_as_error():
    w = direct_sum(6, 4, dtype=torch.float64)
    w[2] *= 1.5
    assert quality(w).gram_error == pytest.approx(1.25)
    assert quality(w).max_cosine == pytest.approx(0.0, abs=1e-14)


def test_twins_are_zero_degrees_apart():
    measured = quality(torch.tensor([[0.1, 0.7], [0.1, 0.7]]))
    assert measured.max_cosine == pytest.approx(1.0)
    assert measured.min_angle_degrees == pytest.approx(0.0, abs=1e-5)


def test_blocks_of_rows_change_nothing():
    """3000 rows need several blocks; the largest cosine is planted in the last one."""
    w = torch.randn(3000, 40, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    w[2999] = w[5] + 1e-3
    expected = torch.cosine_similarity(w[2999], w[5], dim=0)
    assert quality(w).max_cosine == pytest.approx(float(expected), abs=1e-12)
