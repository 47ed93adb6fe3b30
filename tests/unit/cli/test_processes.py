"""Mirror of src/anchored/cli/processes.py: who speaks, and the last words of a run that is stopped from outside."""

import errno
import os

import pytest

from anchored._progress import is_main_process
from anchored._signals import Terminated
from anchored.cli.processes import (
    Ended,
    about_the_disk,
    is_first_here,
    leave,
    resumable,
    say,
    tell,
)
from anchored.runs import RunFolder


@pytest.fixture
def second_of_two(monkeypatch):
    for name, value in {"WORLD_SIZE": "2", "RANK": "1", "LOCAL_RANK": "1"}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def started(tmp_path):
    (tmp_path / "config.yaml").touch()
    return RunFolder(tmp_path)


def test_a_process_alone_speaks_for_all(capsys):
    assert is_main_process()
    assert is_first_here()
    tell("one\n two")
    assert capsys.readouterr().err == "anchored: one two\n"


@pytest.mark.usefixtures("second_of_two")
def test_another_process_stays_silent_unless_it_must_speak(capsys):
    assert not is_main_process()
    assert not is_first_here()
    tell("nobody hears this")
    say("but this")
    assert capsys.readouterr().err == "anchored: but this\n"


@pytest.mark.parametrize(
    ("error", "what", "code"),
    [(KeyboardInterrupt(), "interrupted", 130), (Terminated(), "told to stop (SIGTERM)", 143)],
)
def test_who_stops_a_run_is_told_how_it_goes_on(started, capsys, error, what, code):
    with pytest.raises(Ended) as ended, resumable(started):
        raise error
    assert ended.value.code == code
    assert capsys.readouterr().err == (
        f"anchored: {what}; what is done is kept, go on with: anchored resume {started.path}\n"
    )


def test_before_anything_was_written_there_is_nothing_to_resume(tmp_path, capsys):
    with pytest.raises(Ended), resumable(RunFolder(tmp_path / "run")):
        raise KeyboardInterrupt
    assert "nothing was written, start it again" in capsys.readouterr().err


@pytest.mark.usefixtures("second_of_two")
def test_a_survivor_says_how_to_go_on_whatever_its_number(started, capsys):
    with pytest.raises(Ended) as ended, resumable(started):
        raise RuntimeError("[../gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:3000")
    assert ended.value.code == 1
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert f"anchored resume {started.path}" in printed


def test_a_full_disk_stops_a_run_that_can_go_on(started, capsys):
    with pytest.raises(Ended) as ended, resumable(started):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert ended.value.code == 2
    printed = capsys.readouterr().err
    assert printed.startswith(
        "anchored: No space left on device; make room or choose another place, then try again; what is"
    )
    assert printed.count("\n") == 1


def test_other_runtime_errors_stay_what_they_are(started, monkeypatch):
    with pytest.raises(RuntimeError, match="Connection closed by peer"), resumable(started):
        raise RuntimeError("Connection closed by peer")  # alone, there is no peer to lose
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(RuntimeError, match="shape mismatch"), resumable(started):
        raise RuntimeError("shape mismatch")


def test_among_several_a_failing_process_leaves_at_once(monkeypatch):
    left = []
    monkeypatch.setattr(os, "_exit", left.append)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(SystemExit):
        leave(3)
    assert left == [3]
    monkeypatch.setenv("WORLD_SIZE", "1")
    with pytest.raises(SystemExit) as ended:
        leave(3)
    assert ended.value.code == 3
    assert left == [3]


@pytest.mark.parametrize(
    ("number", "way_out"),
    [
        (errno.ENOSPC, "make room or choose another place"),
        (errno.EACCES, "change its permissions"),
        (errno.ENAMETOOLONG, "choose a shorter name"),
        (errno.EROFS, "choose another place"),
        (errno.ENOENT, "check the name"),
    ],
)
def test_an_error_of_the_disk_comes_with_its_way_out(number, way_out):
    said = about_the_disk(OSError(number, "why", "x" * 5000))
    assert said.startswith("why: xxx")
    assert way_out in said
    assert len(said) < 400
    assert about_the_disk(ValueError("no")) is None
