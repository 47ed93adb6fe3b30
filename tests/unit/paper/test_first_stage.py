"""Mirror of src/anchored/paper/first_stage.py: what is borrowed is what would have been trained, to the last bit."""

import json

import pytest
import torch

from anchored.paper import Job
from anchored.paper.first_stage import borrow, first_stage_of
from anchored.paper.store import Store
from anchored.paper.worker import Placement, run_job
from anchored.runs import TrainedModel


def job(method, **more):
    settings = {
        "data": {"source": "digits", "corrupt": ["longtail=20"], "hold_out": 0.2},
        "method": {"name": method, **more},
        "backbone": {"name": "tiny"},
        "train": {"epochs": 2, "batch_size": 64, "seed": 0},
    }
    return Job("trial", method, "digits", 0, settings, 2)


@pytest.mark.parametrize(
    ("method", "first"),
    [("crt", "ce"), ("lws+mixup+pal", "ce+mixup+pal"), ("mislas+pal", "ce+mixup+pal"), ("bbn", None), ("ce", None)],
)
def test_the_first_stage_is_the_run_of_another_row(method, first):
    found = first_stage_of(job(method))
    assert (found and found.key) == (first and job(first).key)


def test_options_of_the_second_stage_do_not_count():
    with_options = job("ncm", options={"transform": "l2n"})
    with_options.settings["second"] = {"epochs": 3}
    assert first_stage_of(with_options).key == job("ce").key


@pytest.mark.parametrize("method", ["crt+pal", "tau-norm", "mislas", "oltr"])
def test_a_borrowed_beginning_gives_the_same_run(method, tmp_path):
    alone, shared = Store(tmp_path / "alone"), Store(tmp_path / "shared")
    for store in (alone, shared):
        store.make()
    first = first_stage_of(job(method))
    assert run_job(job(method), Placement(str(alone.path))).status == "finished"
    assert run_job(first, Placement(str(shared.path))).status == "finished"
    stamp = shared.run(first).checkpoint_path.read_bytes()
    assert run_job(job(method), Placement(str(shared.path))).status == "finished"
    mine, other = alone.run(job(method)), shared.run(job(method))
    assert other.read_lines("history.jsonl") == mine.read_lines("history.jsonl")
    assert len(other.read_lines("speed.jsonl")) == len(mine.read_lines("speed.jsonl"))
    straight, borrowed = TrainedModel.load(mine.path), TrainedModel.load(other.path)
    for name, value in straight.state_dict().items():
        assert torch.equal(borrowed.state_dict()[name], value), name
    assert json.loads((other.path / "result.json").read_text()) == json.loads((mine.path / "result.json").read_text())
    assert shared.run(first).checkpoint_path.read_bytes() == stamp, "the lender keeps what it had"


def test_nothing_is_borrowed_from_an_unfinished_run_or_for_a_started_one(tmp_path):
    store = Store(tmp_path)
    store.make()
    assert not borrow(job("crt"), store)
    assert not store.run(job("crt")).path.exists()
    run_job(job("crt"), Placement(str(store.path)))
    run_job(job("ce"), Placement(str(store.path)))
    assert not borrow(job("crt"), store)
