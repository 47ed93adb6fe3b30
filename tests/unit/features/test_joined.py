"""Mirror of src/anchored/features/joined.py: parts side by side, of equal weight."""

import json

import pytest
import torch
from tests.unit.features.standins import some_images, some_texts, tiny_network

from anchored import InputError
from anchored.features import Joined, from_module, restore
from anchored.features.tfidf import TfIdf


class Short(TfIdf):
    name = "short"


def test_parts_are_divided_by_their_length_and_joined():
    texts = some_texts(40)
    parts = [TfIdf(dim=5), Short(dim=3)]
    joined = Joined(parts).fit(texts)
    out = joined.transform(texts)
    assert (joined.name, joined.dim, joined.kind, tuple(out.shape)) == ("tfidf+short", 8, "text", (40, 8))
    for block in (out[:, :5], out[:, 5:]):
        assert float(block.square().sum(dim=1).mean()) == pytest.approx(1, rel=1e-5)
    alone = TfIdf(dim=5).fit(texts).transform(texts)
    torch.testing.assert_close(out[:, :5] * joined.scales[0], alone)


def test_a_part_of_zeros_stays_zero():
    class Nothing(Short):
        def transform(self, inputs):
            return torch.zeros(len(inputs), 2)

    joined = Joined([TfIdf(dim=3), Nothing(dim=2)]).fit(some_texts(20))
    assert torch.isfinite(joined.transform(some_texts(20))).all()


def test_comes_back_from_plain_data():
    pytest.importorskip("wordllama", reason="pip install 'anchored[text]'")
    from anchored.features import get

    texts = some_texts(30)
    fitted = get("wordllama+tfidf").fit(texts)
    about, tensors = fitted.state()
    again = restore(json.loads(json.dumps(about)), tensors)
    assert again.digest == fitted.digest
    assert torch.equal(again.transform(texts), fitted.transform(texts))
    for change in ({"scales": [1.0]}, {"scales": [0.0, 1.0]}, {"parts": None}, {"parts": [{"encoder": "a+b"}] * 2}):
        with pytest.raises(InputError, match="the stored encoder"):
            restore({**about, **change}, tensors)


def test_refusals():
    with pytest.raises(InputError, match="two or more different ones, got tfidf"):
        Joined([TfIdf()])
    with pytest.raises(InputError, match=r"tfidf\+tfidf"):
        Joined([TfIdf(), TfIdf()])
    joined = Joined([TfIdf(dim=2), Short(dim=2)])
    assert not joined.fitted
    with pytest.raises(InputError, match=r"tfidf\+short must measure the lengths"):
        joined.transform(some_texts(3))


def test_networks_can_be_joined_too():
    first, second = from_module(tiny_network(), size=(16, 16)), from_module(tiny_network(seed=1), size=(16, 16))
    second.name = "module:other"
    images = some_images(6)
    assert Joined([first, second]).fit(images).transform(images).shape == (6, 12)
