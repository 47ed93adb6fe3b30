"""Mirror of src/anchored/paper/tables/_noisy.py: the setting of the reference, stated and not left open."""

import pytest

from anchored.losses import get, settings_for
from anchored.paper.tables._noisy import ROWS, loss_settings, noisy_cell, noisy_settings


def row(name):
    return next(each for each in ROWS if each.name == name)


def test_everything_is_trained_on_and_the_rate_is_stated_even_where_it_is_zero():
    clean, noisy = (noisy_cell("mnist", eta, f"symmetric={eta}:apl").settings for eta in (0.0, 0.8))
    assert clean["data"]["hold_out"] == noisy["data"]["hold_out"] == 0.0
    assert clean["data"]["corrupt"] == []
    assert noisy["data"]["corrupt"] == ["symmetric=0.8:apl"]
    assert (clean["method"]["noise_rate"], noisy["method"]["noise_rate"]) == (0.0, 0.8)


@pytest.mark.parametrize("data", ["mnist", "cifar10", "cifar100"])
@pytest.mark.parametrize("loss", ["ce", "fl", "gce", "sce", "nce+mae", "nce+rce", "nfl+rce", "nsl"])
def test_losses_have_the_published_settings(loss, data):
    settings = loss_settings(loss, data)
    focal = loss.split("+")[0] in ("fl", "nfl")
    assert settings == settings_for(loss, data) | ({"detach": True} if focal else {})
    get(loss, **settings)


def test_published_rows_are_turned_at_random_and_ours_are_aligned():
    assert row("ce+fnpal").settings == {"method": {"anchors": "random"}}
    assert row("ce+fnpal (aligned)").settings == {"method": {"anchors": "aligned"}}
    assert row("ce").settings == {}
    assert [each.ours for each in ROWS] == [False] * 15 + [True] * 8


def test_the_loss_of_an_anchored_row_is_that_of_the_plain_one():
    cell = noisy_cell("cifar10", 0.4, "symmetric=0.4:apl")
    anchored, plain = (noisy_settings(row(name), cell)["method"] for name in ("nfl+rce+fnpal", "nfl+rce"))
    assert anchored["loss"] == plain["loss"] == {"alpha": 1.0, "beta": 1.0, "gamma": 0.5, "detach": True}
