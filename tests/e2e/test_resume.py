"""A run that was stopped, however it was stopped, ends as if nothing had happened."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from anchored.runs import RunFolder

FLAGS = ("--label", "kind", "--epochs", "6", "--batch-size", "16", "--set", "train.checkpoint_seconds=0")


def same(one, other):
    """Whether two finished runs have the same weights, history and result."""
    return all(Path(one, name).read_bytes() == Path(other, name).read_bytes() for name in (
        "model.safetensors", "model.json", "history.jsonl", "result.json", "config.yaml"
    ))  # fmt: skip


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, 130), (None, 143)], ids=["ctrl-c", "sigterm"])
def test_stopped_within_an_epoch_and_resumed_equals_uninterrupted(
    anchored, write_table, tmp_path, monkeypatch, error, code
):
    write_table(tmp_path / "t.csv", 120)
    assert anchored("fit", "t.csv", *FLAGS, "--out", "whole").code == 0

    from anchored.cli.progress import Lines

    steps = 0

    def stop_at_the_twentieth(self, **_):
        nonlocal steps
        steps += 1
        if steps == 20:
            if error is not None:
                raise error
            os.kill(os.getpid(), signal.SIGTERM)

    with monkeypatch.context() as patch:
        patch.setattr(Lines, "step", stop_at_the_twentieth)
        stopped = anchored("fit", "t.csv", *FLAGS, "--out", "broken")
    assert stopped.code == code
    assert stopped.out == ""
    assert stopped.err.splitlines()[-1].endswith("go on with: anchored resume broken")
    assert not RunFolder("broken").finished
    refused = anchored("fit", "t.csv", *FLAGS, "--out", "broken")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "anchored resume broken" in refused.err
    assert anchored("predict", "broken", "t.csv", "--out", "p.csv").code == 2

    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    resumed = anchored("resume", "../broken", "--json")
    assert resumed.code == 0, resumed.err
    assert "going on after epoch" in resumed.err
    assert json.loads(resumed.out)["run"] == "../broken"
    assert same("../whole", "../broken")
    again = anchored("resume", "../broken", "--json")
    assert again.out == resumed.out
    assert "is finished" in again.err


def test_killed_at_any_moment_and_resumed_equals_uninterrupted(anchored, write_table, tmp_path):
    write_table(tmp_path / "t.csv", 120)
    command = [sys.executable, "-m", "anchored", "fit", "t.csv", *FLAGS, "--out", "broken"]
    with subprocess.Popen(
        command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"}
    ) as process:
        while not RunFolder("broken").checkpoint_path.is_file() and process.poll() is None:
            time.sleep(0.005)
        process.kill()
    assert anchored("fit", "t.csv", *FLAGS, "--out", "whole").code == 0
    assert anchored("resume", "broken").code == 0
    assert same("whole", "broken")
