"""Mirror of src/anchored/noise/_instance.py: the mean rate, dependence on the sample, refusals."""

import pytest
import torch
from scipy import stats

from anchored import InputError, noise
from anchored.noise._instance import _rates, _rows


@pytest.mark.parametrize("eta", [0.02, 0.1, 0.4, 0.7, 0.95])
def test_rates_keep_their_mean_and_stay_probabilities(eta):
    rates = _rates(200_000, eta, 0.1, torch.Generator().manual_seed(0))
    assert rates.min() >= 0
    assert rates.max() <= 1
    assert abs(rates.mean() - eta) < 0.002


def test_rates_are_a_truncated_normal():
    rates = _rates(5000, 0.15, 0.1, torch.Generator().manual_seed(1))
    assert stats.kstest(rates.numpy(), stats.truncnorm(-1.5, 1.5, loc=0.15, scale=0.1).cdf).pvalue > 0.001


def test_rows_split_the_rate_by_a_softmax_over_the_other_classes():
    scores = torch.tensor([[1.0, 5.0, 2.0]])
    row = _rows(scores, torch.tensor([0.3]).double(), 1)[0]
    e1, e2 = torch.tensor([1.0, 2.0]).double().exp()
    torch.testing.assert_close(
        row, torch.stack([0.3 * e1 / (e1 + e2), torch.tensor(0.7).double(), 0.3 * e2 / (e1 + e2)])
    )


def test_realised_rate_is_the_asked_one():
    x = torch.randn(20_000, 5, generator=torch.Generator().manual_seed(0))
    receipt = noise.instance_dependent(x, torch.arange(20_000) % 4, 0.3, 4).check()
    assert abs(receipt.rate - 0.3) < 0.02
    torch.testing.assert_close(receipt.asked_matrix.sum(dim=1), torch.ones(4).double())


def test_equal_samples_err_alike_and_different_ones_do_not():
    two = torch.tensor([[30.0, 0.0], [0.0, 30.0]]).repeat_interleave(2000, dim=0)
    receipt = noise.instance_dependent(two, torch.zeros(4000, dtype=torch.int64), 0.4, 8)
    wrong = [
        receipt.labels[half][receipt.flipped[half]].mode().values.item() for half in (slice(2000), slice(2000, None))
    ]
    for half, usual in zip((slice(2000), slice(2000, None)), wrong, strict=True):
        assert (receipt.labels[half][receipt.flipped[half]] == usual).double().mean() > 0.9
    assert wrong[0] != wrong[1]


def test_images_are_flattened_and_absent_classes_have_no_row():
    receipt = noise.instance_dependent(torch.rand(10, 1, 4, 4), torch.ones(10, dtype=torch.int64), 0.2, 3)
    assert receipt.per_class[0] is None
    assert receipt.asked_per_class[0] is None
    assert receipt.as_dict()["asked_per_class"][1] == pytest.approx(0.2, abs=0.15)


def test_refuses_features_that_do_not_fit():
    labels = torch.tensor([0, 1, 2])
    with pytest.raises(InputError, match=r"one row per label, got \(2, 4\) for 3 labels"):
        noise.instance_dependent(torch.rand(2, 4), labels, 0.2, 3)
    with pytest.raises(InputError, match="finite"):
        noise.instance_dependent(torch.full((3, 4), torch.nan), labels, 0.2, 3)
    with pytest.raises(InputError, match=r"eta must lie in \[0, 0\.666667\)"):
        noise.instance_dependent(torch.rand(3, 4), labels, 0.7, 3)
