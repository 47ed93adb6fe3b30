"""Mirror of src/anchored/audit/judges/second_round.py: random labels stay unpredictable, whatever is believed."""

import torch

from anchored.audit.judges import Vectors
from anchored.audit.judges.second_round import second_round


def test_random_labels_do_not_confirm_themselves():
    """A posterior that rests on the label judged would make random labels look predictable."""
    g = torch.Generator().manual_seed(0)
    y = torch.randint(2, (400,), generator=g)
    said = second_round(Vectors.check(torch.randn(400, 30, generator=g), y, 2))
    assert (said.argmax(dim=1) == y).double().mean() < 0.58


def test_a_fold_without_a_second_class_is_passed_over():
    y = torch.tensor([0] * 20 + [1])
    said = second_round(Vectors.check(torch.randn(21, 2, generator=torch.Generator().manual_seed(0)), y, 2))
    assert bool(torch.isfinite(said).all())
