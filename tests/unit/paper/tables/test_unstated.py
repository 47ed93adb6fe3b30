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
        ("iid, pixels", {"data.corrupt", "data.normalize"}),
        ("no clipping", {"optimizer.clip"}),
        ("reference", {"optimizer.weight_decay", "optimizer.nesterov", "schedule.options.lowest"}),
    ],
)
def test_a_row_differs_from_the_first_by_what_its_name_says(row, changed):
    first, other = (set(flat(TABLE.job(name, CELL, seed=0).settings)) for name in ("ce+fnpal", f"ce+fnpal ({row})"))
    assert {name for name, _ in first ^ other} == changed


def test_the_first_rows_are_the_runs_of_the_noise_table():
    for name in ("ce+fnpal", "ce+fnpal (aligned)"):
        assert TABLE.job(name, CELL, seed=0).key == noise_symmetric.TABLE.job(name, CELL, seed=0).key


def test_the_published_number_stands_beside_every_row():
    assert {number.mean for number in TABLE.published.values()} == {79.23}
    assert len(TABLE.published) == len(TABLE.rows)
