"""Mirror of src/anchored/features/packed_folder.py: a round trip, and no way out of the folder."""

import pytest
import torch

from anchored import InputError
from anchored.features.packed_folder import pack, unpack


def test_a_folder_comes_back(tmp_path):
    source, target = tmp_path / "a", tmp_path / "b"
    (source / "1_Pooling").mkdir(parents=True)
    target.mkdir()
    (source / "config.json").write_text("{}")
    (source / "1_Pooling" / "config.json").write_text('{"ü": 1}', encoding="utf-8")
    (source / "README.md").write_text("left out")
    (source / "pytorch_model.bin").write_bytes(b"left out too")
    packed = pack(source)
    assert sorted(packed) == ["file:1_Pooling/config.json", "file:config.json"]
    unpack(packed, target)
    assert (target / "1_Pooling" / "config.json").read_bytes() == (source / "1_Pooling" / "config.json").read_bytes()


@pytest.mark.parametrize("name", ["file:../x.json", "file:/etc/x.json", "x.json", "file:x.py", "file:a/../../x.json"])
def test_other_names_are_not_written(tmp_path, name):
    folder = tmp_path / "in"
    folder.mkdir()
    with pytest.raises(InputError, match="may not be written"):
        unpack({name: torch.zeros(1, dtype=torch.uint8)}, folder)
    assert [path.name for path in tmp_path.rglob("*")] == ["in"]
