"""Mirror of src/anchored/bench/encoding.py: the table is what the note says; a missing package leaves a gap."""

import importlib.util

import pytest

from anchored.bench import BENCHMARKS
from anchored.bench import encoding as bench
from anchored.data import read_csv_columns
from anchored.features import TableEncoder


def test_it_is_in_the_list():
    assert BENCHMARKS["encoding"] == "anchored.bench.encoding"


def test_the_made_up_table_has_every_kind(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(bench._made_up(400))
    assert bench._made_up(400) == path.read_text()
    kinds = [use.kind for use in TableEncoder().fit(read_csv_columns(path)).uses]
    assert kinds == ["number"] * 4 + ["category"] * 2 + ["date", "text"]


@pytest.mark.filterwarnings("ignore")
def test_every_size_is_a_row_of_times():
    pytest.importorskip("skrub")
    result = bench.run(sizes=(60,), repeats=1)
    ((size, *times),) = result.rows
    assert size == "60"
    assert len(times) == len(result.columns) - 1
    assert all(value > 0 for value in times)
    assert times[4] == pytest.approx(times[3] / times[2])


def test_without_skrub_its_columns_are_empty(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    ((_, read, pandas, encode, skrub, ratio),) = bench.run(sizes=(60,), repeats=1).rows
    assert read > 0
    assert encode > 0
    assert (pandas, skrub, ratio) == (None, None, None)
