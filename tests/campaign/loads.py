"""Large data through the commands: CPU seconds, the most memory, and the longest time without a word.

    python -m tests.campaign.loads [images rows-fit rows-predict suspects classes] [--place FOLDER] [--small]

Each load makes its data (not counted), runs one command in a process of its own and prints one JSON line. Silence is
the longest time between two outputs on stderr or stdout, whatever they are. ``--small`` takes a hundredth of the data.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np
from PIL import Image


def images(place, n):
    """``n`` images of 8 x 8 pixels in ten folders, as Windows bitmaps: quick to write."""
    rng = np.random.default_rng(0)
    for c in range(10):
        (place / f"class {c}").mkdir(parents=True)
    for i in range(n):
        pixels = rng.integers(0, 60, size=(8, 8), dtype=np.uint8)
        pixels[i % 10 % 8, :] += 120
        Image.fromarray(pixels).save(place / f"class {i % 10}" / f"{i}.bmp")


def rows(path, n, d=4, k=4):
    """A CSV with ``d`` numbers and a label per row; one label in five is wrong."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, n)
    x = rng.normal(size=(n, d)) + 2 * np.eye(k, d)[y]
    given = np.where(rng.random(n) < 0.2, rng.integers(0, k, n), y)
    with path.open("w") as file:
        file.write(",".join(f"f{i}" for i in range(d)) + ",label\n")
        for begin in range(0, n, 10_000):
            part = zip(x[begin : begin + 10_000].tolist(), given[begin : begin + 10_000].tolist(), strict=True)
            file.writelines(f"{','.join(f'{v:.4f}' for v in row)},c{c}\n" for row, c in part)


def vectors(path, n, d, k, wrong=0.0):
    """An ``.npz`` with ``n`` vectors of ``k`` classes; a share of the labels is drawn anew."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    centres = rng.normal(size=(k, d)).astype(np.float32) * 3
    given = np.where(rng.random(n) < wrong, rng.integers(0, k, n), y)
    np.savez(path, X=centres[y] + rng.normal(size=(n, d)).astype(np.float32), y=given)


def measured(name, arguments, place, *, ask=None):
    """Run a command; print what it took. ``ask`` talks to it, and ends it by returning."""
    begun = last = time.monotonic()
    silence = 0.0
    with (place / f"{name}.log").open("w") as log:
        job = subprocess.Popen(
            [sys.executable, "-u", "-m", "anchored", *map(str, arguments)],
            cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(place / "cache")},
        )  # fmt: skip
        said = {}
        for line in job.stdout:
            now = time.monotonic()
            silence, last = max(silence, now - last), now
            log.write(f"{now - begun:8.1f} {line}")
            if ask is not None and line.startswith("{"):
                said = {"seconds to the address": round(now - begun, 1), **ask(json.loads(line)["address"])}
                job.terminate()
    _, status, used = os.wait4(job.pid, 0)
    job.returncode = os.waitstatus_to_exitcode(status)
    ended = time.monotonic()
    silence = max(silence, ended - last)
    found = {"load": name, "code": job.returncode, "cpu_seconds": round(used.ru_utime + used.ru_stime, 1)}
    found |= {"seconds": round(ended - begun, 1)}
    found |= {"silence": round(silence, 1), "megabytes": used.ru_maxrss // 1024, **said}
    print(json.dumps(found), flush=True)


def first_answers(address):
    """How long the page and its suspects take."""
    found = {}
    for part in ("", "suspects"):
        begun = time.monotonic()
        with urllib.request.urlopen(f"{address}{part}", timeout=120) as answer:
            size = len(answer.read())
        found[part or "page"] = f"{size:,} bytes in {time.monotonic() - begun:.2f} s"
    return found


def run_images(place, n):
    if not (place / "images").exists():
        images(place / "images", n)
    measured("images", ["fit", "images", "--backbone", "mlp", "--epochs", 1, "--out", "ri", "--no-report"], place)


def run_rows_fit(place, n):
    if not (place / "rows.csv").exists():
        rows(place / "rows.csv", n)
    measured("rows-fit", ["fit", "rows.csv", "--out", "rf", "--no-report"], place)


def run_rows_predict(place, n):
    if not (place / "rows.csv").exists():
        rows(place / "rows.csv", n)
    if not (place / "few.csv").exists():
        rows(place / "few.csv", 2_000)
        measured("a small model", ["fit", "few.csv", "--out", "rs", "--no-report", "--method", "ridge"], place)
    measured("rows-predict", ["predict", "rs", "rows.csv", "--out", "p.csv"], place)


def run_suspects(place, n):
    if not (place / "suspects.npz").exists():
        vectors(place / "suspects.npz", 5 * n // 2, 8, 4, wrong=0.6)
        measured("a run to review", ["fit", "suspects.npz", "--out", "rr", "--no-report", "--method", "ridge"], place)
        measured("its audit", ["audit", "rr", "--quick"], place)
    measured("suspects", ["review", "rr", "--no-open", "--json"], place, ask=first_answers)


def run_classes(place, n):
    if not (place / "classes.npz").exists():
        vectors(place / "classes.npz", 3 * n, 64, n)
    measured("classes", ["fit", "classes.npz", "--out", "rc", "--no-report"], place)


LOADS = {
    "images": (run_images, 100_000),
    "rows-fit": (run_rows_fit, 1_000_000),
    "rows-predict": (run_rows_predict, 1_000_000),
    "suspects": (run_suspects, 100_000),
    "classes": (run_classes, 5_000),
}


def main():
    """The command line of this script."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("loads", nargs="*", choices=[*LOADS, []], default=[])
    parser.add_argument("--place", type=Path, default=None)
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    place = given.place or Path(tempfile.mkdtemp(prefix="loads-"))
    place.mkdir(parents=True, exist_ok=True)
    for name in given.loads or LOADS:
        load, n = LOADS[name]
        load(place.absolute(), n // 100 if given.small else n)


if __name__ == "__main__":
    main()
