"""Mirror of src/anchored/prototypes/_rotation.py: orthonormal, and uniform."""

import math

import pytest
import torch

from anchored.prototypes._rotation import haar_frame


@pytest.mark.parametrize(("d", "m"), [(1, 1), (4, 4), (9, 2), (300, 299)])
def test_columns_are_orthonormal(d, m):
    q = haar_frame(d, m, torch.Generator().manual_seed(0))
    torch.testing.assert_close(q.T @ q, torch.eye(m, dtype=torch.float64), atol=1e-13, rtol=0)


def test_the_trace_of_a_haar_rotation_has_mean_0_and_variance_1():
    """Known moments for O(d); without the sign correction LAPACK's frames have a clearly negative trace."""
    generator = torch.Generator().manual_seed(0)
    traces = torch.stack([haar_frame(4, 4, generator).trace() for _ in range(3000)])
    assert abs(traces.mean()) < 4 / math.sqrt(3000)
    assert abs(traces.var() - 1) < 0.15


def test_the_frame_turns_with_the_gaussian():
    """R has a positive diagonal: Q and R multiply back to the very matrix that was drawn."""
    q = haar_frame(6, 3, torch.Generator().manual_seed(7))
    gaussian = torch.randn(6, 3, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
    r = q.T @ gaussian
    torch.testing.assert_close(q @ r, gaussian)
    torch.testing.assert_close(r.tril(-1), torch.zeros(3, 3).double(), atol=1e-13, rtol=0)
    assert (r.diagonal() > 0).all()
