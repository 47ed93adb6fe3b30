"""Mirror of src/anchored/review/decisions.py: what was confirmed is in the file, whatever happens next."""

import errno
import os
import sys

import pytest

from anchored import InputError
from anchored.data import Correction, read_corrections
from anchored.review import DecisionLog

HEADER = b"index,id,given,decision,label,time\n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "corrections.csv"


def line(i, decision="accept", label="dog"):
    return Correction(i, f'p/{i}, "x".png', "cat", decision, label, "2026-01-01T00:00:00+00:00")


def rows(lines):
    return [each.row() for each in lines]


def test_lines_are_found_again(path):
    with DecisionLog(path) as log:
        for i in range(5):
            log.append(line(i))
    with DecisionLog(path) as log:
        assert rows(log.lines) == rows(line(i) for i in range(5))
        log.append(line(9, "undo", ""))
    assert rows(read_corrections(path).lines) == rows([*(line(i) for i in range(5)), line(9, "undo", "")])


def test_a_line_is_on_the_disk_before_it_is_confirmed(path, monkeypatch):
    synced = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(path.read_bytes()) or real(file))
    with DecisionLog(path) as log:
        log.append(line(1))
    assert synced[-1].splitlines()[-1].startswith(b"1,")


def test_a_new_file_begins_with_earlier_lines_and_an_old_one_does_not(path):
    with DecisionLog(path, start=[line(1)]) as log:
        log.append(line(2))
    with DecisionLog(path, start=[line(3)]) as log:
        assert rows(log.lines) == rows([line(1), line(2)])


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_line_cut_short_by_a_kill_is_taken_off_and_the_others_stay(path, cut):
    with DecisionLog(path) as log:
        log.append(line(1))
        whole = path.stat().st_size
        log.append(line(2))
    last = path.stat().st_size - whole
    os.truncate(path, whole + min(cut, last - 30))  # before the label is complete
    with DecisionLog(path) as log:
        assert rows(log.lines) == rows([line(1)])
        log.append(line(3))
    assert rows(read_corrections(path).lines) == rows([line(1), line(3)])


def test_a_last_line_left_open_by_an_editor_counts(path):
    path.write_bytes(HEADER + b"1,a,cat,accept,dog,t")
    with DecisionLog(path) as log:
        log.append(line(2))
    assert [each.label for each in read_corrections(path).lines] == ["dog", "dog"]


def test_what_is_wrong_further_up_is_refused_and_left_alone(path):
    content = HEADER + b"1,a,cat\n2,b,cat,keep,cat,t\n"
    path.write_bytes(content)
    with pytest.raises(InputError, match="line 2: a correction has 6 values, got 3"):
        DecisionLog(path)
    assert path.read_bytes() == content


def test_a_full_disk_leaves_the_file_as_it_was(path, monkeypatch):
    with DecisionLog(path) as log:
        log.append(line(1))
        before = path.read_bytes()
        real = os.write

        def half(file, data):
            if len(data) < 20:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(file, data[:20])

        monkeypatch.setattr(os, "write", half)
        with pytest.raises(OSError, match="No space left"):
            log.append(Correction(2, "p" * 10, "cat", "keep"))
        monkeypatch.undo()
        assert path.read_bytes() == before
        assert rows(log.lines) == rows([line(1)])


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps no such claims")
def test_only_one_writes_at_a_time(path):
    with DecisionLog(path), pytest.raises(InputError, match="another review writes to"):
        DecisionLog(path)
    DecisionLog(path).close()


def test_refuses_a_place_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="cannot be written: No such file"):
        DecisionLog(tmp_path / "nowhere" / "corrections.csv")
    (tmp_path / "other.csv").write_text("id,label\n1,2\n")
    with pytest.raises(InputError, match="the columns must be"):
        DecisionLog(tmp_path / "other.csv")
