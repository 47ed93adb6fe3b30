"""Mirror of src/anchored/paper/tables/orientation.py: three orientations, and runs shared with the noise table."""

import pytest

from anchored.paper.tables import noise_symmetric
from anchored.paper.tables.orientation import TABLE


def test_every_method_comes_in_three_orientations():
    names = {row.name for row in TABLE.rows}
    for method in ("ce+fnpal", "fl+fnpal", "gce+fnpal", "sce+fnpal", "nce+rce+fnpal", "nsl"):
        assert {f"{method} ({kind})" for kind in ("random", "aligned", "signed")} <= names


def test_random_and_aligned_rows_are_the_runs_of_the_noise_table():
    for ours, theirs in (("ce+fnpal (random)", "ce+fnpal"), ("gce+fnpal (aligned)", "gce+fnpal (aligned)")):
        mine = TABLE.job(ours, "mnist/0.8", seed=0)
        assert mine.key == noise_symmetric.TABLE.job(theirs, "mnist/0.8", seed=0).key


def test_signed_rows_have_no_last_relu():
    assert TABLE.job("ce+fnpal (signed)", "mnist/0.8", seed=0).settings["backbone"] == {
        "name": "cnn4",
        "last_relu": False,
    }


def test_scales_that_the_paper_leaves_open_are_tried():
    settings = TABLE.job("gce+fnpal (aligned, s=10)", "mnist/0.8", seed=0).settings
    assert settings["method"]["scale"] == 10.0


def test_a_third_of_the_learning_rate_is_all_that_makes_the_slower_row():
    usual = TABLE.job("ce+fnpal (aligned)", "mnist-small/0.8", seed=0).settings
    slower = TABLE.job("ce+fnpal (aligned, lr/3)", "mnist-small/0.8", seed=0).settings
    assert slower["optimizer"].pop("lr") == pytest.approx(usual["optimizer"].pop("lr") / 3)
    assert slower == usual
