"""Mirror of src/anchored/paper/store.py: where runs lie and how far they are."""

import pytest

from anchored._errors import InputError
from anchored.paper import Store, run_job
from anchored.training import validate


def test_a_run_is_found_by_its_settings(tiny, store, place):
    job = tiny.job("ce", "digits/0.0", seed=0)
    assert store.state(job) == "missing"
    assert store.epochs_done(job) == 0
    assert store.epochs_planned(job) == 2
    assert run_job(job, place).status == "finished"
    assert store.run(job).path == store.path / "runs" / job.key
    assert store.state(job) == "finished"
    assert store.epochs_done(job) == store.epochs_planned(job) == len(store.seconds(job)) == 2
    assert store.state(tiny.job("ce", "digits/0.0", seed=1)) == "missing"


def test_a_started_run_is_told_from_a_finished_one(tiny, store, place):
    job = tiny.job("ce", "digits/0.0", seed=0)
    run_job(job, place)
    (store.run(job).path / "result.json").unlink()
    assert store.state(job) == "started"


def test_a_run_whose_labels_are_being_looked_at_has_the_epochs_that_were_asked_for(tiny, store):
    job = tiny.job("ce", "digits/0.0", seed=0)
    store.make()
    store.run(job).begin(validate(job.settings), {})
    assert store.state(job) == "started"
    assert store.epochs_planned(job) == 2


def test_a_store_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot create the store"):
        Store(tmp_path / "file" / "store").make()
