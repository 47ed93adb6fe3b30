"""Predictions of a long table: memory is that of a chunk, whatever the number of rows."""

import os
import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.slow

PEAK = """
import resource, sys
from anchored.cli import main
try:
    main()
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def peak_megabytes(*arguments):
    """The most memory that a command of its own had."""
    command = [sys.executable, "-c", PEAK, *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return int(done.stderr.splitlines()[-1]) / 1024


def write_rows(path, n):
    """Random features, a block at a time."""
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        file.write(",".join(f"f{i}" for i in range(8)) + "\n")
        for _ in range(n // 10_000):
            np.savetxt(file, rng.normal(size=(10_000, 8)), fmt="%.3f", delimiter=",")


def test_memory_does_not_grow_with_the_rows(anchored, tmp_path):
    rng = np.random.default_rng(1)
    y = np.arange(200) % 3
    np.savez(tmp_path / "train.npz", X=(rng.normal(size=(200, 8)) + 3 * np.eye(8)[y]).astype(np.float32), y=y)
    assert anchored("fit", "train.npz", "--epochs", 1, "--out", "run").code == 0
    peaks = []
    for n in (20_000, 500_000):
        write_rows(tmp_path / f"{n}.csv", n)
        peaks.append(peak_megabytes("predict", "run", f"{n}.csv", "--out", f"{n}-said.csv"))
        with (tmp_path / f"{n}-said.csv").open() as file:
            assert sum(1 for _ in file) == n + 1
    size = (tmp_path / "500000.csv").stat().st_size / 2**20
    assert peaks[1] - peaks[0] < size / 2, f"{peaks} MB for a file of {size:.0f} MB"
