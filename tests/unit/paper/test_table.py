"""Mirror of src/anchored/paper/table.py: names, choices, and a key that means the settings and nothing else."""

import json
import pickle

import pytest
from tests.unit.paper.tiny import TINY

from anchored._errors import InputError
from anchored.paper import Row, Table


def test_a_job_holds_everything_that_decides_its_result(tiny):
    job = tiny.job("CE+FNPAL", "digits/0.4", seed=3)
    assert job.settings["method"] == {"noise_rate": 0.4, "name": "ce+fnpal", "loss": {}, "anchors": "random"}
    assert job.settings["train"] == {"epochs": 2, "batch_size": 64, "seed": 3}
    assert job.settings["data"]["corrupt"] == ["symmetric=0.4"]
    assert job.title == "tiny digits/0.4 ce+fnpal seed 3"
    assert pickle.loads(pickle.dumps(job)) == job
    assert json.loads(json.dumps(job.settings)) == job.settings


def test_the_key_changes_with_the_settings_alone(tiny):
    base = tiny.job("ce", "digits/0.0", seed=0)
    others = [
        tiny.job("ce+fnpal", "digits/0.0", seed=0),
        tiny.job("ce", "digits/0.4", seed=0),
        tiny.job("ce", "digits/0.0", seed=1),
        tiny.job("ce", "digits/0.0", seed=0, epochs=1),
    ]
    assert len({base.key, *(job.key for job in others)}) == 5
    renamed = Table(name="other", title="", claim="", rows=TINY.rows, cells=TINY.cells, build=TINY.build)
    assert renamed.job("ce", "digits/0.0", seed=0).key == base.key
    assert len(base.key) == 12
    assert set(base.key) <= set("0123456789abcdef")


def test_another_length_is_shortened(tiny):
    assert not tiny.job("ce", "digits/0.0", seed=0).shortened
    assert not tiny.job("ce", "digits/0.0", seed=0, epochs=2).shortened
    assert tiny.job("ce", "digits/0.0", seed=0, epochs=1).shortened
    assert tiny.job("ce", "digits/0.0", seed=0, epochs=3).shortened


def test_another_precision_is_another_run_and_that_of_the_recipe_is_not_said(tiny):
    base = tiny.job("ce", "digits/0.0", seed=0)
    assert base.precision == "32"
    assert "precision" not in base.settings["train"]
    assert tiny.job("ce", "digits/0.0", seed=0, precision="32") == base
    (mixed,) = tiny.jobs(methods=["ce"], cells=["digits/0.0"], seeds=[0], precision="bf16")
    assert mixed.precision == "bf16"
    assert mixed.key != base.key
    assert not mixed.shortened


def test_scoring_now_and_then_is_another_run_and_scoring_each_epoch_is_not_said(tiny):
    base = tiny.job("ce", "digits/0.0", seed=0)
    assert base.evaluate_every == 1
    assert "evaluate" not in base.settings["train"]
    assert tiny.job("ce", "digits/0.0", seed=0, evaluate_every=1) == base
    (rare,) = tiny.jobs(methods=["ce"], cells=["digits/0.0"], seeds=[0], evaluate_every=5)
    assert (rare.evaluate_every, rare.settings["train"]["evaluate"]) == (5, 5)
    assert rare.key != base.key
    assert not rare.shortened


def test_all_rows_and_cells_are_run_seed_by_seed(tiny):
    jobs = tiny.jobs()
    assert len(jobs) == 3 * 2 * 2
    assert [job.seed for job in jobs] == [0] * 6 + [1] * 6


def test_names_and_patterns_choose(tiny):
    jobs = tiny.jobs(methods=["ce+fnpal*"], cells=["*/0.4"], seeds=[5])
    assert [(job.row, job.cell, job.seed) for job in jobs] == [
        ("ce+fnpal", "digits/0.4", 5),
        ("ce+fnpal (aligned)", "digits/0.4", 5),
    ]
    assert [job.row for job in tiny.jobs(methods=["ce"], cells=["digits/0.0"], seeds=[0])] == ["ce"]
    assert [job.row for job in tiny.jobs(methods=["CE-FNPAL"], cells=["digits/0.0"], seeds=[0])] == ["ce+fnpal"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: TINY.jobs(methods=["ce+fnpl"]),
            "unknown method of table tiny: 'ce\\+fnpl'; did you mean 'ce\\+fnpal'",
        ),
        (lambda: TINY.jobs(cells=["digits/0.5"]), "unknown cell of table tiny: 'digits/0.5'; did you mean"),
        (lambda: TINY.job("fl", "digits/0.0", seed=0), "unknown method of table tiny: 'fl'"),
        (lambda: TINY.job("ce", "mnist", seed=0), "unknown cell"),
        (lambda: TINY.job("ce", "digits/0.0", seed=-1), "train.seed"),
        (lambda: TINY.job("ce", "digits/0.0", seed=0, evaluate_every=0), "evaluate_every must be at least 1, got 0"),
    ],
)
def test_refuses_what_is_not_in_the_table(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_titles_are_spelled_as_in_print():
    titles = [Row(name=name, method="ce").title for name in ("nce+rce+fnpal", "crt+mixup", "mislas+pal (aligned)")]
    assert titles == ["NCE+RCE+FNPAL", "cRT+mixup", "MiSLAS+PAL (aligned)"]
