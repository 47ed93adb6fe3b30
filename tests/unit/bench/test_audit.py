"""Mirror of src/anchored/bench/audit.py: both rankings are scored against the truth, on the same vectors."""

import sys

import pytest
import torch

from anchored import InputError
from anchored.bench import audit as bench
from anchored.bench.noisy_sets import NoisySet


def blobs(law="symmetric 0.3", rate=0.3, compared=True):
    g = torch.Generator().manual_seed(0)
    truth = torch.arange(300) % 3
    given = torch.where(torch.rand(300, generator=g) < rate, (truth + 1) % 3, truth)
    return NoisySet(
        "blobs", law, 3.0 * torch.eye(3, 6)[truth] + torch.randn(300, 6, generator=g), given, truth, 3, compared
    )


@pytest.fixture
def _blobs_only(monkeypatch):
    sets = [blobs(), blobs("clean", 0.0, False)]
    monkeypatch.setattr(bench, "noisy_sets", lambda root, seed: iter(sets))


@pytest.mark.usefixtures("_blobs_only")
def test_a_row_holds_both_scores_both_times_and_the_interval(monkeypatch):
    monkeypatch.setattr(bench, "_cleanlab", lambda each, wrong, seed: (1.0, 9.0))
    told = []
    result = bench.run(tell=told.append)
    assert told == ["blobs, symmetric 0.3", "blobs, clean"]
    row, clean = (dict(zip(result.columns, each, strict=True)) for each in result.rows)
    assert row["wrong"] == pytest.approx(0.3, abs=0.05)
    assert (row["cleanlab AP"], row["cleanlab s"]) == (1.0, 9.0)
    assert 0.8 < row["ours AP"] <= 1.0
    assert row["low"] <= row["wrong"] <= row["high"]
    assert (clean["ours AP"], clean["cleanlab AP"]) == (None, None)
    assert result.facts["rows_compared"] == 1
    assert result.facts["better_everywhere"] is (row["ours AP"] > 1.0)
    assert result.facts["intervals"] == 2
    assert "blobs, clean: " in result.facts["said"]


@pytest.mark.usefixtures("_blobs_only")
def test_data_can_be_named():
    assert bench.run(data=("others",)).rows == ()


def test_cleanlab_ranks_wrong_labels_high():
    pytest.importorskip("cleanlab")
    each = blobs()
    score, seconds = bench._cleanlab(each, each.labels != each.truth, 0)
    assert 0.7 < score <= 1.0
    assert seconds > 0


def test_without_cleanlab_the_way_out_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cleanlab.rank", None)
    each = blobs()
    with pytest.raises(InputError, match=r"install anchored\[cleanlab\]"):
        bench._cleanlab(each, each.labels != each.truth, 0)


def test_the_gap_is_that_of_the_worst_bin():
    probability = torch.cat([torch.full((100,), 0.05), torch.full((100,), 0.75), torch.full((10,), 0.45)]).double()
    wrong = torch.zeros(210, dtype=torch.bool)
    wrong[:10] = True  # 0.10 in the first bin
    wrong[100:160] = True  # 0.60 in the eighth; the small bin does not count
    assert bench._gap(bench._binned(probability, wrong)) == pytest.approx(0.15)


def test_flagged_is_the_worst_group(monkeypatch):
    each = blobs(rate=0.0)
    monkeypatch.setattr(bench, "shots", lambda counts: {"many": [0, 1], "few": [2]})
    flagged = (each.labels == 2) & (torch.arange(300) < 150)
    assert bench._flagged(flagged, torch.zeros(300, dtype=torch.bool), each) == pytest.approx(0.5)
