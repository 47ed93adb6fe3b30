"""Mirror of src/anchored/paper/lock.py: one living owner, and none after its death."""

import subprocess
import sys
import threading
import time

from anchored._lock import Lock, locked_folder

HOLD = """
import sys
from anchored._lock import Lock
lock = Lock(sys.argv[1])
assert lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


def test_only_one_holds_it(tmp_path):
    one, two = Lock(tmp_path / "lock"), Lock(tmp_path / "lock")
    assert one.acquire()
    assert one.acquire()
    assert not two.acquire()
    one.release()
    assert two.acquire()
    assert not one.held
    two.release()
    two.release()


def test_it_is_given_back_when_its_owner_is_killed(tmp_path):
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        mine = Lock(path)
        assert not mine.acquire()
        assert mine.owner()["pid"] == process.pid
        process.kill()
        process.wait()
    assert mine.acquire()
    mine.release()


def test_an_owner_that_is_not_known_is_nobody(tmp_path):
    (tmp_path / "lock").write_text("half of a")
    assert Lock(tmp_path / "lock").owner() == {}
    assert Lock(tmp_path / "none").owner() == {}


def test_within_a_locked_folder_there_is_one_at_a_time(tmp_path):
    inside, most = [], []

    def go():
        with locked_folder(tmp_path):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.02)
            inside.pop()

    threads = [threading.Thread(target=go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 4
    assert list(tmp_path.iterdir()) == []
