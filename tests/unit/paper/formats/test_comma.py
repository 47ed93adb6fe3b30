"""Mirror of src/anchored/paper/formats/comma.py: read back, the numbers are those of the comparison."""

import csv

import pytest
from tests.unit.paper.tiny import TINY, record

from anchored.paper import compare
from anchored.paper.formats import to_csv
from anchored.paper.formats.comma import COLUMNS


def test_it_reads_back_as_it_was():
    comparison = compare(TINY, [record(accuracy=0.85, best=0.9), record(epochs=1), record(precision="bf16")])
    lines = list(csv.DictReader(to_csv(comparison).splitlines()))
    assert tuple(lines[0]) == COLUMNS
    assert len(lines) == sum(len(line.entries) for line in comparison.lines)
    first = lines[0]
    assert (first["method"], first["cell"], first["epochs"], first["inside"]) == ("ce", "digits/0.0", "", "no")
    assert float(first["mean"]) == pytest.approx(85.0)
    assert float(first["other_epoch_mean"]) == pytest.approx(90.0)
    assert float(first["difference"]) == pytest.approx(-5.0)
    assert lines[1]["note"] == "a slip | of *the* print"
    assert [line["epochs"] for line in lines if line["seeds"] == "1"] == ["", "", "1"]
    assert [line["precision"] for line in lines if line["seeds"] == "1"] == ["32", "bf16", "32"]
