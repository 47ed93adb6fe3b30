"""Mirror of src/anchored/methods/parse.py: the paper's row names, their canonical form, and what is refused."""

import pytest

from anchored._errors import InputError
from anchored.methods.method import Method
from anchored.methods.parse import LOSSES, MODIFIERS, parse

ROWS = [
    # name                 canonical              loss       head        normalize scale         loss_scale
    ("CE", "ce", "ce", "linear", False, 1.0, None),
    ("FL", "fl", "fl", "linear", False, 1.0, None),
    ("NCE+RCE", "nce+rce", "nce+rce", "linear", False, 1.0, None),
    ("NSL", "nsl", "nsl", "anchored", True, 1.0, None),
    ("nsl+fnpal", "nsl+fnpal", "nsl", "anchored", True, 1.0, None),
    ("CE+FNPAL", "ce+fnpal", "ce", "anchored", True, "noise-aware", None),
    ("SCE+FNPAL", "sce+fnpal", "sce", "anchored", True, "noise-aware", None),
    ("NFL+RCE+FNPAL", "nfl+rce+fnpal", "nfl+rce", "anchored", True, 10.0, None),
    ("NCE+MAE+FNPAL", "nce+mae+fnpal", "nce+mae", "anchored", True, 10.0, None),
    ("CE+FNPN", "ce+fnpn", "ce", "cosine", True, "noise-aware", None),
    ("CE+PAL", "ce+pal", "ce", "anchored", False, 1.0, None),
    ("CE-PAL", "ce+pal", "ce", "anchored", False, 1.0, None),
    ("Norm", "norm", "ce", "cosine", True, 30.0, None),
    ("Norm-DRW-PAL", "norm+drw+pal", "ce", "anchored", True, 30.0, None),
    ("LDAM", "ldam", "ldam", "cosine", True, 1.0, 30.0),
    ("LDAM-DRW-PAL", "ldam+drw+pal", "ldam", "anchored", True, 1.0, 30.0),
    ("LDAM+DRW", "ldam+drw", "ldam", "cosine", True, 1.0, 30.0),
    ("Balanced Softmax", "balanced-softmax", "balanced-softmax", "linear", False, 1.0, None),
    ("balanced-softmax-pal", "balanced-softmax+pal", "balanced-softmax", "anchored", False, 1.0, None),
    ("CE+mixup+PAL", "ce+mixup+pal", "ce", "anchored", False, 1.0, None),
    ("pal + ce", "ce+pal", "ce", "anchored", False, 1.0, None),
]


@pytest.mark.parametrize(("name", "canonical", "loss", "head", "normalize", "scale", "loss_scale"), ROWS)
def test_a_row_name_gives_its_method(name, canonical, loss, head, normalize, scale, loss_scale):
    method = parse(name)
    assert (method.name, method.loss, method.head) == (canonical, loss, head)
    assert (method.normalize, method.scale, method.loss_scale) == (normalize, scale, loss_scale)


def test_modifiers_are_read():
    assert parse("ce+mixup").mixup
    assert not parse("ce").mixup
    assert parse("ldam-drw").deferred
    assert parse("ce+rw").weighting == "class-balanced"
    assert parse("ce+rs").sampling == "balanced"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_canonical_name_names_itself(row):
    assert parse(parse(row[0]).name) == parse(row[0])


def test_a_method_passes_through():
    method = Method(name="mine", loss="ce", sampling="reversed")
    assert parse(method) is method


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ce+fnpall", r"unknown word 'fnpall' in method 'ce\+fnpall'; did you mean 'fnpal'"),
        ("gcee", "did you mean 'gce'"),
        ("ldam-drv", "unknown word 'drv'"),
        ("pal", r"names no loss; put one first, e.g. 'ce\+pal'"),
        ("ce+ce", "says 'ce' twice"),
        ("ce+pal+fnpn", "two heads, pal and fnpn"),
        ("ce+gce", "adds ce and gce; a sum is one of nce, nfl, ngce followed by one of mae, rce"),
        ("mae+nce", "adds mae and nce"),
        ("nsl+fnpn", "collapse onto one point"),
        ("nsl+pal", "unbounded below"),
        ("ldam+fnpal", r"normalises features already; use 'ldam' or 'ldam\+pal'"),
        ("norm+fnpn", "normalises features already"),
        ("balanced-softmax+drw", "corrects the class imbalance twice, by balanced-softmax and by drw"),
        ("ce+rs+rw", "corrects the class imbalance twice"),
        ("dot-regression+fnpn", "defined on cosines with fixed prototypes"),
        ("", "a method must be a name"),
        (3, "a method must be a name"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(name, message):
    with pytest.raises(InputError, match=message):
        parse(name)


def test_losses_and_modifiers_do_not_share_words():
    assert not set(LOSSES) & set(MODIFIERS)
