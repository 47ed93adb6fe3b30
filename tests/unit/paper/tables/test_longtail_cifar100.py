"""Mirror of src/anchored/paper/tables/longtail_cifar100.py: each row with the recipe its number was made with."""

import pytest
import torch

from anchored import backbones, methods, prototypes
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


@pytest.mark.parametrize("method", ["ce+pal", "mislas+pal", "balanced-softmax+pal"])
def test_variants_of_an_anchored_row_differ_by_anchors_scale_and_projection_alone(method):
    first = settings(method)
    for variant in ("aligned, s=5", "aligned, s=10", "projected", "projected, s=5", "projected, s=10"):
        other = settings(f"{method} ({variant})")
        assert {part for part in first if first[part] != other[part]} <= {"method", "backbone"}
        changed = {name for name in other["method"] if other["method"][name] != first["method"].get(name)}
        assert changed == ({"anchors"} if variant.startswith("aligned") else set()) | (
            {"scale"} if "s=" in variant else set()
        )
        assert ("options" in other["backbone"]) == variant.startswith("projected")


def test_projected_rows_have_a_regular_simplex():
    made = settings("ce+pal (projected, s=5)")
    net = backbones.get(made["backbone"]["name"], (3, 32, 32), **made["backbone"]["options"])
    head = methods.make_head(
        methods.parse("ce+pal"),
        net.feature_dim,
        100,
        signed_features=net.signed_features,
        scale=made["method"]["scale"],
        anchors=made["method"]["anchors"],
        generator=torch.Generator().manual_seed(0),
    )
    assert head.scale == 5.0
    assert prototypes.quality(head.prototypes).max_cosine == pytest.approx(-1 / 99, abs=1e-5)


def test_balanced_softmax_has_the_same_recipe_with_and_without_anchors():
    plain, anchored = settings("balanced-softmax"), settings("balanced-softmax+pal")
    assert {part for part in plain if plain[part] != anchored[part]} == {"method"}
    assert plain["optimizer"]["weight_decay"] == 5e-4
