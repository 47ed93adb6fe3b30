"""Mirror of src/anchored/data/text.py: texts wait to be encoded, and files that are no texts are named."""

import os

import pytest
import torch

from anchored._errors import InputError
from anchored.data import TextInputs, text
from anchored.data.text import read_text, read_texts


def test_texts_have_no_rows_to_take_before_they_are_encoded():
    with pytest.raises(InputError, match=r"texts must be encoded .*anchored\.features\.encode"):
        TextInputs(["a", "b"]).take(torch.tensor([0]))


def test_a_subset_keeps_the_order_asked_for():
    inputs = TextInputs(["a", "b", "c"])
    assert inputs.subset(torch.tensor([2, 0, 2])).texts == ("c", "a", "c")
    assert inputs.subset(torch.tensor([], dtype=torch.int64)).texts == ()
    assert inputs.shape == ()


@pytest.mark.parametrize(
    ("texts", "words"), [("one text", "put it into a list"), (["a", None], "text 1 must be a string, got NoneType")]
)
def test_what_is_no_list_of_strings_is_refused(texts, words):
    with pytest.raises(InputError, match=words):
        TextInputs(texts)


@pytest.mark.parametrize("said", ["", "plain", "naïve 猫\nsecond line\r\n", "a\0b"])
def test_a_file_comes_back_as_it_was_written(tmp_path, said):
    (tmp_path / "1.txt").write_bytes(said.encode("utf-8"))
    assert read_text(tmp_path / "1.txt") == said
    (tmp_path / "1.txt").write_bytes(said.encode("utf-8-sig"))
    assert read_text(tmp_path / "1.txt") == said


def pipe(path):
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "there is no such file"),
        (lambda path: path.write_bytes(b"caf\xe9"), r"not UTF-8 text \(byte 3\); save it as UTF-8"),
        (lambda path: path.write_bytes(b"x" * (2**20 + 1)), "at most 1,048,576 bytes, got 1,048,577; split"),
        (lambda path: path.mkdir(), "not a regular file"),
        (pipe, "not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "not a regular file"),
    ],
)
def test_what_cannot_be_read_is_named_and_never_waited_for(tmp_path, make, words):
    make(tmp_path / "1.txt")
    with pytest.raises(InputError, match=rf"1\.txt: .*{words}") as caught:
        read_text(tmp_path / "1.txt")
    assert "\n" not in str(caught.value)


def test_a_file_of_just_the_limit_is_read(tmp_path):
    (tmp_path / "1.txt").write_bytes(b"x" * 2**20)
    assert len(read_text(tmp_path / "1.txt")) == 2**20


def test_many_files_are_read_in_order_up_to_a_total(tmp_path, monkeypatch):
    paths = [tmp_path / f"{i}.txt" for i in (3, 1, 2)]
    for path in paths:
        path.write_text(path.stem)
    assert read_texts(paths).texts == ("3", "1", "2")
    monkeypatch.setattr(text, "MAX_CHARACTERS", 2)
    with pytest.raises(InputError, match=r"2\.txt: the texts up to this one have more than 2 characters"):
        read_texts(paths)
