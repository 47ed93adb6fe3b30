"""Mirror of src/anchored/audit/judges/kernel_ridge.py: sees what no line separates."""

import torch

from anchored.audit.judges import Vectors
from anchored.audit.judges.kernel_ridge import kernel_ridge
from anchored.audit.judges.ridge import ridge


def test_a_ring_around_a_disc_is_seen():
    g = torch.Generator().manual_seed(0)
    X = torch.randn(400, 2, generator=g)
    y = (X.norm(dim=1) > 1.2).long()
    vectors = Vectors.check(X, y, 2)
    curved, straight = ((f(vectors).argmax(dim=1) == y).double().mean() for f in (kernel_ridge, ridge))
    assert curved > 0.95
    assert straight < 0.75
