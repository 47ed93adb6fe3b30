"""Mirror of src/anchored/training/fabric.py: a group of one process; several are in tests/e2e/test_processes.py."""

import subprocess
import sys

import pytest

from anchored._errors import InputError
from anchored.training.fabric import FabricRuntime

ALONE = """
import torch
from anchored.training.fabric import FabricRuntime
runtime = FabricRuntime("cpu")
assert (runtime.rank, runtime.world_size, runtime.main) == (0, 1, True)
x = torch.arange(6.0).view(3, 2)
assert torch.equal(runtime.sum(x), x) and runtime.sum(x) is not x
with torch.inference_mode():
    assert torch.equal(runtime.gather(x), x)
assert runtime.agree(True) is True and runtime.agree(False) is False
norm = torch.nn.BatchNorm1d(2)
runtime.unify(norm)
model, optimizer = runtime.wrap(norm, torch.optim.SGD(norm.parameters(), lr=0.1, momentum=0.9))
runtime.backward(model(x).square().sum())
optimizer.step()
assert not torch.equal(norm.weight, torch.ones(2))
"""


@pytest.mark.slow
def test_a_group_of_one_process_is_that_process():
    with_port = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0", "GLOO_SOCKET_IFNAME": "lo"}
    group = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1", "GROUP_RANK": "0"}
    elastic = {"TORCHELASTIC_RUN_ID": "alone", "OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", ALONE],
        env=with_port | group | elastic,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_without_the_library_the_way_out_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightning_fabric", None)
    with pytest.raises(InputError, match=r"needs lightning-fabric; pip install 'anchored\[distributed\]'"):
        FabricRuntime()
