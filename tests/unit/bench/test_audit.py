"""Mirror of src/anchored/bench/audit.py: both rankings are scored against the truth, on the same vectors."""

import sys

import pytest
import torch

from anchored import InputError
from anchored.bench import audit as bench
from anchored.bench.noisy_sets import NoisySet


def blobs(law="symmetric 0.2", rate=0.2, compared=True):
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


def table(result, title):
    """The rows of the table whose title begins so, as dictionaries."""
    found = next(each for each in (result, *result.more) if each.title.startswith(title))
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


@pytest.mark.usefixtures("_blobs_only")
def test_the_tables_hold_both_scores_both_times_intervals_checks_and_rounds(monkeypatch):
    monkeypatch.setattr(bench, "_cleanlab", lambda each, wrong, seed: (1.0, 9.0))
    monkeypatch.setattr(bench, "_CORRECTED", 20)
    told = []
    result = bench.run(tell=told.append)
    assert told == ["blobs, symmetric 0.2", "blobs, clean"]
    (row,) = table(result, "Finding wrong labels")
    assert row["wrong"] == pytest.approx(0.2, abs=0.05)
    assert (row["cleanlab AP"], row["cleanlab s"]) == (1.0, 9.0)
    assert 0.8 < row["ours AP"] <= 1.0
    noisy, clean = table(result, "Noise rate")
    assert noisy["low"] <= noisy["wrong"] <= noisy["high"]
    assert clean["wrong"] == 0.0
    assert result.facts["rows_compared"] == 1
    assert result.facts["better_everywhere"] is (row["ours AP"] > 1.0)
    assert result.facts["intervals"] == 2
    assert "blobs, clean: " in result.facts["said"]
    assert [each["labels"] for each in table(result, "Calibration")] == ["symmetric 0.2", "clean"]
    (checked,) = table(result, "After a random check")
    assert 7 <= checked["inside 50"] <= 10
    (reviewed,) = table(result, "After the 20 most suspect")
    wrong = round(300 * row["wrong"])
    assert wrong - 20 <= reviewed["left"] < wrong
    assert reviewed["recall after"] >= 0.8 * reviewed["recall before"]


@pytest.mark.usefixtures("_blobs_only")
def test_data_can_be_named():
    assert bench.run(sets=("others",)).rows == ()


def test_what_cleanlab_scored_is_kept_by_the_content_of_the_data(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(bench, "_cleanlab", lambda each, wrong, seed: asked.append(1) or (0.5, 1.0))
    for each in (blobs(), blobs(), blobs(rate=0.1)):
        kept = bench.ScoreFile(tmp_path / "scores.jsonl")
        assert bench._kept(kept, each, each.labels != each.truth, 0) == {"precision": 0.5, "seconds": 1.0}
    assert len(asked) == 2


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
