"""Mirror of src/anchored/losses/sample_logit.py: zero sum over anchored prototypes, and only there."""

import math

import torch

from anchored.losses import NegativeSampleLogit


def test_sums_to_zero_over_prototypes_that_sum_to_zero():
    k = 6
    prototypes = (torch.eye(k).double() - 1 / k) * math.sqrt(k / (k - 1))
    features = torch.randn(10, k, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    total = NegativeSampleLogit().per_class(features @ prototypes.T).sum(dim=1)
    torch.testing.assert_close(total, torch.zeros(10, dtype=torch.float64))


def test_the_gradient_is_minus_the_prototype():
    prototypes = torch.randn(4, 7, generator=torch.Generator().manual_seed(0))
    feature = torch.zeros(1, 7, requires_grad=True)
    NegativeSampleLogit()(feature @ prototypes.T, torch.tensor([2])).backward()
    torch.testing.assert_close(feature.grad[0], -prototypes[2])
