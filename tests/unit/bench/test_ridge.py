"""Mirror of src/anchored/bench/ridge.py: on small sizes, every contender is measured and the ratios fit together."""

import numpy as np
import pytest

from anchored.bench import ridge as bench


@pytest.mark.slow
def test_every_contender_is_measured(tmp_path):
    told = []
    result = bench.run(
        rows=2_000, columns=32, classes=4, file_rows=3_000, file_columns=16, file_classes=20,
        folder=tmp_path, tell=told.append,
    )  # fmt: skip
    assert len(result.rows) == 8
    assert len(told) == 9
    assert all(row[2] > 0 and row[4] > 0 for row in result.rows)
    seconds = {row[1]: row[2] for row in result.rows}
    assert result.facts["ours_in_units_of_bare"] == pytest.approx(
        seconds["anchored least squares"] / seconds["bare products"]
    )
    assert not list(tmp_path.iterdir())


def test_the_made_data_has_overlapping_classes():
    X, y = bench._make(4_000, 20, 5)
    means = np.stack([X[y == j].mean(axis=0) for j in range(5)])
    assert np.linalg.norm(means, axis=1) == pytest.approx(3.0, abs=1.5)
    nearest = ((X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert 0.7 < (nearest == y).mean() < 0.999


def test_common_factors_correlate_the_columns():
    plain, shared = (np.corrcoef(bench._make(3_000, 40, 5, factors)[0].T) for factors in (0, 2))
    off = ~np.eye(40, dtype=bool)
    assert np.abs(shared[off]).mean() > 3 * np.abs(plain[off]).mean()


def test_the_file_is_the_same_matrix_that_was_drawn(tmp_path):
    path, labels = bench._write(tmp_path, 500, 8, 3)
    X, y = np.load(path, allow_pickle=False), np.load(labels, allow_pickle=False)
    assert X.shape == (500, 8)
    assert X.dtype == np.float32
    assert set(y.tolist()) == {0, 1, 2}
    assert bench._file(str(path), str(labels)) > 0
    assert bench._bare_file(str(path), str(labels)) > 0
