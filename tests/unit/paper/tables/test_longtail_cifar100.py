"""Mirror of src/anchored/paper/tables/longtail_cifar100.py: each row with the recipe its number was made with."""

from anchored.paper.tables.longtail_cifar100 import TABLE


def settings(row):
    return TABLE.job(row, "cifar100/longtail-100", seed=0).settings


def test_its_rows_and_cells_are_the_published_ones():
    assert {key[0] for key in TABLE.published} == {row.name for row in TABLE.rows if not row.ours}
    assert {key[1] for key in TABLE.published} == {cell.name for cell in TABLE.cells}


def test_mislas_with_anchors_has_the_papers_learning_rates_and_so_has_its_fair_rival():
    for row in ("mislas+pal", "mislas (lr 0.15, wd 5e-4)", "mislas+pal (aligned)"):
        assert (settings(row)["optimizer"]["lr"], settings(row)["optimizer"]["weight_decay"]) == (0.15, 5e-4)
        assert settings(row)["second"] == {"lr": 0.01}
    assert (settings("mislas")["optimizer"]["lr"], settings("mislas")["optimizer"]["weight_decay"]) == (0.1, 2e-4)
    assert "second" not in settings("mislas")


def test_rows_from_other_papers_have_their_schedules():
    names = {row: settings(row)["schedule"]["name"] for row in ("ce", "bbn", "lade", "tade", "ldam+drw+pal")}
    assert names == {"ce": "mislas", "bbn": "bbn", "lade": "lade", "tade": "tade", "ldam+drw+pal": "mislas"}
    assert settings("lade")["train"]["batch_size"] == 256
