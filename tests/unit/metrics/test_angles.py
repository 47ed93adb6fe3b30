"""Mirror of src/anchored/metrics/_angles.py: known figures, a slow loop, refusals."""

import math

import pytest
import torch

from anchored import InputError, metrics


def test_agrees_with_a_slow_loop():
    w = torch.randn(6, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    got = metrics.angles(w)
    for i, a in enumerate(w.tolist()):
        for j, b in enumerate(w.tolist()):
            cosine = sum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b))
            assert got[i, j].item() == pytest.approx(0 if i == j else math.degrees(math.acos(cosine)))
    assert metrics.minimal_angle(w) == got[got > 0].min().item()


def test_corners_of_a_cube_and_the_icosahedron_have_their_known_angles():
    cube = torch.tensor([[x, y, z] for x in (-1.0, 1) for y in (-1.0, 1) for z in (-1.0, 1)])
    assert metrics.minimal_angle(cube) == pytest.approx(math.degrees(math.acos(1 / 3)))
    g = (1 + math.sqrt(5)) / 2
    corners = [p for a in (-1.0, 1.0) for b in (-g, g) for p in ((0, a, b), (a, b, 0), (b, 0, a))]
    assert metrics.minimal_angle(torch.tensor(corners)) == pytest.approx(math.degrees(math.atan(2)))


def test_length_does_not_matter_and_equal_rows_have_no_angle():
    w = torch.tensor([[0.1, 0.2, 0.3], [1e6, 2e6, 3e6], [-0.1, -0.2, -0.3]])
    torch.testing.assert_close(
        metrics.angles(w), torch.tensor([[0.0, 0, 180], [0, 0, 180], [180, 180, 0]]).double(), atol=1e-4, rtol=0
    )


def test_norms_are_those_of_each_row():
    rows = torch.tensor([[3.0, 4.0], [5.0, 12.0], [0.0, 0.0]])
    assert metrics.norms(rows).tolist() == [5, 13, 0]


def test_refuses_what_has_no_direction():
    with pytest.raises(InputError, match="zero row 1"):
        metrics.angles(torch.tensor([[1.0, 0.0], [0.0, 0.0]]))
    with pytest.raises(InputError, match="at least two rows"):
        metrics.minimal_angle(torch.ones(1, 3))
    with pytest.raises(InputError, match=r"one row each, got torch\.float32 of shape \(3,\)"):
        metrics.norms(torch.ones(3))
