"""Mirror of src/anchored/_files.py: the old file or the whole new one, never a part, never a leftover."""

import json
import math
import os

import pytest

from anchored._errors import InputError
from anchored._files import write_atomically, write_json, write_text


def test_writes_and_replaces(tmp_path):
    target = tmp_path / "a.txt"
    write_text(target, "eins")
    write_text(target, "zwei ü")
    assert target.read_text(encoding="utf-8") == "zwei ü"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "a.txt"
    write_text(target, "old")

    def half(path):
        path.write_text("ne")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomically(target, half)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(InputError, match=r"the folder .*nowhere does not exist; create it first"):
        write_text(tmp_path / "nowhere" / "a.txt", "x")


def test_a_folder_in_the_place_of_the_file_is_named(tmp_path):
    (tmp_path / "page.md").mkdir()
    with pytest.raises(InputError, match=r"page\.md: it is a folder; give the name of a file"):
        write_text(tmp_path / "page.md", "text")
    assert [item.name for item in tmp_path.iterdir()] == ["page.md"]


def test_json_is_strict_and_readable(tmp_path):
    write_json(tmp_path / "a.json", {"ä": [1, 2.5, None]})
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {"ä": [1, 2.5, None]}
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "a.json", math.nan)
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {"ä": [1, 2.5, None]}


def test_the_file_has_ordinary_permissions(tmp_path):
    write_text(tmp_path / "a.txt", "x")
    (tmp_path / "b.txt").write_text("x")
    assert (tmp_path / "a.txt").stat().st_mode == (tmp_path / "b.txt").stat().st_mode
