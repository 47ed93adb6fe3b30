"""Mirror of src/anchored/losses/cross_entropy.py: torch's value, and the row sum without a row."""

import torch
import torch.nn.functional as F

from anchored.losses import CrossEntropy


def test_is_torchs_cross_entropy_and_has_its_gradient():
    logits = torch.randn(16, 7, generator=torch.Generator().manual_seed(0), requires_grad=True)
    target = torch.arange(16) % 7
    (ours,) = torch.autograd.grad(CrossEntropy()(logits, target), logits)
    (theirs,) = torch.autograd.grad(F.cross_entropy(logits, target), logits)
    assert torch.equal(CrossEntropy()(logits, target), F.cross_entropy(logits, target))
    torch.testing.assert_close(ours, theirs)


def test_the_total_is_the_sum_of_the_row():
    log_p = torch.randn(4, 9, generator=torch.Generator().manual_seed(0)).log_softmax(dim=1)
    torch.testing.assert_close(CrossEntropy().total(log_p), CrossEntropy().value(log_p).sum(dim=1))
