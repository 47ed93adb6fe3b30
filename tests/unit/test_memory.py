"""Mirror of src/anchored/_memory.py: freed blocks come back without a visit to the system, counted in page faults."""

import subprocess
import sys

import pytest

from anchored._memory import keep_freed_memory

STEPS = """
import ctypes, resource, sys
from anchored._memory import keep_freed_memory
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
if sys.argv[1] == "keep":
    assert keep_freed_memory()
SIZE = 12 * 2**20

def step():
    blocks = [libc.malloc(SIZE) for _ in range(8)]
    for block in blocks:
        ctypes.memset(block, 1, SIZE)
    for block in blocks:
        libc.free(block)

step()
step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how):
    done = subprocess.run([sys.executable, "-c", STEPS, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not keep_freed_memory(), reason="the allocator is not glibc's")
def test_steps_that_free_and_ask_again_touch_no_new_pages():
    pages = 5 * 8 * 12 * 2**20 // 4096
    assert faults("leave") > pages / 2
    assert faults("keep") < pages / 100


def test_other_systems_are_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert keep_freed_memory() is False
