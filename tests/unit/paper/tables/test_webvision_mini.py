"""Mirror of src/anchored/paper/tables/webvision_mini.py: fifty classes, an assumed rate, WebVision's own validation."""

from anchored.methods import parse
from anchored.paper.tables.webvision_mini import TABLE
from anchored.theory import noise_aware_scale


def test_its_rows_are_the_published_ones():
    assert {key[0] for key in TABLE.published} == {row.name for row in TABLE.rows if not row.ours}


def test_fifty_classes_of_the_lists_and_scale_one():
    settings = TABLE.job("ce+fnpal", "webvision-mini", seed=0).settings
    assert settings["data"]["below_label"] == 50
    assert (settings["data"]["source"], settings["data"]["test"]) == tuple(TABLE.needs)
    assert parse("ce+fnpal").noise_aware
    assert noise_aware_scale(settings["method"]["noise_rate"]) == 1.0


def test_losses_are_those_of_webvision():
    assert TABLE.job("sce+fnpal", "webvision-mini", seed=0).settings["method"]["loss"] == {"alpha": 10.0, "beta": 1.0}
    assert TABLE.job("ce+pal", "webvision-mini", seed=0).settings["method"]["loss"] == {}
