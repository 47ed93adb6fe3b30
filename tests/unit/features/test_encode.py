"""Mirror of src/anchored/features/_encode.py: each input is encoded once, whatever happens in between."""

from dataclasses import replace

import pytest
import torch
from tests.unit.features.standins import Heard, Texts, some_images, some_texts, tiny_network, write_photos

from anchored import InputError, features
from anchored.data import Dataset, TensorInputs
from anchored.features import FeatureCache, encode, features_of, from_module
from anchored.features.module import ModuleEncoder
from anchored.features.tfidf import TfIdf


class Counting(ModuleEncoder):
    """Counts the rows that the network is run on; stops where it is told to."""

    def count(self):
        self.seen, self.stop_after = 0, None
        return self

    def embed(self, prepared):
        self.seen += len(prepared)
        if self.stop_after is not None and self.seen > self.stop_after:
            raise KeyboardInterrupt
        return super().embed(prepared)


def counting(images):
    made = from_module(tiny_network(), size=(16, 16)).fit(images)
    made.dim  # noqa: B018 - found by a pass of its own
    made.__class__ = Counting
    return made.count()


def data(inputs, **more):
    n = len(inputs)
    return Dataset("toy", inputs, torch.arange(n) % 2, ("a", "b"), ids=[f"id {i}" for i in range(n)], **more)


def test_everything_but_the_inputs_is_kept():
    given = data(some_images(5), clean_labels=torch.zeros(5, dtype=torch.int64), notes=("a note",))
    given = replace(given, weights=torch.ones(5), confirmed=torch.ones(5, dtype=torch.bool))
    out = encode(given, from_module(tiny_network(), size=(16, 16)), cache=False)
    for name in ("name", "class_names", "ids", "notes"):
        assert getattr(out, name) == getattr(given, name)
    for name in ("labels", "clean_labels", "weights", "confirmed"):
        assert torch.equal(getattr(out, name), getattr(given, name))
    assert out.inputs.shape == (6,)
    assert out.inputs.tensor.dtype == torch.float32


def test_a_second_time_nothing_is_computed_and_the_bits_are_the_same(tmp_path):
    images = some_images(40)
    encoder = counting(images)
    first = features_of(images, encoder, cache=tmp_path)
    assert encoder.seen == 48
    order = torch.randperm(40, generator=torch.Generator().manual_seed(0))
    again = features_of(images.subset(order), encoder.count(), cache=tmp_path)
    assert encoder.seen == 0
    assert torch.equal(again, first[order])
    assert torch.equal(features_of(images, encoder, cache=False), first)


def test_only_new_photos_are_computed(tmp_path):
    files = write_photos(tmp_path / "photos", 20)
    encoder = counting(files)
    features_of(files.subset(torch.arange(15)), encoder, cache=tmp_path / "cache")
    whole = features_of(files, encoder.count(), cache=tmp_path / "cache")
    assert encoder.seen == 16
    assert torch.equal(whole, features_of(files, encoder, cache=False))


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("anchored.features._encode.SHARD_ROWS", 32)
    images = some_images(100)
    encoder = counting(images)
    encoder.stop_after = 60
    heard = Heard()
    with pytest.raises(KeyboardInterrupt):
        features_of(images, encoder, cache=tmp_path, progress=heard)
    assert heard.stopped == 1
    whole = features_of(images, encoder.count(), cache=tmp_path)
    assert encoder.seen <= 64
    assert torch.equal(whole, features_of(images, encoder.count(), cache=False))


def test_windows_and_shards_do_not_matter(tmp_path, monkeypatch):
    images = some_images(70)
    whole = features_of(images, counting(images), cache=False)
    monkeypatch.setattr("anchored.features._encode.SHARD_ROWS", 16)
    monkeypatch.setattr("anchored.features._encode._WINDOW", 48)
    assert torch.equal(features_of(images, counting(images), cache=tmp_path), whole)
    assert FeatureCache(tmp_path).entries()[0].rows == 70


def test_equal_photos_are_all_filled(tmp_path):
    twice = TensorInputs(some_images(3).tensor.repeat(2, 1, 1, 1))
    for _ in range(2):
        out = features_of(twice, counting(twice), cache=tmp_path)
        assert torch.equal(out[:3], out[3:])


def test_progress_counts_every_input_and_says_how_long_it_takes(tmp_path, monkeypatch):
    monkeypatch.setattr("anchored.features._encode._MEASURED_SECONDS", 0.0)
    images, heard = some_images(100), Heard()
    features_of(images, counting(images), cache=tmp_path, progress=heard)
    assert (heard.total, heard.samples, heard.stopped) == (100, 100, 1)
    assert len(heard.lines) == 1
    assert heard.lines[0].startswith("encoding 100 inputs with module:own: ")
    heard = Heard()
    features_of(images, counting(images), cache=tmp_path, progress=heard)
    assert (heard.samples, heard.lines) == (100, [])


def test_a_cache_that_cannot_be_written_is_said_in_one_line(tmp_path):
    (tmp_path / "file").write_text("in the way")
    images, heard = some_images(5), Heard()
    out = features_of(images, counting(images), cache=tmp_path / "file", progress=heard)
    assert out.shape == (5, 6)
    assert len(heard.lines) == 1
    assert "going on without it" in heard.lines[0]


def test_texts_are_fitted_encoded_and_not_cached(tmp_path):
    texts = data(some_texts(30))
    out = encode(texts, "tfidf", cache=tmp_path)
    assert out.inputs.shape == (30,)
    assert not list(tmp_path.iterdir())
    fitted = TfIdf().fit(texts.inputs)
    assert torch.equal(out.inputs.tensor, fitted.transform(texts.inputs))
    assert torch.equal(encode(texts, TfIdf()).inputs.tensor, out.inputs.tensor), (
        "an encoder that has learnt nothing yet"
    )


def test_a_test_set_is_encoded_as_the_training_set_was():
    train, test = some_texts(30), some_texts(10, seed=1)
    fitted = TfIdf(dim=8).fit(train)
    assert torch.equal(encode(data(test), fitted).inputs.tensor, fitted.transform(test))


def test_vectors_stay_as_they_are():
    vectors = data(TensorInputs(torch.eye(4)))
    assert encode(vectors) is vectors
    made = encode(vectors, from_module(torch.nn.Linear(4, 2)), cache=False)
    assert made.inputs.shape == (2,)


def test_auto_takes_what_fits_the_data():
    pytest.importorskip("wordllama", reason="pip install 'anchored[text]'")
    out = encode(data(some_texts(12)))
    assert out.inputs.shape[0] > 256


def test_features_that_are_not_finite_are_refused():
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, 2))
    with torch.no_grad():
        network[1].bias.fill_(float("inf"))
    with pytest.raises(InputError, match="the features of sample 0 are not finite"):
        encode(data(some_images(2)), from_module(network, size=(4, 4)), cache=False)


def test_refusals():
    with pytest.raises(InputError, match="on must be 'local' or 'ray', got 'slurm'"):
        encode(data(some_images(2)), on="slurm")
    with pytest.raises(InputError, match="efficientnet-lite0 encodes images, got texts"):
        features.get("efficientnet-lite0").fit(Texts(["a"]))
    assert len(features_of(some_images(1).subset(torch.arange(0)), counting(some_images(1)), cache=False)) == 0
