"""Mirror of src/anchored/paper/docs.py: the page is made from the records and says what was not run."""

import pytest

from anchored.paper import TABLES, Results
from anchored.paper.docs import _epochs, results_page


def test_every_table_has_its_section_with_its_cost(results):
    page = results_page(results)
    for table in TABLES.values():
        section = page.split(f"## `{table.name}`")[1].split("\n## ")[0]
        assert table.claim in section
        assert "Cost: " in section
        assert "Nothing of it was run yet." in section


def test_a_record_appears_with_its_number(tmp_path):
    results = Results(tmp_path)
    job = TABLES["weight_decay"].job("ce", "5e-4", seed=0, epochs=3)
    results.add(
        {
            "table": "weight_decay",
            "cell": "5e-4",
            "row": "ce",
            "seed": 0,
            "epochs": 3,
            "shortened": True,
            "key": job.key,
            "last": {"accuracy": 0.1234},
            "best": {"epoch": 2, "accuracy": 0.4321},
            "history": {"train_loss": [3.0, 2.0, 1.0]},
            "seconds": 36.0,
        }
    )
    section = results_page(results).split("## `weight_decay`")[1].split("\n## ")[0]
    assert "| CE, 3 epochs | ours | 43.21 |" in section
    assert "1 run, 12 seconds per epoch" in section
    assert "1e-3" not in section.split("method")[1]


@pytest.mark.parametrize(("losses", "epochs"), [([3.0, 2.0, 1.0, 0.5], 4), (None, 3)])
def test_the_epochs_of_a_second_stage_count(losses, epochs):
    assert _epochs({"epochs": 3, "history": {} if losses is None else {"train_loss": losses}}) == epochs
