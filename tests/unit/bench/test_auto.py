"""Mirror of src/anchored/bench/auto.py: means over seeds, and the published numbers where they belong."""

import csv
from pathlib import Path

import pytest

from anchored.bench import auto as bench


def test_rows_are_means_over_seeds(monkeypatch):
    drawn = {0: (90.0, 80.0, 0.4, 0.38), 1: (92.0, 82.0, 0.4, 0.42)}
    monkeypatch.setattr(bench, "_measured", lambda split, corruption, seed, epochs, baseline: drawn[seed])
    result = bench.run(seeds=(0, 1), corruptions=("", "symmetric=0.4"))
    assert [row[0] for row in result.rows] == ["clean", "symmetric=0.4"]
    row = dict(zip(result.columns, result.rows[1], strict=True))
    assert row["auto"] == 91.0
    assert row["± seeds"] == pytest.approx(2**0.5)
    assert row["cross entropy"] == 81.0
    assert row["noise estimated"] == pytest.approx(0.4)
    assert row["best published"] is None, "the published numbers are about MNIST"


def test_one_seed_has_no_spread_and_the_baseline_can_be_left_out(monkeypatch):
    monkeypatch.setattr(bench, "_measured", lambda *rest: (90.0, 0.0, 0.4, 0.38))
    [row] = bench.run(corruptions=("symmetric=0.4",), baseline=False).rows
    assert row[2] is None
    assert row[3] is None


def test_a_measurement_is_one_run_of_each(monkeypatch):
    asked = []

    def fake(split, settings):
        asked.append(settings)
        return type(
            "Fitted", (), {"result": {"test": {"accuracy": 0.5}, "corruption": {}, "auto": {"noise_rate": 0.1}}}
        )

    monkeypatch.setattr(bench.auto, "fit", fake)
    monkeypatch.setattr(bench, "fit", fake)
    split = bench.load_digits()
    assert bench._measured(split, "symmetric=0.4", 3, 2, True) == (50.0, 50.0, 0.0, 0.1)
    told, plain = asked
    assert "method" not in told, "auto is told nothing"
    assert plain["method"] == {"name": "ce"}
    assert told["data"] == {"source": "digits", "corrupt": ["symmetric=0.4"]}
    assert told["train"] == {"seed": 3, "evaluate": False, "epochs": 2}


@pytest.mark.parametrize("corruption", list(bench.PUBLISHED))
def test_the_published_number_is_the_best_of_its_column(corruption):
    kind, rate = corruption.split("=") if corruption else ("symmetric", "0.0")
    path = Path(bench.__file__).parents[1] / "paper" / "numbers" / f"noise_{kind}.csv"
    with path.open(encoding="utf-8") as file:
        column = [row for row in csv.DictReader(file) if row["dataset"] == "mnist" and row["noise_rate"] == rate]
    assert bench.PUBLISHED[corruption] == max(float(row["accuracy_mean"]) for row in column)
