"""Mirror of src/anchored/paper/tables/unstated.py: one change per row, and runs shared with the noise table."""

import pytest

from anchored.paper.tables import noise_symmetric
from anchored.paper.tables.unstated import TABLE

CELL = "mnist/0.8"


def flat(settings, path=""):
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", str(value)


@pytest.mark.parametrize(
    ("row", "changed"),
    [
        ("aligned", {"method.anchors"}),
        ("iid", {"data.corrupt"}),
        ("pixels", {"data.normalize"}),
        ("aligned, iid", {"method.anchors", "data.corrupt"}),
        ("iid, pixels", {"data.corrupt", "data.normalize"}),
        ("no clipping", {"optimizer.clip"}),
        ("reference", {"optimizer.weight_decay", "optimizer.nesterov", "schedule.options.lowest"}),
    ],
)
def test_a_row_differs_from_the_first_by_what_its_name_says(row, changed):
    first, other = (set(flat(TABLE.job(name, CELL, seed=0).settings)) for name in ("ce+fnpal", f"ce+fnpal ({row})"))
    assert {name for name, _ in first ^ other} == changed


@pytest.mark.parametrize(
    ("method", "variant", "changed"),
    [
        ("sce+fnpal", "iid", {"data.corrupt"}),
        ("nce+rce", "iid", {"data.corrupt"}),
        ("nce+rce+fnpal", "iid", {"data.corrupt"}),
        ("nce+rce+fnpal", "aligned, iid", {"data.corrupt", "method.anchors"}),
    ],
)
def test_the_other_losses_differ_by_what_their_names_say(method, variant, changed):
    first, other = (set(flat(TABLE.job(name, CELL, seed=0).settings)) for name in (method, f"{method} ({variant})"))
    assert {name for name, _ in first ^ other} == changed


def test_rows_without_a_change_are_the_runs_of_the_noise_table():
    for name in (
        "ce",
        "ce+fnpal",
        "ce+fnpal (aligned)",
        "gce+fnpal",
        "sce+fnpal",
        "nce+rce",
        "nce+rce+fnpal (aligned)",
    ):
        assert TABLE.job(name, CELL, seed=0).key == noise_symmetric.TABLE.job(name, CELL, seed=0).key


def test_the_published_number_of_the_method_stands_beside_every_row():
    printed = {row.name: TABLE.published[row.name, CELL, "accuracy"].mean for row in TABLE.rows}
    assert {name: printed[f"{name} (iid)"] for name in ("ce", "ce+fnpal", "gce+fnpal")} == {
        "ce": 22.32,
        "ce+fnpal": 79.23,
        "gce+fnpal": 94.65,
    }
    assert len(printed) == len(TABLE.rows)
