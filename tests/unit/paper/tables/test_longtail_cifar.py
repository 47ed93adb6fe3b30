"""Mirror of src/anchored/paper/tables/longtail_cifar.py: LDAM's recipe in eight kinds of imbalance."""

from anchored.paper.tables.longtail_cifar import TABLE


def test_its_rows_and_cells_are_the_published_ones():
    assert {key[0] for key in TABLE.published} == {row.name for row in TABLE.rows if not row.ours}
    assert {key[1] for key in TABLE.published} == {cell.name for cell in TABLE.cells}


def test_the_recipe_is_that_of_ldam():
    settings = TABLE.job("ldam+drw+pal", "cifar10/step-100", seed=0).settings
    assert settings["data"]["corrupt"] == ["step=100"]
    assert settings["schedule"] == {"name": "ldam"}
    assert settings["optimizer"]["weight_decay"] == 2e-4
    assert settings["optimizer"]["clip"] is None
    assert settings["backbone"] == {"name": "resnet32"}
    assert TABLE.epoch == "best"
