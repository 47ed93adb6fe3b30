"""Mirror of src/anchored/_memory.py: freed blocks come back without a visit to the system, counted in page faults."""

import os
import subprocess
import sys

import pytest

from anchored._memory import available_memory, keep_freed_memory

STEPS = """
import ctypes, resource, sys
from anchored._memory import available_memory, keep_freed_memory
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


def test_what_is_left_is_bounded_by_the_machine_and_by_limits():
    import resource

    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < available_memory() <= total
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (2**33, resource.RLIM_INFINITY))
        os._exit(0 if available_memory() <= 2**33 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
