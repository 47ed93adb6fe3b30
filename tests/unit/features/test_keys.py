"""Mirror of src/anchored/features/keys.py: content decides, names and places do not."""

import hashlib

import pytest
import torch
from tests.unit.features.standins import Texts, some_images, write_photos

from anchored import InputError
from anchored.data import FileInputs, TensorInputs, from_torch
from anchored.features.keys import KEY_BYTES, content_keys, describe_source

ALL = torch.arange(4)


def test_a_file_that_moves_keeps_its_key(tmp_path):
    files = write_photos(tmp_path / "cats", 4)
    keys = content_keys(files, ALL)
    (tmp_path / "dogs").mkdir()
    (tmp_path / "cats" / "1.jpg").rename(tmp_path / "dogs" / "other name.jpg")
    moved = FileInputs([tmp_path / "dogs" / "other name.jpg"], (3, 48, 48))
    assert content_keys(moved, torch.tensor([0])) == [keys[1]]
    assert len(set(keys)) == 4
    assert {len(key) for key in keys} == {KEY_BYTES}
    assert keys[0] == hashlib.sha256((tmp_path / "cats" / "0.jpg").read_bytes()).digest()[:KEY_BYTES]


def test_rows_and_texts_have_keys_of_their_own():
    images = some_images(4)
    keys = content_keys(images, ALL)
    assert content_keys(images.subset(torch.tensor([3, 0])), torch.arange(2)) == [keys[3], keys[0]]
    texts = Texts(["a", "b", "a", "\ud800"])
    keys = content_keys(texts, ALL)
    assert keys[0] == keys[2]
    assert len(set(keys)) == 3


def test_how_rows_are_read_is_described(tmp_path):
    files = write_photos(tmp_path, 1)
    other = FileInputs(files.paths, (3, 48, 48), resize=1.5)
    described = [describe_source(inputs) for inputs in (files, some_images(1), Texts(["a"]))]
    described.append(describe_source(TensorInputs(torch.zeros(1, 3, 20, 20))))
    assert len(set(described)) == 4
    assert describe_source(other) == describe_source(files), "an encoder decides itself how files are cut"
    assert None not in described
    items = [(torch.zeros(3), i) for i in range(2)]
    assert describe_source(from_torch(items).inputs) is None, "items that may be random have no key"


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"gone\.jpg: there is no such file"):
        content_keys(FileInputs([tmp_path / "gone.jpg"], (3, 8, 8)), torch.tensor([0]))
