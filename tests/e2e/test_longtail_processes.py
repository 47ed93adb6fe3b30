"""Every method with a file of its own on two processes, as ``torchrun`` starts them: one model comes out, and works."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from anchored import methods
from anchored.methods.parse import METHODS

pytest.importorskip("lightning_fabric")
pytestmark = pytest.mark.slow

NAMES = [
    *METHODS,
    *(f"{name}+pal" for name in METHODS if "pal" in methods.PROCEDURES[name].goes_with),
]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("told")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    where = ["--nproc-per-node", "2", "--master-addr", "127.0.0.1", "--master-port", port]
    command = [sys.executable, "-m", "torch.distributed.run", *where]
    command += [str(Path(__file__).with_name("longtail_worker.py")), str(folder), *NAMES]
    quiet = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "PYTHONWARNINGS": "error"}
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | quiet, timeout=540, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in (0, 1)]


@pytest.mark.parametrize("name", NAMES)
def test_both_processes_hold_the_same_model_and_it_has_learnt(told, name):
    first, second = (each[name] for each in told)
    assert first["digest"] == second["digest"]
    assert first["accuracy"] > 0.5, "chance is 0.1"


def test_all_procedures_took_part():
    assert {methods.parse(name).algorithm for name in NAMES} | {"single"} == set(methods.PROCEDURES)
