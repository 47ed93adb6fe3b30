"""Mirror of src/anchored/features/cache.py: found by content, whatever happens to the disk."""

import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from anchored import InputError
from anchored.features import FeatureCache
from anchored.features.cache import DEFAULT_LIMIT, default_folder


def key(number):
    return number.to_bytes(16, "big")


def rows(*numbers):
    return [key(n) for n in numbers], torch.tensor([[float(n), -float(n)] for n in numbers])


def space(folder, heard=None, limit=None):
    say = None if heard is None else heard.append
    return FeatureCache(folder, limit=limit).space("toy", "digest", "texts", say=say)


def shards(folder):
    return sorted(Path(folder).rglob("*.safetensors"))


@given(stored=st.lists(st.integers(0, 50), max_size=20), asked=st.lists(st.integers(0, 50), max_size=20))
@settings(max_examples=20)
def test_what_was_added_is_found_in_any_order_and_nothing_else(tmp_path_factory, stored, asked):
    folder = tmp_path_factory.mktemp("cache")
    first = space(folder)
    half = len(stored) // 2
    for part in (stored[:half], stored[half:]):
        first.add(*rows(*part))
    for opened in (first, space(folder)):
        found, features = opened.find([key(n) for n in asked])
        assert sorted(found.tolist()) == [i for i, n in enumerate(asked) if n in stored]
        for place, vector in zip(found.tolist(), features, strict=True):
            assert vector.tolist() == [asked[place], -asked[place]]


def test_other_encoders_and_ways_of_reading_are_apart(tmp_path):
    cache = FeatureCache(tmp_path)
    cache.space("toy", "digest", "texts").add(*rows(1))
    for other in (("toy", "other", "texts"), ("toy", "digest", "files"), ("tiny", "digest", "texts")):
        assert len(cache.space(*other).find([key(1)])[0]) == 0


@pytest.mark.parametrize("damage", ["cut", "flip", "junk", "empty", "swap"])
def test_a_damaged_file_is_removed_and_said(tmp_path, damage):
    space(tmp_path).add(*rows(1, 2))
    (shard,) = shards(tmp_path)
    content = bytearray(shard.read_bytes())
    if damage == "flip":
        content[-1] ^= 1
    elif damage == "swap":  # the keys lie before or after the features, by their names
        from safetensors.torch import load, save

        tensors = load(bytes(content))
        content = bytearray(save({"keys": tensors["keys"][:1].clone(), "features": tensors["features"]}))
    shard.write_bytes({"cut": content[:-5], "junk": b"junk", "empty": b""}.get(damage, bytes(content)))
    heard = []
    assert len(space(tmp_path, heard).find([key(1)])[0]) == 0
    assert len(heard) == 1
    assert heard[0].startswith(f"the cache file {shard} is damaged")
    assert not shards(tmp_path)
    assert space(tmp_path, heard).add(*rows(1))
    assert len(heard) == 1


def test_a_file_that_another_process_removed_is_not_missed(tmp_path):
    opened = space(tmp_path)
    opened.add(*rows(1))
    shards(tmp_path)[0].unlink()
    heard = []
    opened._say = heard.append
    assert len(opened.find([key(1)])[0]) == 0
    assert heard == []


def test_the_oldest_unused_give_way(tmp_path):
    opened = space(tmp_path)
    for number in range(4):
        opened.add(*rows(number))
    size = shards(tmp_path)[0].stat().st_size
    for shard in shards(tmp_path):
        held = int.from_bytes(bytes(_keys_of(shard)[0]), "big")
        os.utime(shard, (1000 + held, 1000 + held))
    small = space(tmp_path, limit=3 * size)
    small.find([key(0)])  # used just now
    for held in (1, 2, 3):
        os.utime(_shard_of(tmp_path, held), (1000 + held, 1000 + held))
    small.add(*rows(9))
    found, _ = space(tmp_path).find([key(n) for n in (0, 1, 2, 3, 9)])
    assert sorted(found.tolist()) == [0, 3, 4]


def _keys_of(shard):
    from safetensors import safe_open

    with safe_open(shard, framework="pt") as file:
        return file.get_tensor("keys").numpy()


def _shard_of(folder, number):
    return next(shard for shard in shards(folder) if bytes(_keys_of(shard)[0]) == key(number))


def test_what_a_killed_process_left_is_cleared_away(tmp_path):
    opened = space(tmp_path)
    opened.add(*rows(1))
    folder = shards(tmp_path)[0].parent
    old, new = folder / ".a.tmp", folder / ".b.tmp"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    opened.add(*rows(2))
    assert (old.exists(), new.exists()) == (False, True)


FULL = """
import resource, sys, torch
from anchored.features import FeatureCache
heard = []
space = FeatureCache(sys.argv[1]).space("toy", "d", "texts", say=heard.append)
assert space.add([bytes(16)], torch.zeros(1, 4))
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
assert not space.add([bytes([1] * 16)], torch.zeros(1, 5000))
assert not space.add([bytes([2] * 16)], torch.zeros(1, 5000))
print(len(heard), heard[0])
assert len(space.find([bytes(16)])[0]) == 1
"""


def test_a_full_disk_is_said_once_and_nothing_is_left_behind(tmp_path):
    assert resource.RLIMIT_FSIZE  # a file that may not grow stands for a disk that is full
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"1 the cache in {tmp_path} cannot be written (File too large); going on without it")
    assert len(shards(tmp_path)) == 1
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    heard = []
    opened = space(tmp_path / "file", heard)
    assert not opened.add(*rows(1))
    assert not opened.add(*rows(2))
    assert len(heard) == 1
    assert FeatureCache(tmp_path / "file").entries() == []


def test_many_writers_at_once(tmp_path):
    def write(first):
        opened = space(tmp_path)
        for number in range(first, first + 10):
            opened.add(*rows(number, number + 1))

    threads = [threading.Thread(target=write, args=(5 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found, features = space(tmp_path).find([key(n) for n in range(26)])
    assert sorted(found.tolist()) == list(range(26))
    assert torch.equal(features[:, 0], found.float())


def test_the_list_and_clearing(tmp_path):
    cache = FeatureCache(tmp_path)
    assert cache.entries() == []
    assert cache.clear() == 0
    cache.space("one", "d", "texts").add(*rows(1, 2, 3))
    cache.space("two", "d", "texts").add(*rows(1))
    one, two = sorted(cache.entries(), key=lambda entry: entry.encoder)
    assert (one.encoder, one.rows, two.rows) == ("one", 3, 1)
    assert one.bytes == sum(shard.stat().st_size for shard in shards(tmp_path / "features" / one.space))
    with pytest.raises(InputError, match="must be the beginning of one name in the cache, got 2"):
        cache.clear("")
    with pytest.raises(InputError, match="got 0"):
        cache.clear("zzz")
    assert cache.clear(one.space[:8]) >= one.bytes
    assert [entry.encoder for entry in cache.entries()] == ["two"]
    cache.clear()
    assert cache.entries() == []


def test_where_it_lies():
    assert default_folder({}, "linux") == Path("~/.cache/anchored").expanduser()
    assert default_folder({}, "darwin") == Path("~/Library/Caches/anchored").expanduser()
    assert default_folder({"LOCALAPPDATA": "/l"}, "win32") == Path("/l/anchored/Cache")
    assert default_folder({"ANCHORED_CACHE": "~/x", "XDG_CACHE_HOME": "/y"}, "linux") == Path("~/x").expanduser()


def test_its_limit(tmp_path, monkeypatch):
    monkeypatch.delenv("ANCHORED_CACHE_GB", raising=False)
    assert FeatureCache(tmp_path).limit == DEFAULT_LIMIT
    monkeypatch.setenv("ANCHORED_CACHE_GB", "0.5")
    assert FeatureCache(tmp_path).limit == 2**29
    for wrong in ("much", "-1", "nan"):
        monkeypatch.setenv("ANCHORED_CACHE_GB", wrong)
        with pytest.raises(InputError, match="must be a number of gigabytes"):
            FeatureCache(tmp_path)
