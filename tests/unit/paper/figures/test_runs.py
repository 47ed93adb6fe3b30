"""Mirror of src/anchored/paper/figures/runs.py: made once, shared with tables, read as they ended."""

import pytest
import torch
from tests.unit.paper.tiny import TINY

from anchored._errors import InputError
from anchored.data import load_digits
from anchored.paper import Outcome, Placement, run_job, runner
from anchored.paper.engines import inline
from anchored.paper.figures import FIGURES
from anchored.paper.figures.runs import Runs, train
from anchored.runs import TrainedModel
from anchored.training import Progress


class Listens(Progress):
    def __init__(self):
        self.said = []

    def say(self, line):
        self.said.append(line)


@pytest.fixture
def place(store):
    return Placement(str(store.path), device="cpu")


def test_a_run_that_a_table_has_made_is_not_made_again(store, place):
    first, second = TINY.jobs(methods=["ce"], seeds=[0])
    run_job(first, place)
    before = store.run(first).path.joinpath("result.json").stat().st_mtime_ns
    progress = Listens()
    runs = train([first, second], place, progress=progress)
    assert progress.said == ["run 1 of 1: ce, digits/0.4, 2 epochs"]
    assert store.run(first).path.joinpath("result.json").stat().st_mtime_ns == before
    assert runs.result(second)["epochs"] == 2


def test_what_is_read_is_what_the_run_wrote(store, place):
    job = TINY.job("ce+fnpal", "digits/0.4", seed=0)
    runs = train([job], place, progress=Progress())
    seen, result = runs.test_outputs(job), store.run(job).read_result()
    assert float((seen.logits.argmax(dim=1) == seen.labels).double().mean()) == result["test"]["accuracy"]
    assert runs.accuracies(job)[-1] == result["test"]["accuracy"]
    assert seen.features.shape == (360, 16)
    # Without the temperature, which the trained model divides by.
    model, test = TrainedModel.load(store.run(job).path), load_digits().test
    calibrated = model(test.inputs.take(torch.arange(5)))
    assert (seen.logits[:5] / model.temperature).allclose(calibrated, atol=1e-5)
    assert runs.network(job).rows().shape == (10, 16)


def test_a_run_that_another_process_makes_is_left_until_the_rest_is_done(monkeypatch, store, place):
    jobs = TINY.jobs(seeds=[0], cells=["digits/0.0"])
    lock, progress = store.lock(jobs[0]), Listens()
    assert lock.acquire()
    monkeypatch.setattr(runner, "_PATIENCE", 0.0)
    monkeypatch.setattr(runner.time, "sleep", lambda seconds: lock.release())
    train(jobs, place, progress=progress)
    busy, *started = progress.said
    assert busy.startswith("ce, digits/0.0: process ")
    assert busy.endswith("is running it; it is taken up again later")
    assert [line.split(": ")[1].split(",")[0] for line in started] == ["ce+fnpal", "ce+fnpal (aligned)", "ce"]
    assert [line.split(":")[0] for line in started] == ["run 1 of 3", "run 2 of 3", "run 3 of 3"]
    assert all(store.state(job) == "finished" for job in jobs)


def test_a_run_that_fails_is_named_with_its_reason_after_the_others_are_made(monkeypatch, store, place):
    broken, whole = TINY.jobs(methods=["ce", "ce+fnpal"], cells=["digits/0.0"], seeds=[0])

    def fails(job, placement, progress):
        return Outcome("failed", "the loss became nan") if job == broken else run_job(job, placement, progress)

    monkeypatch.setattr(inline, "run_job", fails)
    with pytest.raises(InputError, match=r"tiny digits/0\.0 ce seed 0: the loss became nan"):
        train([broken, whole], place, progress=Progress())
    assert store.state(whole) == "finished"


def test_runs_of_a_figure_leave_no_record(monkeypatch, tmp_path, place):
    monkeypatch.chdir(tmp_path)
    train(TINY.jobs(methods=["ce"], cells=["digits/0.0"], seeds=[0]), place, progress=Progress())
    assert not list(tmp_path.rglob("tiny*.jsonl"))


def test_missing_data_is_told_before_a_store_is_made(tmp_path):
    place = Placement(str(tmp_path / "new"), data_root=str(tmp_path))
    with pytest.raises(InputError, match="anchored data mnist --root"):
        train(FIGURES["norms"].jobs(quick=True), place, progress=Progress())
    assert not (tmp_path / "new").exists()


def test_a_run_is_found_by_row_and_cell(place):
    jobs = TINY.jobs(seeds=[0])
    assert Runs(tuple(jobs), place).job("ce", "digits/0.4") is next(
        job for job in jobs if job.row == "ce" and job.cell == "digits/0.4"
    )
