"""Mirror of src/anchored/paper/figures/figure.py: run once, drawn the same, marked when it is not the paper's."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.paper.tiny import TINY, record

from anchored._errors import InputError
from anchored.paper import TABLES, Results, Store
from anchored.paper.figures import FIGURES, Figure
from anchored.paper.figures import runs as runs_module
from anchored.paper.figures.style import subplots

DOCS = Path(__file__).parents[4] / "docs" / "paper"
SMALL = replace(TINY, rows=TINY.rows[:1], cells=TINY.cells[:1])


def read(runs):
    return runs.accuracies(runs.jobs[0])


def draw(accuracies):
    picture, (axes,) = subplots(1, 1, size=(4, 2))
    axes.plot(accuracies)
    return picture


FIGURE = Figure(name="tiny", claim="It draws.", cost="A second.", read=read, draw=draw, table=SMALL, quick=SMALL)


def test_a_second_drawing_trains_nothing_and_is_the_same(tmp_path, monkeypatch):
    first = FIGURE.make(out=tmp_path / "first.svg", store=tmp_path / "store")

    def trains(*_):
        raise AssertionError

    monkeypatch.setattr("anchored.paper.engines.inline.run_job", trains)
    second = FIGURE.make(out=tmp_path / "second.svg", store=tmp_path / "store", data_root=tmp_path)
    assert first.read_bytes() == second.read_bytes()
    assert first.read_text().startswith("<?xml")


def test_a_figure_of_curves_is_drawn_from_records_and_trains_what_has_none(tmp_path):
    known, missing = replace(TINY, cells=TINY.cells[:1]).jobs(methods=["ce", "ce+fnpal"], seeds=[0])
    curve = {"history": {"test_accuracy": [0.5, 0.75]}, "samples": 1437}
    Results(tmp_path / "results").add(record() | curve)
    seen = []

    def reads(runs):
        seen.extend(map(runs.accuracies, runs.jobs))
        return seen[0]

    figure = replace(FIGURE, table=replace(SMALL, rows=TINY.rows[:2]), read=reads, from_records=True)
    figure.make(out=tmp_path / "f.svg", store=tmp_path / "store", results=tmp_path / "results")
    store = Store(tmp_path / "store")
    assert (store.state(known), store.state(missing)) == ("missing", "finished")
    assert seen[0] == [0.5, 0.75]
    assert seen[1] == [line["test_accuracy"] for line in store.run(missing).read_lines("history.jsonl")]


def test_a_figure_that_needs_the_networks_takes_no_record_for_a_run(tmp_path):
    Results(tmp_path / "results").add(record())
    FIGURE.make(out=tmp_path / "f.svg", store=tmp_path / "store", results=tmp_path / "results")
    assert Store(tmp_path / "store").state(FIGURE.jobs()[0]) == "finished"


def test_what_is_not_the_papers_setting_says_so(tmp_path):
    runs = runs_module.train(
        FIGURE.jobs(), runs_module.Placement(str(tmp_path / "store"), device="cpu"), progress=runs_module.Progress()
    )
    assert FIGURE.caption(runs) == "Digits, mlp 16, 2 epochs, 1,437 images, seed 0."
    assert FIGURE.caption(runs, quick=True).startswith("Quick version: digits, mlp 16, 2 epochs, 1,437 images")
    longer = replace(runs, jobs=tuple(replace(job, full_epochs=50) for job in runs.jobs))
    assert FIGURE.caption(longer).startswith("Shortened: digits")
    assert FIGURE.caption(longer).endswith("The full recipe has 50 epochs.")


def test_a_bad_place_is_refused_before_anything_is_run(tmp_path):
    with pytest.raises(InputError, match="create it first"):
        FIGURE.make(out=tmp_path / "no" / "tiny.svg", store=tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_a_figure_that_trains_nothing_has_nothing_to_shorten(tmp_path):
    for option in ({"epochs": 3}, {"quick": True}):
        with pytest.raises(InputError, match="figure webvision_labels trains nothing"):
            FIGURES["webvision_labels"].make(out=tmp_path / "w.svg", store=tmp_path, data_root=tmp_path, **option)


@pytest.mark.parametrize("name", [name for name, figure in FIGURES.items() if figure.table is not None])
def test_the_papers_setting_is_the_default_and_options_shorten_it(name):
    figure = FIGURES[name]
    assert not any(job.shortened for job in figure.jobs())
    assert {job.epochs for job in figure.jobs(epochs=3)} == {3}
    assert all(job.shortened for job in figure.jobs(epochs=3))
    assert {job.settings["data"]["source"] for job in figure.jobs(quick=True)} == {"mnist"}
    assert len({job.key for job in figure.jobs()}) == len(figure.jobs())


def test_runs_are_shared_with_the_tables_and_between_figures():
    keys = {name: {job.key for job in figure.jobs()} for name, figure in FIGURES.items()}
    tables = {name: {job.key for job in TABLES[name].jobs(seeds=[0])} for name in ("noise_symmetric", "weight_decay")}
    assert keys["norms"] < keys["reliability"] < tables["weight_decay"]
    assert len(keys["scale"] & tables["noise_symmetric"]) == 2
    assert len(keys["scale"] & keys["fnpal_fnpn"]) == 4


def test_the_page_shows_every_figure_with_its_command():
    page = (DOCS / "figures.md").read_text()
    for name in FIGURES:
        assert f"anchored paper figure {name}" in page
        assert f"figures/{name}.svg" in page
        assert (DOCS / "figures" / f"{name}.svg").stat().st_size < 150_000


def test_names_are_those_of_the_figures():
    assert all(figure.name == name and figure.claim and figure.cost for name, figure in FIGURES.items())
