"""Two processes on loopback: one of them speaks; if the other dies, the survivor says how to go on."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from anchored.runs import RunFolder

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _table(write_table, tmp_path):
    pytest.importorskip("lightning_fabric")
    write_table(tmp_path / "t.csv", 200)


@contextmanager
def start(epochs, out):
    """The job, which does not outlive the test: it has a session of its own, and that is ended whatever happens."""
    command = [
        sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone", "-m", "anchored",
        "fit", "t.csv", "--label", "kind", "--epochs", str(epochs), "--out", out, "--device", "cpu", "--json",
    ]  # fmt: skip
    job = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )
    with job:
        try:
            yield job
        finally:
            with suppress(ProcessLookupError):
                os.killpg(job.pid, signal.SIGKILL)


def child_of_rank(pid, rank):
    for child in map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
        if f"\0RANK={rank}\0" in Path(f"/proc/{child}/environ").read_text():
            return child
    raise LookupError(rank)


def test_only_the_first_process_speaks():
    with start(2, "run") as job:
        out, err = job.communicate(timeout=120)
    assert job.returncode == 0, err
    assert json.loads(out)["run"] == "run"
    assert err.count("epoch 1/2") == 1


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds the processes in /proc")
@pytest.mark.parametrize("rank", [0, 1])
def test_a_killed_process_ends_the_job_with_a_clear_line_and_resume_goes_on(anchored, rank):
    with start(2000, "run") as job:
        deadline = time.monotonic() + 120
        while not RunFolder("run").checkpoint_path.is_file() and job.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(child_of_rank(job.pid, rank), signal.SIGKILL)
        out, err = job.communicate(timeout=120)
    assert job.returncode != 0
    assert out == ""
    said = [line for line in err.splitlines() if line.startswith("anchored: ")]
    assert len(said) == 1
    assert said[0].endswith("go on with: anchored resume run")
    config = Path("run/config.yaml")
    config.write_text(config.read_text().replace("epochs: 2000", f"epochs: {_done('run') + 2}"))
    resumed = anchored("resume", "run", "--json")
    assert resumed.code == 0, resumed.err
    assert json.loads(resumed.out)["epochs"] == _done("run")


def _done(run):
    return len(RunFolder(run).read_lines("history.jsonl"))
