"""Mirror of src/anchored/metrics/_calibration.py: slow loops, bin edges, limits, refusals."""

import json

import pytest
import torch

from anchored import InputError, metrics


def gap_by_hand(confidences, hits, bins):
    """(expected, maximum) gap: one pass over the samples per right-closed bin, in plain Python."""
    gaps, sizes = [], []
    for m in range(bins):
        inside = [i for i, c in enumerate(confidences) if m / bins < c <= (m + 1) / bins or (m == 0 and c == 0)]
        if inside:
            gaps.append(abs(sum(hits[i] for i in inside) - sum(confidences[i] for i in inside)) / len(inside))
            sizes.append(len(inside))
    return sum(g * n for g, n in zip(gaps, sizes, strict=True)) / len(confidences), max(gaps)


@pytest.fixture
def batch():
    g = torch.Generator().manual_seed(0)
    logits = 2 * torch.randn(600, 7, generator=g, dtype=torch.float64)
    p = logits.softmax(dim=1)
    # Sure samples are less often right than they say, unsure ones more often: gaps of both signs.
    sharper = torch.where(p.amax(dim=1, keepdim=True) > 0.6, 0.5, 2.0)
    return p, torch.multinomial((sharper * logits).softmax(dim=1), 1, generator=g).squeeze(1)


@pytest.mark.parametrize("bins", [1, 10, 15])
def test_expected_and_maximum_error_agree_with_a_slow_loop(batch, bins):
    p, target = batch
    confidence, predicted = p.max(dim=1)
    expected, largest = gap_by_hand(confidence.tolist(), (predicted == target).int().tolist(), bins)
    assert metrics.ece(p, target, bins) == pytest.approx(expected)
    assert metrics.mce(p, target, bins) == pytest.approx(largest)
    assert expected < largest or bins == 1


def test_fifteen_bins_are_the_default(batch):
    assert metrics.ece(*batch) == metrics.ece(*batch, bins=15)
    assert metrics.ece(*batch) != metrics.ece(*batch, bins=10)
    assert len(metrics.reliability(*batch).bins) == 15


@pytest.mark.parametrize("bins", [3, 15])
def test_classwise_error_agrees_with_a_slow_loop(batch, bins):
    p, target = batch
    by_class = [gap_by_hand(p[:, c].tolist(), (target == c).int().tolist(), bins)[0] for c in range(7)]
    assert metrics.classwise_ece(p, target, bins) == pytest.approx(sum(by_class) / 7)


def test_classwise_error_does_not_depend_on_how_it_is_cut_up(batch, monkeypatch):
    whole = metrics.classwise_ece(*batch)
    monkeypatch.setattr("anchored.metrics._calibration._ENTRIES", 50)
    assert metrics.classwise_ece(*batch) == pytest.approx(whole)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("m", range(8, 15))
def test_a_confidence_on_an_edge_belongs_to_the_bin_below(dtype, m):
    p = torch.tensor([[m / 15, 1 - m / 15]], dtype=dtype)
    table = metrics.reliability(p, torch.tensor([0]))
    assert [b.count for b in table.bins].index(1) == m - 1


def test_a_certain_model_that_is_always_wrong_has_error_one():
    p = torch.eye(4)
    assert metrics.ece(p, torch.arange(4)) == 0
    assert metrics.ece(p, torch.arange(4).roll(1)) == metrics.mce(p, torch.arange(4).roll(1)) == 1


def test_the_table_adds_up_and_empty_bins_have_no_accuracy(batch):
    p, target = batch
    table = metrics.reliability(p, target)
    assert sum(b.count for b in table.bins) == 600
    assert sum(b.count * b.accuracy for b in table.bins if b.count) / 600 == pytest.approx(metrics.accuracy(p, target))
    assert all(b.low < b.confidence <= b.high for b in table.bins if b.count)
    assert (table.bins[0].accuracy, table.bins[0].confidence, table.bins[0].gap) == (None, None, None)  # 1/7 > 1/15
    assert json.loads(json.dumps(table.as_dict()))["bins"][0]["accuracy"] is None


def test_gaps_are_negative_where_the_model_is_too_sure(batch):
    table = metrics.reliability(*batch)
    assert table.bins[-1].gap < -0.05
    assert table.bins[7].gap > 0.05


def test_softmax_in_half_precision_is_taken():
    logits = torch.randn(50, 1000, generator=torch.Generator().manual_seed(0))
    target = torch.zeros(50, dtype=torch.int64)
    assert 0 <= metrics.ece(logits.bfloat16().softmax(dim=1), target) <= 1


@pytest.mark.parametrize("measure", [metrics.ece, metrics.mce, metrics.classwise_ece, metrics.reliability])
@pytest.mark.parametrize("scores", [[[2.0, -1.0]], [[0.5, 0.4]], [[3.0, 5.0]], [[float("inf"), 0.0]]])
def test_refuses_logits(measure, scores):
    with pytest.raises(InputError, match="pass probabilities, not logits"):
        measure(torch.tensor(scores), torch.tensor([0]))


def test_refuses_no_bins_and_no_samples():
    with pytest.raises(InputError, match="bins must be at least 1"):
        metrics.ece(torch.eye(2), torch.arange(2), bins=0)
    with pytest.raises(InputError, match="at least one sample"):
        metrics.ece(torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64))


def test_by_certain_probabilities_the_error_is_that_of_the_labels(batch):
    p, target = batch
    certain = torch.nn.functional.one_hot(target, 7)
    assert metrics.reliability(p, certain) == metrics.reliability(p, target)


def test_a_model_that_says_what_is_probable_is_calibrated(batch):
    p, _ = batch
    assert metrics.ece(p, p) == pytest.approx(0.0, abs=1e-12)
