"""The command line called in this process, as a shell would call it, and small data of every kind."""

import signal
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from tests.e2e.browser import browser, chromium

from anchored._signals import catch_signals
from anchored.cli import main

__all__ = ["browser", "chromium"]


@pytest.fixture
def anchored(monkeypatch, capfd):
    """``anchored(*arguments)`` gives ``.code``, ``.out`` and ``.err``."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["anchored", *map(str, arguments)])
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        catch_signals()
        try:
            with pytest.raises(SystemExit) as ended:
                main()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        printed = capfd.readouterr()
        return SimpleNamespace(code=ended.value.code or 0, out=printed.out, err=printed.err)

    return call


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def _blobs(n, d, k, seed):
    """Vectors around k corners, and their classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return rng.normal(size=(n, d)) + 4 * np.eye(d)[y], y


def _write_table(path, n, d=8, k=3, seed=0):
    """A table with the columns f0 ... and ``kind``."""
    x, y = _blobs(n, d, k, seed)
    lines = [",".join([*(f"f{i}" for i in range(d)), "kind"])]
    lines += [",".join([*(f"{v:.5f}" for v in row), f"class {c}"]) for row, c in zip(x, y, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


def _write_images(folder, n, seed=0):
    """Class folders of 8 x 8 images, each class bright in a corner of its own."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        name = ("left <b>", "right", "unten ü")[i % 3]
        pixels = rng.integers(0, 60, size=(8, 8), dtype=np.uint8)
        top, left = ((0, 0), (0, 4), (4, 0))[i % 3]
        pixels[top : top + 4, left : left + 4] += 180
        (folder / name).mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(folder / name / f"{seed}-{i}.png")
    return folder


@pytest.fixture
def blobs():
    return _blobs


@pytest.fixture
def write_table():
    return _write_table


@pytest.fixture
def write_images():
    return _write_images
