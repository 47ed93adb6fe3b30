"""Mirror of src/anchored/bench/auto.py: means over seeds, one run of each kind per measurement, a sound split."""

import pytest
import torch

from anchored.bench import auto as bench


def test_rows_are_means_over_seeds(monkeypatch):
    blank = dict.fromkeys(bench._COLUMNS, 0.0)
    drawn = {
        0: {**blank, "auto": 90.0, "cross entropy": 80.0, "noise estimated": 38.0},
        1: {**blank, "auto": 92.0, "cross entropy": 88.0, "noise estimated": 42.0},
    }
    monkeypatch.setattr(bench, "_measured", lambda split, corruption, seed, epochs: drawn[seed])
    told = []
    result = bench.run(seeds=(0, 1), tell=told.append)
    assert told[1] == "digits, symmetric=0.2 (2 of 7)"
    assert len(told) == len(result.rows)
    assert [row[0] for row in result.rows][:2] == ["digits, clean", "digits, symmetric=0.2"]
    row = dict(zip(result.columns, result.rows[1], strict=True))
    assert row["auto"] == 91.0
    assert row["cross entropy"] == 84.0
    assert row["gain"] == 7.0
    assert row["worst seed"] == 4.0
    assert row["noise estimated"] == pytest.approx(40.0)


def test_a_measurement_is_one_run_of_each_and_neither_is_told_anything(monkeypatch):
    asked = []

    def fake(split, settings):
        asked.append((split, settings))
        scores = {"accuracy": 0.5, "ece": 0.1}
        result = {"test": scores, "held_out": scores, "estimated": scores, "auto": {"noise_rate": 0.1}}
        return type("Fitted", (), {"result": result})

    monkeypatch.setattr(bench, "fit", fake)
    split = bench.load_digits()
    found = bench._measured(split, "symmetric=0.4", 3, 2)
    assert (found["auto"], found["ECE of auto"], found["noise estimated"]) == (50.0, 10.0, 10.0)
    assert found["noise drawn"] == pytest.approx(40.0, abs=1.0)
    (given, told), (_, plain) = asked
    assert given.train.clean_labels is None
    assert "method" not in told
    assert plain["method"] == {"name": "ce"}
    assert told["data"] == {"source": "digits"}
    assert told["train"] == {"seed": 3, "evaluate": False, "epochs": 2}


def test_the_table_is_split_without_overlap_and_by_class():
    split = bench._table()
    assert len(split.train) + len(split.test) == 569
    rows = {tuple(row) for row in split.train.inputs.take(torch.arange(len(split.train))).tolist()}
    assert not any(tuple(row) in rows for row in split.test.inputs.take(torch.arange(len(split.test))).tolist())
    shares = [part.counts / len(part) for part in (split.train, split.test)]
    assert torch.allclose(shares[0], shares[1], atol=0.01)
