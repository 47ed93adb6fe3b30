"""The same grid on Ray and on local processes gives the same records; a killed Ray worker loses nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.paper.tiny import TINY

from anchored.paper import Results

pytest.importorskip("ray", reason="Ray is not installed; pip install 'anchored[ray]'")

TINY_FOLDER = Path(__file__).parents[1] / "unit" / "paper"  # an installed package may be called tests, too
GRID = """
import os, signal, sys, threading, time
sys.path.insert(0, sys.argv[4])
from anchored.paper import Placement, Results, Store, run
from anchored.paper import engines
from tiny import TINY
if __name__ == "__main__":
    name, folder, epochs, kill = sys.argv[1], sys.argv[2], int(sys.argv[3]), len(sys.argv) > 5
    store = Store(f"{folder}/store")
    jobs = TINY.jobs(methods=["ce", "ce+fnpal"], seeds=[0], epochs=epochs)
    engine = engines.get(name, Placement(str(store.path), device="cpu"), jobs=2)

    def kill_one():
        while store.epochs_done(jobs[0]) < 2:
            time.sleep(0.02)
        os.kill(store.lock(jobs[0]).owner()["pid"], signal.SIGKILL)
        print("killed after", store.epochs_done(jobs[0]), flush=True)

    if kill:
        threading.Thread(target=kill_one, daemon=True).start()
    summary = run(jobs, store, Results(f"{folder}/results"), engine)
    print(len(summary.finished), len(summary.failed), flush=True)
"""


def grid(tmp_path, name, epochs, *more):
    script = tmp_path / "grid.py"
    script.write_text(GRID)
    folder = tmp_path / "-".join([name, *more])
    ended = subprocess.run(
        [sys.executable, str(script), name, str(folder), str(epochs), str(TINY_FOLDER), *more],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(TINY_FOLDER), "RAY_USAGE_STATS_ENABLED": "0"},
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    records = [{**record, "seconds": 0} for record in Results(folder / "results").read("tiny")]
    return ended.stdout.splitlines(), records


@pytest.mark.slow
def test_ray_and_local_processes_agree_and_a_killed_ray_worker_loses_nothing(tmp_path):
    said, local = grid(tmp_path, "local", 40)
    assert said == ["4 0"]
    assert len(local) == len(TINY.jobs(methods=["ce", "ce+fnpal"], seeds=[0]))
    said, ray = grid(tmp_path, "ray", 40)
    assert said == ["4 0"]
    assert ray == local
    said, killed = grid(tmp_path, "ray", 40, "kill")
    assert said[-1] == "4 0"
    assert said[0].startswith("killed after")
    assert killed == local
