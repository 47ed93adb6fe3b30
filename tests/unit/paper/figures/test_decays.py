"""Mirror of src/anchored/paper/figures/_decays.py: only the weight decay changes."""

from anchored.paper import TABLES
from anchored.paper.figures._decays import decays_table, quick_decays_table


def test_the_runs_are_those_of_the_table():
    jobs = decays_table("norms", "ce", "ce+drw").jobs(seeds=[0])
    assert jobs
    for job in jobs:
        assert job.key == TABLES["weight_decay"].job(job.row, job.cell, seed=0).key


def test_the_quick_runs_differ_in_their_weight_decay_only():
    jobs = quick_decays_table("norms", "ce").jobs(seeds=[0])
    decays = [job.settings["optimizer"].pop("weight_decay") for job in jobs]
    assert decays == sorted(decays)
    assert decays[0] == 0.0
    assert len(set(decays)) == len({job.cell for job in jobs}) == 4
    assert all(job.settings == jobs[0].settings for job in jobs)
