"""Mirror of src/anchored/paper/tables/human_noise.py: built-in sources, features for all rows, nothing told to auto."""

import pytest

from anchored.data import BUILT_IN
from anchored.paper.tables.human_noise import TABLE
from anchored.training import validate


def test_every_column_is_a_built_in_source_with_labels_of_people():
    assert [cell.name for cell in TABLE.cells] == ["cifar10n-aggre", "cifar10n-random1", "cifar10n-worse", "agnews"]
    assert all(cell.settings["data"]["source"] in BUILT_IN for cell in TABLE.cells)


@pytest.mark.parametrize("cell", [cell.name for cell in TABLE.cells])
def test_auto_is_told_nothing_and_all_rows_have_the_same_features(cell):
    jobs = {row.name: TABLE.job(row.name, cell, seed=0) for row in TABLE.rows}
    assert jobs["auto"].settings["method"] == {"name": "auto"}
    assert "epochs" not in jobs["auto"].settings["train"], "a length would ask for a network"
    assert {str(job.settings["features"]) for job in jobs.values()} == {"{'encoder': 'auto'}"}
    assert {str(job.settings["data"]) for job in jobs.values()} == {str({"source": cell})}


def test_computed_rows_have_no_epochs_and_the_network_has():
    assert [TABLE.job(row.name, "agnews", seed=0).epochs for row in TABLE.rows] == [0, 0, 0, 20]
    assert not TABLE.job("ridge", "agnews", seed=0).shortened
    assert validate(TABLE.job("ridge (balanced)", "agnews", seed=0).settings).method.options == {"balanced": True}
