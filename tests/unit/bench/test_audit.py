"""Mirror of src/anchored/bench/audit.py: both rankings are scored against the flips, on the same data."""

import sys

import numpy as np
import pytest
from tests.builders import blobs

from anchored import InputError
from anchored.bench import audit as bench


def clouds(n=300, k=3):
    return blobs(n, k, distance=3.0)


@pytest.fixture
def _blobs_only(monkeypatch):
    monkeypatch.setattr(bench, "_sources", lambda root: iter([("blobs", clouds(), None)]))


@pytest.mark.usefixtures("_blobs_only")
def test_a_row_holds_both_scores_and_both_times(monkeypatch):
    def flawless(data, settings):
        return (data.labels != data.clean_labels).double().numpy()

    monkeypatch.setattr(bench, "_cleanlab", flawless)
    told = []
    result = bench.run(corruptions=[("symmetric=0.3",)], epochs=12, tell=told.append)
    assert told == ["blobs, symmetric=0.3 (1 of 1)"]
    row = dict(zip(result.columns, result.rows[0], strict=True))
    assert (row["data"], row["corruption"], row["classes"]) == ("blobs", "symmetric=0.3", "all")
    assert row["flipped"] == pytest.approx(90, abs=3)
    assert row["cleanlab"] == 1.0
    assert 0.8 < row["ours"] <= 1.0
    assert row["times faster"] == pytest.approx(row["cleanlab s"] / row["ours s"])
    assert result.facts["better_everywhere"] is False


@pytest.mark.usefixtures("_blobs_only")
def test_unbalanced_classes_are_scored_by_group(monkeypatch):
    monkeypatch.setattr(bench, "_cleanlab", lambda data, settings: np.zeros(len(data)))
    result = bench.run(corruptions=[("longtail=10", "symmetric=0.3")], epochs=12)
    groups = {row[2]: row for row in result.rows}
    assert "all" in groups
    assert len(groups) >= 3
    parts = sum(row[3] for name, row in groups.items() if name != "all")
    assert parts <= groups["all"][3]
    assert all(row[6:] == (None, None, None) for name, row in groups.items() if name != "all")


def test_cleanlab_is_given_probabilities_of_samples_its_networks_did_not_see(monkeypatch):
    pytest.importorskip("cleanlab")
    data, seen = clouds(150), []
    fit = bench.fit
    monkeypatch.setattr(bench, "fit", lambda split, settings: seen.append(len(split.train)) or fit(split, settings))
    wrong = bench._cleanlab(data, {"data": {"source": "blobs"}, "train": {"seed": 0, "epochs": 3}})
    assert seen == [120] * 5
    assert wrong.shape == (150,)
    assert ((wrong >= 0) & (wrong <= 1)).all()


def test_without_cleanlab_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cleanlab.rank", None)
    with pytest.raises(InputError, match=r"install anchored\[cleanlab\]"):
        bench._cleanlab(clouds(), {})


def test_mnist_is_left_out_without_its_files():
    assert [name for name, _, _ in bench._sources(None)] == ["digits"]
