"""Mirror of src/anchored/losses/names.py: every name builds its loss, settings reach it, the rest is refused."""

import pytest
import torch
from tests.builders import batch as make_batch

from anchored import InputError, losses
from anchored.losses import NAMES

COUNTS = [50, 20, 10, 5]


@pytest.fixture
def batch():
    return make_batch(8, 4)


def counts_for(name):
    return {"counts": COUNTS} if name in ("ldam", "balanced-softmax", "logit-adjusted", "lade", "label-aware") else {}


EXPECTED = {
    "ce": lambda: losses.CrossEntropy(),
    "fl": lambda: losses.Focal(),
    "gce": lambda: losses.GeneralizedCrossEntropy(),
    "sce": lambda: losses.SymmetricCrossEntropy(),
    "mae": lambda: losses.MeanAbsoluteError(),
    "rce": lambda: losses.ReverseCrossEntropy(),
    "nce": lambda: losses.Normalized(losses.CrossEntropy()),
    "nfl": lambda: losses.Normalized(losses.Focal()),
    "ngce": lambda: losses.Normalized(losses.GeneralizedCrossEntropy()),
    "nsl": lambda: losses.NegativeSampleLogit(),
    "ldam": lambda: losses.LDAM(COUNTS),
    "balanced-softmax": lambda: losses.BalancedSoftmax(COUNTS),
    "logit-adjusted": lambda: losses.LogitAdjusted(COUNTS),
    "lade": lambda: losses.LADE(COUNTS),
    "label-aware": lambda: losses.LabelAwareSmoothing(COUNTS),
    "dot-regression": lambda: losses.DotRegression(),
    "anchored-squared": lambda: losses.AnchoredSquared(),
}


def test_the_table_above_is_complete():
    assert EXPECTED.keys() == NAMES.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_every_name_builds_its_loss(batch, name):
    for spelling in (name, name.upper(), name.replace("-", "_")):
        assert torch.equal(losses.get(spelling, **counts_for(name))(*batch), EXPECTED[name]()(*batch))


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("fl", {"gamma": 2, "detach": True}, lambda: losses.Focal(2.0, detach=True)),
        ("ngce", {"q": 0.3}, lambda: losses.Normalized(losses.GeneralizedCrossEntropy(0.3))),
        ("nce", {"alpha": 10}, lambda: 10 * losses.Normalized(losses.CrossEntropy())),
        ("sce", {"alpha": 6, "beta": 0.1}, lambda: losses.SymmetricCrossEntropy(6, 0.1)),
        ("lade", {"alpha": 0.5, "counts": COUNTS}, lambda: losses.LADE(COUNTS, alpha=0.5)),
        ("ldam", {"counts": COUNTS, "margin": 0.3, "scale": 10}, lambda: losses.LDAM(COUNTS, margin=0.3, scale=10)),
        (
            "NCE+RCE",
            {"alpha": 1, "beta": 10},
            lambda: losses.Normalized(losses.CrossEntropy()) + 10 * losses.ReverseCrossEntropy(),
        ),
        (
            "ngce + mae",
            {"q": 0.5, "scale": 2, "alpha": 3},
            lambda: 3 * losses.Normalized(losses.GeneralizedCrossEntropy(0.5)) + losses.MeanAbsoluteError(2),
        ),
        (
            "balanced-softmax+mae",
            {"counts": COUNTS, "beta": 2},
            lambda: losses.BalancedSoftmax(COUNTS) + 2 * losses.MeanAbsoluteError(),
        ),
    ],
)
def test_settings_reach_the_terms_that_know_them(batch, name, settings, expected):
    torch.testing.assert_close(losses.get(name, **settings)(*batch), expected()(*batch))


@pytest.mark.parametrize("name", ["ce", "nce", "nce+rce"])
def test_weight_reduction_and_ignore_index_hold_for_the_whole(batch, name):
    loss = losses.get(name, weight=[1.0, 2.0, 3.0, 4.0], reduction="none", ignore_index=2)
    assert (loss.weight.tolist(), loss.reduction, loss.ignore_index) == ([1.0, 2.0, 3.0, 4.0], "none", 2)
    assert loss(*batch).shape == (8,)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("gcee", {}, "unknown loss 'gcee'; did you mean 'gce'"),
        ("balanced-sofmax", {}, "did you mean 'balanced-softmax'"),
        ("nce+rcee", {}, "term of loss 'nce[+]rcee': 'rcee'; did you mean 'rce'"),
        ("zzzzzz", {}, "choose from ce, fl, gce"),
        ("", {}, "unknown loss ''"),
        (3, {}, "must be a string such as 'nce[+]rce', got 3"),
        ("ce+mae+rce", {}, "may join two losses, got 3 .* add losses with [+]"),
        ("ce", {"q": 0.7}, "loss 'ce' has no setting 'q'; it takes ignore_index, reduction, weight"),
        ("gce", {"gamma": 1}, "no setting 'gamma'; it takes ignore_index, q, reduction, weight"),
        ("mae", {"alpha": 1}, "no setting 'alpha'"),
        ("nce+mae", {"q": 1}, "no setting 'q'; it takes alpha, beta, ignore_index, reduction, scale, weight"),
        ("ldam", {}, "loss 'ldam' needs counts"),
        ("nce+ldam", {}, "loss 'ldam' needs counts"),
        ("nce+rce", {"alpha": -1}, "factor of a loss must lie in"),
        ("gce", {"q": 2}, "q must lie in"),
    ],
)
def test_refuses_with_the_way_out(name, settings, message):
    with pytest.raises(InputError, match=message):
        losses.get(name, **settings)


@pytest.mark.parametrize("name", [*EXPECTED, "nce+rce", "CE + Balanced_Softmax"])
def test_says_which_losses_need_counts(name):
    if not losses.needs_counts(name):
        assert isinstance(losses.get(name), losses.Loss)
        return
    with pytest.raises(InputError, match="needs counts"):
        losses.get(name)
