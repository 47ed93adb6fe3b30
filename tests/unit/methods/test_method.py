"""Mirror of src/anchored/methods/method.py."""

import dataclasses

import pytest

from anchored.methods.method import Method
from anchored.methods.parse import parse


def test_is_a_value():
    method = Method(name="x", loss="ce")
    with pytest.raises(dataclasses.FrozenInstanceError):
        method.loss = "fl"
    assert method == Method(name="x", loss="ce")
    assert hash(method) == hash(Method(name="x", loss="ce"))


@pytest.mark.parametrize(
    ("name", "aware", "anchored"),
    [
        ("ce", False, False),
        ("ldam", False, False),
        ("ce+fnpal", True, True),
        ("nce+rce+fnpal", False, True),
        ("ce+fnpn", True, False),
    ],
)
def test_derived_facts(name, aware, anchored):
    method = parse(name)
    assert (method.noise_aware, method.anchored) == (aware, anchored)


def test_the_description_names_every_part():
    text = parse("ldam+mixup+drw+pal").describe()
    assert text == (
        "loss ldam on a fixed anchored head, features normalised, scale 30 in the loss, mixup, "
        "deferred class-balanced weights"
    )
    assert parse("ce+rw").describe() == "loss ce on a trained linear head, class-balanced weights"
    assert parse("ce+rs").describe() == "loss ce on a trained linear head, balanced sampling"
    assert "scale from the noise rate" in parse("ce+fnpn").describe()
