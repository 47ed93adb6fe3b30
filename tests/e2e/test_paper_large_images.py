"""ImageNet-LT and mini-WebVision as a user with the data runs them, on small generated trees in the real layout."""

import json
import re

import numpy as np
import pytest
from PIL import Image


def write_jpeg(path, rng, label):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = rng.integers(0, 90, size=(60, 80, 3), dtype=np.uint8)
    pixels[..., label % 3] += 120
    Image.fromarray(pixels).save(path, quality=80)


@pytest.fixture
def imagenet(tmp_path):
    """``train/n…/….JPEG`` and ``val/….JPEG`` with the two lists of the benchmark, five classes."""
    rng, root = np.random.default_rng(0), tmp_path / "imagenet"
    counts = (6, 4, 3, 2, 1)
    train = [(f"train/n{label:08}/n{label:08}_{i}.JPEG", label) for label, n in enumerate(counts) for i in range(n)]
    test = [(f"val/ILSVRC2012_val_{label:08}.JPEG", label) for label in range(5)]
    for name, lines in (("ImageNet_LT_train.txt", train), ("ImageNet_LT_test.txt", test)):
        for path, label in lines:
            write_jpeg(root / path, rng, label)
        (root / name).write_text("".join(f"{path} {label}\n" for path, label in lines))
    return root


@pytest.fixture
def webvision(tmp_path):
    """``google/q…/….jpg`` and ``val_images_256/….jpg``; the lists hold a class beyond the fifty."""
    rng, root = np.random.default_rng(1), tmp_path / "webvision"
    train = [(f"google/q{label:04}/img{i}.jpg", label) for label in (0, 1, 2, 60) for i in range(4)]
    val = [(f"val_images_256/val{label:06}.jpg", label) for label in (0, 1, 2, 60)]
    for name, lines in (("webvision_mini_train.txt", train), ("webvision_mini_val.txt", val)):
        for path, label in lines:
            write_jpeg(root / path, rng, label)
        (root / name).write_text("".join(f"{path} {label}\n" for path, label in lines))
    return root


@pytest.mark.slow
def test_imagenet_lt_runs_a_step(anchored, imagenet):
    ran = anchored(
        "paper", "run", "longtail_imagenet", "--method", "ce+pal", "--epochs", 1, "--data-root", imagenet, "--json"
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert len(json.loads(ran.out)["finished"]) == 1
    compared = anchored("paper", "compare", "longtail_imagenet", "--only-run")
    assert "| CE+PAL, 1 epoch | ours |" in compared.out


@pytest.mark.slow
def test_mini_webvision_runs_a_step_on_its_first_fifty_classes(anchored, webvision):
    ran = anchored(
        "paper", "run", "webvision_mini", "--method", "ce+fnpal", "--epochs", 1, "--data-root", webvision, "--json"
    )  # fmt: skip
    assert ran.code == 0, ran.err
    (run,) = json.loads(ran.out)["finished"]
    with open(f"{run['run']}/result.json") as stream:
        result = json.load(stream)
    assert result["class_counts"] == [4, 4, 4]


@pytest.mark.parametrize(
    ("table", "way_out"),
    [
        (
            "longtail_imagenet",
            "needs ImageNet_LT_train.txt, which .* has not; put the images of ILSVRC 2012 under train/",
        ),
        (
            "webvision_mini",
            r"needs webvision_mini_train.txt, .* there run awk '\$2 < 50' info/train_filelist_google.txt",
        ),
    ],
)
def test_lists_that_are_not_there_are_named_with_the_way_to_them(anchored, tmp_path, table, way_out):
    refused = anchored("paper", "run", table, "--method", "ce+pal", "--data-root", tmp_path)
    assert refused.code == 2
    assert re.search(way_out, refused.err)
    assert len(refused.err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
