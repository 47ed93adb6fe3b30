"""Mirror of src/anchored/data/augment/_mixup.py: the blend, the law of its share, and that a batch's number decides."""

import pytest
import torch
from scipy import stats

from anchored._errors import InputError
from anchored.data import Batch, mixup


@pytest.fixture
def batch():
    g = torch.Generator().manual_seed(0)
    return Batch(torch.randn(16, 3, 2, 2, generator=g), torch.arange(16), torch.arange(16))


def test_blends_inputs_with_their_partners(batch):
    mixed = mixup(batch, alpha=0.4, seed=1, epoch=2, number=3)
    expected = mixed.lam * batch.inputs + (1 - mixed.lam) * batch.inputs[mixed.partner_labels]
    torch.testing.assert_close(mixed.inputs, expected)
    assert torch.equal(mixed.labels, batch.labels)
    assert torch.equal(mixed.partner_labels.sort().values, batch.labels)


def test_soft_labels_hold_both_shares(batch):
    mixed = mixup(batch, alpha=1.0, seed=1, epoch=0, number=0)
    soft = mixed.soft_labels(16)
    torch.testing.assert_close(soft.sum(dim=1), torch.ones(16))
    for i, (own, other) in enumerate(zip(mixed.labels.tolist(), mixed.partner_labels.tolist(), strict=True)):
        if own != other:
            assert soft[i, own].item() == pytest.approx(mixed.lam)
            assert soft[i, other].item() == pytest.approx(1 - mixed.lam)
        else:
            assert soft[i, own].item() == pytest.approx(1.0)


def test_is_a_function_of_seed_epoch_and_number(batch):
    def shares(**changes):
        mixed = mixup(batch, **({"alpha": 1.0, "seed": 0, "epoch": 0, "number": 0} | changes))
        return mixed.lam, mixed.partner_labels.tolist()

    assert shares() == shares()
    assert len({str(shares(**change)) for change in ({}, {"seed": 1}, {"epoch": 1}, {"number": 1})}) == 4
    assert shares(alpha=0.2)[1] == shares(alpha=1.0)[1]


@pytest.mark.parametrize("alpha", [0.2, 1.0])
def test_the_share_follows_the_beta_distribution(alpha):
    tiny = Batch(torch.zeros(1, 1), torch.zeros(1, dtype=torch.int64), torch.zeros(1, dtype=torch.int64))
    shares = [mixup(tiny, alpha=alpha, seed=0, epoch=0, number=i).lam for i in range(600)]
    assert stats.kstest(shares, stats.beta(alpha, alpha).cdf).pvalue > 0.001


def test_refuses_no_spread(batch):
    with pytest.raises(InputError, match=r"alpha .* leave mixup out"):
        mixup(batch, alpha=0.0, seed=0, epoch=0, number=0)
