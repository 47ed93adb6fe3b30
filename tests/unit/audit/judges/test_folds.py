"""Mirror of src/anchored/audit/judges/folds.py: every class in every fold, copies in one."""

import torch

from anchored.audit.judges import Vectors
from anchored.audit.judges.folds import folds_of


def test_every_fold_has_its_share_of_every_class():
    labels = torch.tensor([0] * 40 + [1] * 20 + [2] * 8)
    fold = folds_of(Vectors.check(torch.randn(68, 2), labels, 3), 4)
    for c, size in enumerate((40, 20, 8)):
        assert [int(((fold == f) & (labels == c)).sum()) for f in range(4)] == [size // 4] * 4


def test_copies_are_in_one_fold_whatever_their_labels():
    X = torch.randn(30, 2).repeat(3, 1)
    fold = folds_of(Vectors.check(X, torch.arange(90) % 3, 3), 5)
    assert torch.equal(fold[:30], fold[30:60])
    assert torch.equal(fold[:30], fold[60:])


def test_the_seed_decides():
    X, y = torch.randn(60, 2), torch.arange(60) % 2
    one, same, other = (folds_of(Vectors.check(X, y, 2, seed=seed), 3) for seed in (0, 0, 1))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
