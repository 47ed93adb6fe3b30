"""Mirror of src/anchored/metrics/_scatter.py: scatter matrices built in full, collapse, refusals."""

import pytest
import torch

from anchored import InputError, metrics


@pytest.fixture
def batch():
    g = torch.Generator().manual_seed(0)
    labels = torch.randint(4, (300,), generator=g)
    return torch.randn(300, 5, generator=g, dtype=torch.float64) + 2.0 * labels[:, None], labels


def test_traces_are_those_of_the_scatter_matrices(batch):
    z, labels = batch
    within, between = torch.zeros(5, 5).double(), torch.zeros(5, 5).double()
    for c in range(4):
        of = z[labels == c]
        centred = of - of.mean(dim=0)
        away = (of.mean(dim=0) - z.mean(dim=0))[:, None]
        within += centred.T @ centred / 300
        between += len(of) * away @ away.T / 300
    got = metrics.scatter(z, labels)
    assert got.within == pytest.approx(within.trace().item())
    assert got.between == pytest.approx(between.trace().item())
    assert got.ratio == pytest.approx((within.trace() / between.trace()).item())


def test_within_and_between_add_up_to_the_variance(batch):
    z, labels = batch
    got = metrics.scatter(z, labels)
    assert got.within + got.between == pytest.approx(z.var(dim=0, correction=0).sum().item())


def test_collapsed_features_far_from_the_origin_have_no_width():
    means = torch.tensor([[1e4, 1.0], [1e4, -1.0]])
    got = metrics.scatter(means.repeat_interleave(50, dim=0), torch.arange(2).repeat_interleave(50))
    assert got.within == got.ratio == 0
    assert got.between == pytest.approx(1)


def test_result_does_not_depend_on_how_it_is_cut_up(batch, monkeypatch):
    whole = metrics.scatter(*batch)
    monkeypatch.setattr("anchored.metrics._scatter._BLOCK", 7)
    pieces = metrics.scatter(*batch)
    assert (pieces.within, pieces.between) == pytest.approx((whole.within, whole.between))
    assert pieces.per_class == pytest.approx(whole.per_class)


def test_an_absent_class_has_no_width_and_one_class_has_no_ratio():
    got = metrics.scatter(torch.tensor([[0.0], [2.0]]), torch.tensor([1, 1]))
    assert got == metrics.Scatter(within=1.0, between=0.0, per_class=(None, 1.0))
    assert got.ratio is None


def test_refuses_what_does_not_fit():
    with pytest.raises(InputError, match="got 2 for 3 rows"):
        metrics.scatter(torch.zeros(3, 2), torch.tensor([0, 1]))
    with pytest.raises(InputError, match=r"features must be real numbers \(n, d\)"):
        metrics.scatter(torch.zeros(3), torch.tensor([0, 1, 1]))
