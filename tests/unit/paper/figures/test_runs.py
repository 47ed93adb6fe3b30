"""Mirror of src/anchored/paper/figures/runs.py: made once, shared with tables, read as they ended."""

import pytest
import torch
from tests.unit.paper.tiny import TINY

from anchored._errors import InputError
from anchored.data import load_digits
from anchored.paper import Outcome, Place, work
from anchored.paper.figures import FIGURES
from anchored.paper.figures import runs as module
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
    return Place(str(store.path), device="cpu")


def test_a_run_that_a_table_has_made_is_not_made_again(store, place):
    first, second = TINY.jobs(methods=["ce"], seeds=[0])
    work(first, place)
    before = store.run(first).path.joinpath("result.json").stat().st_mtime_ns
    progress = Listens()
    runs = train([first, second], place, progress=progress)
    assert progress.said == ["run 1 of 1: ce, digits/0.4, 2 epochs"]
    assert store.run(first).path.joinpath("result.json").stat().st_mtime_ns == before
    assert runs.result(second)["epochs"] == 2


def test_what_is_read_is_what_the_run_wrote(store, place):
    job = TINY.job("ce+fnpal", "digits/0.4", seed=0)
    runs = train([job], place, progress=Progress())
    seen, result = runs.seen(job), store.run(job).read_result()
    assert float((seen.logits.argmax(dim=1) == seen.labels).double().mean()) == result["test"]["accuracy"]
    assert runs.accuracies(job)[-1] == result["test"]["accuracy"]
    assert seen.features.shape == (360, 16)
    # Without the temperature, which the trained model divides by.
    model, test = TrainedModel.load(store.run(job).path), load_digits().test
    calibrated = model(test.inputs.take(torch.arange(5)))
    assert (seen.logits[:5] / model.temperature).allclose(calibrated, atol=1e-5)
    assert runs.network(job).rows().shape == (10, 16)


def test_a_run_in_other_hands_is_left_until_the_rest_is_done(monkeypatch, place):
    jobs = TINY.jobs(seeds=[0], cells=["digits/0.0"])
    answers = {jobs[0].row: ["busy", "busy", "finished"], jobs[1].row: ["finished"], jobs[2].row: ["finished"]}
    done, slept = [], []

    def pretend(job, place, progress):
        done.append(job.row)
        return Outcome(answers[job.row].pop(0), "process 7 on here has it in hand")

    monkeypatch.setattr(module, "work", pretend)
    monkeypatch.setattr(module.time, "sleep", slept.append)
    train(jobs, place, progress=Progress())
    assert done == [jobs[0].row, jobs[1].row, jobs[2].row, jobs[0].row, jobs[0].row]
    assert len(slept) == 1


def test_a_run_that_fails_is_named_with_its_reason(monkeypatch, place):
    monkeypatch.setattr(module, "work", lambda *_: Outcome("failed", "the loss became nan"))
    with pytest.raises(InputError, match=r"tiny digits/0\.0 ce seed 0: the loss became nan"):
        train(TINY.jobs(methods=["ce"], cells=["digits/0.0"], seeds=[0]), place, progress=Progress())


def test_missing_data_is_told_before_a_store_is_made(tmp_path):
    place = Place(str(tmp_path / "new"), data_root=str(tmp_path))
    with pytest.raises(InputError, match="anchored data mnist --root"):
        train(FIGURES["norms"].jobs(quick=True), place, progress=Progress())
    assert not (tmp_path / "new").exists()


def test_a_run_is_found_by_row_and_cell(place):
    jobs = TINY.jobs(seeds=[0])
    assert Runs(tuple(jobs), place).job("ce", "digits/0.4") is next(
        job for job in jobs if job.row == "ce" and job.cell == "digits/0.4"
    )
