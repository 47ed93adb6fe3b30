"""Vectors on disk, found again by what they were made from: content of the input, encoder, size, number format.

Below ``features/`` there is a folder per encoder and way of reading (a *space*), and in it plain safetensors files of
up to a thousand rows (*shards*): ``keys`` ``(m, 16)`` and ``features`` ``(m, d)``, with a checksum. A shard is written
in one go and never changed, so any number of processes may read and write at once. Shards that were unused for longest
give way when the whole grows over the limit. Nothing here may stop a run: what is damaged is made again, and if the
disk is full the run goes on without the cache, saying so once.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._files import sweep, write_atomically, write_json
from anchored.features.keys import KEY_BYTES

__all__ = ["DEFAULT_LIMIT", "CacheEntry", "FeatureCache", "Space", "default_folder"]

DEFAULT_LIMIT = 10 * 2**30
"""Bytes that the cache may take."""
_HOLDER, _ABOUT, _SHARD = "features", "about.json", ".safetensors"
_STALE_SECONDS = 3600.0
_FORMAT = "2"  # another number once photos are decoded or resized in another way
Say = Callable[[str], None]


def default_folder(environment: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path:
    """Find the folder of the cache: ``ANCHORED_CACHE`` if it is set, otherwise where the platform keeps caches.

    Args:
        environment: Environment variables; by default those of this process.
        platform: As ``sys.platform`` has it.

    Returns:
        The folder; it need not exist.

    Example:
        >>> default_folder({"ANCHORED_CACHE": "/scratch/cache"}).as_posix()
        '/scratch/cache'
        >>> default_folder({"XDG_CACHE_HOME": "/x"}, "linux").as_posix()
        '/x/anchored'
    """
    given = os.environ if environment is None else environment
    if given.get("ANCHORED_CACHE"):
        return Path(given["ANCHORED_CACHE"]).expanduser()
    if platform == "darwin":
        return Path("~/Library/Caches/anchored").expanduser()
    if platform == "win32":
        return Path(given.get("LOCALAPPDATA") or "~/AppData/Local").expanduser() / "anchored" / "Cache"
    return Path(given.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "anchored"


@dataclass(frozen=True)
class CacheEntry:
    """What the cache holds of one encoder and way of reading.

    Attributes:
        space: Name of its folder.
        encoder: Name of the encoder.
        rows: Vectors that are kept.
        bytes: Their size on disk.
        used: When they were last used, in seconds since 1970.
    """

    space: str
    encoder: str
    rows: int
    bytes: int
    used: float


class FeatureCache:
    """The cache of features in one folder.

    Args:
        folder: Where it lies; by default :func:`default_folder`.
        limit: Bytes it may take; by default 10 GB, or ``ANCHORED_CACHE_GB`` gigabytes.

    Example:
        >>> import tempfile
        >>> cache = FeatureCache(tempfile.mkdtemp())
        >>> space = cache.space("toy", "digest", "texts")
        >>> space.add([b"0123456789abcdef"], torch.ones(1, 2))
        True
        >>> space.find([b"0123456789abcdef", b"0000000000000000"])[0].tolist()
        [0]
    """

    def __init__(self, folder: str | Path | None = None, *, limit: int | None = None) -> None:
        self.folder = default_folder() if folder is None else Path(folder)
        self.limit = _limit() if limit is None else limit

    @property
    def _holder(self) -> Path:
        return self.folder / _HOLDER

    def space(self, encoder: str, digest: str, source: str, *, say: Say | None = None) -> Space:
        """Open the part of the cache that belongs to one encoder and way of reading.

        Args:
            encoder: Name of the encoder.
            digest: Its digest.
            source: How rows are read, see :func:`anchored.features.keys.describe_source`.
            say: Hears a line if something is wrong with the cache.

        Returns:
            The space; nothing is written yet.

        Example:
            >>> import tempfile
            >>> space = FeatureCache(tempfile.mkdtemp()).space("wordllama", "0f3a", "texts")
            >>> len(space.find([bytes(16)])[0])
            0
        """
        about = {"encoder": encoder, "digest": digest, "source": source, "format": _FORMAT}
        name = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:32]
        return Space(self, self._holder / name, about, say or (lambda _line: None))

    def entries(self) -> list[CacheEntry]:
        """List what the cache holds, most recently used first."""
        found = []
        for folder in self._spaces():
            shards = _shards(folder)
            sizes = [shard.stat() for shard in shards]
            rows = sum(_rows(shard) for shard in shards)
            used = max((size.st_mtime for size in sizes), default=0.0)
            found.append(CacheEntry(folder.name, _encoder(folder), rows, sum(s.st_size for s in sizes), used))
        return sorted(found, key=lambda entry: -entry.used)

    def clear(self, space: str | None = None) -> int:
        """Remove everything, or one space, and return the bytes that became free.

        Args:
            space: The beginning of the name of a space's folder; by default all of them.

        Raises:
            InputError: If no space begins so, or several do.
        """
        folders = self._spaces()
        if space is not None:
            folders = [folder for folder in folders if folder.name.startswith(space)]
            if len(folders) != 1:
                raise InputError(
                    f"{space!r} must be the beginning of one name in the cache, got {len(folders)} that begin so; "
                    f"see `anchored cache`"
                )
        freed = 0
        for folder in folders:
            freed += sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
            shutil.rmtree(folder, ignore_errors=True)
        return freed

    def make_room(self, wanted: int) -> None:
        """Remove the shards that were unused for longest until ``wanted`` bytes fit under the limit."""
        shards = []
        for folder in self._spaces():
            sweep(folder)
            for file in folder.iterdir():
                try:
                    about = file.stat()
                except OSError:
                    continue  # another process removed it
                if file.suffix == _SHARD:
                    shards.append((about.st_mtime, about.st_size, file))
                elif file.suffix == ".tmp" and file.is_file() and time.time() - about.st_mtime > _STALE_SECONDS:
                    file.unlink(missing_ok=True)  # whoever wrote it was killed
        held = sum(size for _, size, _ in shards)
        for _, size, file in sorted(shards, key=lambda item: item[0]):
            if held + wanted <= self.limit:
                return
            file.unlink(missing_ok=True)
            held -= size

    def _spaces(self) -> list[Path]:
        try:
            return sorted(path for path in self._holder.iterdir() if path.is_dir() and not path.is_symlink())
        except OSError:
            return []


class Space:
    """The vectors of one encoder and way of reading. Made by :meth:`FeatureCache.space`."""

    def __init__(self, cache: FeatureCache, folder: Path, about: Mapping[str, str], say: Say) -> None:
        self._cache, self._folder, self._about, self._say = cache, folder, dict(about), say
        self._writable = True
        self._places: dict[bytes, tuple[Path, int]] = {}
        for shard in _shards(folder):
            keys = self._read(shard, "keys")
            if keys is not None:
                content = keys.numpy().tobytes()
                for row in range(len(keys)):
                    self._places[content[row * KEY_BYTES : (row + 1) * KEY_BYTES]] = (shard, row)

    def find(self, keys: Sequence[bytes]) -> tuple[Tensor, Tensor]:
        """Look up vectors.

        Args:
            keys: What :func:`anchored.features.keys.content_keys` gave.

        Returns:
            Which of ``keys`` were found ``(m,)``, and their vectors ``(m, d)`` in the same order.
        """
        wanted: dict[Path, list[tuple[int, int]]] = {}
        for number, key in enumerate(keys):
            place = self._places.get(key)
            if place is not None:
                wanted.setdefault(place[0], []).append((number, place[1]))
        numbers: list[int] = []
        parts: list[Tensor] = []
        for shard, pairs in wanted.items():
            features = self._read(shard, "features")
            if features is None:
                self._places = {key: place for key, place in self._places.items() if place[0] != shard}
                continue
            numbers += [number for number, _ in pairs]
            parts.append(features[torch.tensor([row for _, row in pairs])])
        if not parts:
            return torch.empty(0, dtype=torch.int64), torch.empty(0, 0)
        return torch.tensor(numbers), torch.cat(parts)

    def _read(self, shard: Path, name: str) -> Tensor | None:
        """One tensor of a shard; a damaged shard is removed, with a note."""
        from safetensors import safe_open

        try:
            with safe_open(shard, framework="pt") as file:
                tensors: dict[str, Tensor] = {each: file.get_tensor(each) for each in ("keys", name)}
                checksum = (file.metadata() or {}).get(f"sha256.{name}")
            sound = (
                checksum == _checksum(tensors[name])
                and tensors["keys"].dtype == torch.uint8
                and tuple(tensors["keys"].shape) == (len(tensors[name]), KEY_BYTES)
            )
        except FileNotFoundError:
            return None  # another process removed it
        except Exception:  # whatever a damaged file makes the reader stumble over
            sound = False
        if not sound:
            self._say(f"the cache file {shard} is damaged; it is removed and its vectors are computed again")
            try:
                shard.unlink(missing_ok=True)
            except OSError:
                self._writable = False
            return None
        with suppress(OSError):
            os.utime(shard)
        return tensors[name]

    def add(self, keys: Sequence[bytes], features: Tensor) -> bool:
        """Write vectors as one shard.

        Args:
            keys: One key per row.
            features: Vectors ``(m, d)``, float32.

        Returns:
            Whether they were written; if the disk is full or may not be written, a line says so, once.

        Example:
            >>> import tempfile
            >>> space = FeatureCache(tempfile.mkdtemp()).space("wordllama", "0f3a", "texts")
            >>> space.add([bytes(16)], torch.tensor([[3.0, 4.0]])), space.find([bytes(16)])[1]
            (True, tensor([[3., 4.]]))
        """
        from safetensors.torch import save

        if not self._writable or not keys:
            return False
        content = b"".join(keys)
        tensors = {
            "keys": torch.frombuffer(bytearray(content), dtype=torch.uint8).reshape(len(keys), KEY_BYTES),
            "features": features.to(torch.float32).contiguous(),
        }
        sums = {f"sha256.{name}": _checksum(tensor) for name, tensor in tensors.items()}
        packed = save(tensors, metadata={**sums, "rows": str(len(keys))})
        path = self._folder / f"{hashlib.sha256(content).hexdigest()[:32]}{_SHARD}"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if not (self._folder / _ABOUT).exists():
                write_json(self._folder / _ABOUT, self._about)
            self._cache.make_room(len(packed))
            write_atomically(path, lambda temporary: temporary.write_bytes(packed))
        except (OSError, InputError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self._say(f"the cache in {self._cache.folder} cannot be written ({reason}); going on without it")
            self._writable = False
            return False
        for row, key in enumerate(keys):
            self._places[key] = (path, row)
        return True


def _checksum(tensor: Tensor) -> str:
    return hashlib.sha256(tensor.contiguous().view(torch.uint8).numpy().data).hexdigest()


def _shards(folder: Path) -> list[Path]:
    try:
        return sorted(folder.glob(f"*{_SHARD}"))
    except OSError:
        return []


def _rows(shard: Path) -> int:
    from safetensors import safe_open

    try:
        with safe_open(shard, framework="pt") as file:
            return int((file.metadata() or {}).get("rows", 0))
    except Exception:  # damaged, or just removed
        return 0


def _encoder(folder: Path) -> str:
    try:
        return str(json.loads((folder / _ABOUT).read_text(encoding="utf-8"))["encoder"])
    except (OSError, ValueError, KeyError, TypeError):
        return "?"


def _limit() -> int:
    given = os.environ.get("ANCHORED_CACHE_GB")
    if not given:
        return DEFAULT_LIMIT
    try:
        gigabytes = float(given)
    except ValueError:
        gigabytes = math.nan
    if not (math.isfinite(gigabytes) and gigabytes >= 0):
        raise InputError(f"ANCHORED_CACHE_GB must be a number of gigabytes, got {given!r}")
    return int(gigabytes * 2**30)
