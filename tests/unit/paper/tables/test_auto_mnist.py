"""Mirror of src/anchored/paper/tables/auto_mnist.py: nothing is told; the best number in print beside it."""

import csv
from importlib.resources import files

import pytest

from anchored.paper.tables import noise_asymmetric, noise_symmetric
from anchored.paper.tables.auto_mnist import TABLE

CELLS = [cell.name for cell in TABLE.cells]


def test_auto_is_told_nothing_about_the_labels():
    for cell in CELLS:
        settings = TABLE.job("auto", cell, seed=0).settings
        assert settings["method"] == {"name": "auto"}
        assert "optimizer" not in settings, "what is written down is not auto's to choose"


@pytest.mark.parametrize("cell", CELLS)
def test_the_published_number_is_the_best_of_its_column(cell):
    kind, _, rate = cell.removeprefix("mnist/").partition("-")
    kind, rate = (kind, rate) if rate else ("symmetric", "0.0")
    text = (files("anchored.paper") / "numbers" / f"noise_{kind}.csv").read_text(encoding="utf-8")
    column = [r for r in csv.DictReader(text.splitlines()) if r["dataset"] == "mnist" and r["noise_rate"] == rate]
    assert TABLE.published["auto", cell, "accuracy"].mean == max(float(row["accuracy_mean"]) for row in column)


def test_the_noise_is_drawn_as_in_the_tables_of_the_paper():
    for name, theirs in (("symmetric-0.8", noise_symmetric), ("asymmetric-0.3", noise_asymmetric)):
        kind, rate = name.split("-")
        mine = TABLE.cell(f"mnist/{name}").settings["data"]
        other = theirs.TABLE.cell(f"mnist/{rate}").settings["data"]
        assert (mine["corrupt"], mine["normalize"]) == (other["corrupt"], other["normalize"]), kind


def test_cross_entropy_has_the_same_settings():
    ours, plain = (TABLE.job(row, "mnist/clean", seed=1).settings for row in ("auto", "ce"))
    assert {**ours, "method": {}} == {**plain, "method": {}}
