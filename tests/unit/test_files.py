"""Mirror of src/anchored/_files.py: the old file or the whole new one; and what is damaged is refused in one line."""

import json
import math
import os
import signal

import pytest
import torch
from safetensors.torch import save_file

from anchored._errors import InputError
from anchored._files import (
    parse_json,
    parse_yaml,
    read_json,
    read_json_lines,
    read_tensors,
    read_text,
    read_yaml,
    regular_size,
    sweep,
    temporary_folder,
    write_atomically,
    write_json,
    write_text,
)


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


def killed_while_writing(target):
    """A child that dies in the middle of a write, as by SIGKILL; it leaves its private folder behind."""
    child = os.fork()
    if child == 0:
        write_atomically(target, lambda path: (path.write_text("half"), os.kill(os.getpid(), signal.SIGKILL)))
    os.waitpid(child, 0)


def test_what_a_killed_writer_leaves_is_swept_and_what_a_living_one_uses_is_not(tmp_path):
    killed_while_writing(tmp_path / "a.txt")
    (left,) = os.listdir(tmp_path)
    assert left.startswith(".a.txt.")
    with temporary_folder(tmp_path / "other") as living:  # sweeps, because nothing was written here before
        assert os.listdir(tmp_path) == [living.name]
        sweep(tmp_path)
        assert living.is_dir()
    assert os.listdir(tmp_path) == []


def test_litter_of_the_first_version_goes_only_if_the_folder_is_ours(tmp_path):
    for name in (".last.safetensors.x1.tmp", ".tmpkzfQIl", ".keep", "a.tmp"):
        (tmp_path / name).write_text("")
    sweep(tmp_path)
    assert len(os.listdir(tmp_path)) == 4
    sweep(tmp_path, owned=True)
    assert sorted(os.listdir(tmp_path)) == [".keep", "a.tmp"]
    sweep(tmp_path / "nowhere")


def test_a_long_name_can_be_written(tmp_path):
    write_text(tmp_path / ("x" * 255), "text")
    assert (tmp_path / ("x" * 255)).read_text() == "text"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff{}", r"a\.json is not a text in UTF-8 \(byte 0 is wrong\); again"),
        (b"{", r"a\.json is damaged: not JSON \(.*\); again"),
        (b"[1]", r"a\.json is damaged: not a JSON object; again"),
        (b'{"a": NaN}', r"not JSON \(NaN is no number\); again"),
        (b'{"a": 1e999}', r"not JSON \(1e999 is no number\); again"),
        (b"[" * 100_000, r"a\.json is damaged: nested too deeply; again"),
        (b'{"a": "' + b"x" * 100 + b'"}', r"a\.json has 109 bytes, and at most 100 are read; again"),
    ],
)
def test_damaged_json_is_refused_in_one_line(tmp_path, content, message):
    (tmp_path / "a.json").write_bytes(content)
    longest = 100 if len(content) == 109 else 2**20
    with pytest.raises(InputError, match=message) as refusal:
        read_json(tmp_path / "a.json", longest=longest, way_out="again")
    assert "\n" not in str(refusal.value)


def test_only_regular_files_are_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, kind in (("pipe", "pipe"), (".", "folder")):
        with pytest.raises(InputError, match=f"is not a regular file but a {kind}"):
            regular_size(tmp_path / name)
    with pytest.raises(InputError, match="is not a regular file but a device"):
        read_text("/dev/zero")
    with pytest.raises(InputError, match=r"nothing cannot be read: No such file or directory; look again"):
        read_text(tmp_path / "nothing", way_out="look again")
    with pytest.raises(InputError, match="cannot be the name of a file"):
        read_text("a\0b")


def test_a_bad_line_is_named(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"epoch": 1}\n\n[]\n')
    with pytest.raises(InputError, match=r"a\.jsonl, line 3 is damaged: not a JSON object"):
        read_json_lines(tmp_path / "a.jsonl")


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1\nb: 2", r"^t, line \d: "),
        ("a: 1\nb: {c: 1, c: 2}", r"^t, line 2: the key 'c' comes twice"),
        ("[" * 5_000, "^t is nested too deeply"),
        ("!!python/object/apply:os.system [ls]", r"^t, line 1: could not determine a constructor"),
        (LAUGHS, "stands for more than 1,000,000 values"),
        ("&a [*a]", "^t is nested too deeply"),
        ("a: 2001-99-99", "^t is not YAML: "),
        ("\0", "^t is not YAML: "),
    ],
)  # fmt: skip
def test_bad_yaml_is_refused_in_one_line(text, message):
    with pytest.raises(InputError, match=message) as refusal:
        parse_yaml(text, where="t")
    assert "\n" not in str(refusal.value)


def test_yaml_files_hold_mappings(tmp_path):
    for text, read in (("", {}), ("a: {b: 1}", {"a": {"b": 1}}), ("x: &x {b: 1}\ny: {<<: *x, c: 2}", None)):
        (tmp_path / "a.yaml").write_text(text)
        assert read_yaml(tmp_path / "a.yaml") == (read if read is not None else {"x": {"b": 1}, "y": {"b": 1, "c": 2}})
    (tmp_path / "a.yaml").write_text("- 1")
    with pytest.raises(InputError, match="must hold a mapping of settings, got a list"):
        read_yaml(tmp_path / "a.yaml")


def test_tensors_come_with_their_header(tmp_path):
    path = tmp_path / "a.safetensors"
    save_file({"x": torch.arange(3)}, path, metadata={"epochs": "7"})
    found = read_tensors(path)
    assert torch.equal(found.tensors["x"], torch.arange(3))
    assert found.header == {"epochs": "7"}


@pytest.mark.parametrize("content", [b"", b"\xff" * 8, b"\x10\0\0\0\0\0\0\0" + b"{" * 16, b"\x02\0\0\0\0\0\0\0{}"])
def test_damaged_tensors_are_refused(tmp_path, content):
    path = tmp_path / "a.safetensors"
    path.write_bytes(content)
    if content.endswith(b"{}"):
        assert read_tensors(path) == ({}, {})
        return
    with pytest.raises(InputError, match=r"a\.safetensors cannot be read \(.*\); again"):
        read_tensors(path, way_out="again")


def test_parse_json_takes_bytes_of_a_request():
    assert parse_json(b'{"index": 3}', where="the request") == {"index": 3}
    with pytest.raises(InputError, match="the request is damaged"):
        parse_json(b"\xff", where="the request")
