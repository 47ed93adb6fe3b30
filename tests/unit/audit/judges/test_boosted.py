"""Mirror of src/anchored/audit/judges/boosted.py: a class that a fold lacks."""

import torch

from anchored.audit.judges import Vectors
from anchored.audit.judges.boosted import boosted


def test_a_class_of_one_sample_has_a_finite_answer():
    g = torch.Generator().manual_seed(0)
    y = torch.cat([torch.arange(99) % 2, torch.tensor([2])])
    said = boosted(Vectors.check(torch.randn(100, 2, generator=g), y, 3))
    assert bool(torch.isfinite(said).all())
    assert said[99].argmax() != 2  # nobody else has shown this class
