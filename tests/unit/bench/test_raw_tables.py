"""Mirror of src/anchored/bench/raw_tables.py: real tables with categories, the same rows and noise for everybody."""

import numpy as np
import pytest

from anchored._errors import InputError
from anchored.bench import BENCHMARKS, LONG
from anchored.bench import raw_tables as bench


def test_it_is_in_the_list_and_waits_to_be_named():
    assert BENCHMARKS["raw-tables"] == "anchored.bench.raw_tables"
    assert "raw-tables" in LONG


@pytest.mark.parametrize("name", bench.RAW_TABLES)
def test_each_table_has_categories_and_labels(name):
    columns, labels = bench.load_raw(name)
    assert len(columns) == len(labels) > 300
    assert any(str(kind) in ("object", "str", "string") for kind in columns.dtypes)
    assert 2 <= len(set(labels)) <= 3


def test_noise_is_the_same_each_time_and_as_much_as_asked_for():
    labels = np.array(["a", "b", "c"] * 400)
    wrong = bench._with_noise(labels, 0.2, 0, 1)
    assert np.mean(wrong != labels) == pytest.approx(0.2, abs=0.04)
    np.testing.assert_array_equal(wrong, bench._with_noise(labels, 0.2, 0, 1))
    assert bench._with_noise(labels, 0.0, 0, 1) is labels


def test_every_table_is_a_row_and_every_classifier_a_column():
    result = bench.run(sets=["penguins"], models=["AnchoredRidge", "HistGradientBoosting"], rates=(0.2,))
    assert result.columns == ("table", "AnchoredRidge", "HistGradientBoosting")
    ((name, ours, boosted),) = result.rows
    assert name == "penguins, 20 % wrong"
    assert 70 < ours <= 100
    assert 60 < boosted <= 100
    ((_, *seconds),) = result.more[0].rows
    assert all(value > 0 for value in seconds)


def test_unknown_names_and_missing_packages_are_refused(monkeypatch):
    with pytest.raises(InputError, match="unknown table 'penguin'; did you mean 'penguins'"):
        bench.load_raw("penguin")
    with pytest.raises(InputError, match="unknown classifier"):
        bench.run(models=["tree"])
    monkeypatch.setattr(bench.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install pandas"):
        bench.load_raw("cars")
