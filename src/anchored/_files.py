"""Files, read and written so that nothing half-written and nothing damaged is believed.

Writing is atomic: a file is either the old one or the whole new one, made in a private folder beside it and moved into
place. A writer that is killed leaves its private folder; the next process that writes there removes it.

Reading checks before it believes: a regular file (opening a pipe would wait for ever), not too long, UTF-8, JSON or
YAML of a bounded depth. What is wrong becomes one :class:`InputError` that names the file, the fault and the way out.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from anchored._errors import InputError, ending

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "LONGEST_TEXT",
    "Tensors",
    "parse_json",
    "parse_yaml",
    "read_json",
    "read_json_lines",
    "read_tensors",
    "read_text",
    "read_yaml",
    "regular_size",
    "sweep",
    "temporary_folder",
    "write_atomically",
    "write_json",
    "write_text",
]

LONGEST_TEXT = 2**28
"""Bytes of a text file that is read whole; a longer one is not ours."""
_DEEPEST = 50
_MOST_NODES = 1_000_000
_SUFFIX = "-anchored.tmp"
_OLD_LITTER = re.compile(r"\..*\.tmp|\.tmp\w{6}")
"""Files that killed writers of version 0.1.0 left; the second kind is that of ``safetensors``."""


def write_atomically(path: str | Path, write: Callable[[Path], object]) -> None:
    """Call ``write`` with a temporary path beside ``path``, and move the file there only if it succeeded.

    A crash, a full disk or an exception at any moment leaves the old file (or none) as it was.

    Args:
        path: The file to write.
        write: Writes the file at the path that it is given, which has the name of ``path``.

    Raises:
        InputError: If the folder does not exist or cannot be written to.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_atomically(Path(folder) / "a.txt", lambda temporary: temporary.write_text("new"))
        ...     (Path(folder) / "a.txt").read_text()
        'new'
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: the folder {path.parent} does not exist; create it first")
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder; give the name of a file")
    with temporary_folder(path) as folder:
        temporary = folder / path.name
        write(temporary)
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        temporary.chmod(0o666 & ~_umask())  # some writers make private files; a result is an ordinary one
        temporary.replace(path)


@contextmanager
def temporary_folder(path: str | Path) -> Iterator[Path]:
    """Make a private folder beside ``path`` to prepare it in; it is removed at the end.

    The folder is locked while its process lives, so that :func:`sweep` knows which ones were left by killed writers.
    The first call for a parent folder removes those.

    Args:
        path: The file or folder to be; it need not exist.

    Raises:
        InputError: The parent folder cannot be written to.

    Example:
        >>> with tempfile.TemporaryDirectory() as parent, temporary_folder(Path(parent) / "out") as folder:
        ...     folder.parent == Path(parent), folder.is_dir()
        (True, True)
    """
    path = Path(path)
    parent = path.absolute().parent
    _sweep_once(parent)
    while True:
        try:
            folder = Path(tempfile.mkdtemp(prefix=f".{path.name[:40]}.", suffix=_SUFFIX, dir=parent))
            handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            if parent.is_dir():
                continue  # swept between the two steps
            raise InputError(f"cannot write {path}: the folder {parent} is gone") from None
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}") from error
        _locked(handle)
        if folder.exists():
            break
        os.close(handle)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def sweep(folder: str | Path, *, owned: bool = False) -> None:
    """Remove what writers that were killed have left in ``folder``; what living writers use stays.

    Args:
        folder: The folder to clean; nothing happens if there is none.
        owned: Whether the caller is the only one that writes there; then temporary files of version 0.1.0, which say
            nothing about their owner, are removed too.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     left = Path(folder) / ".a.csv.x1-anchored.tmp"
        ...     left.mkdir()
        ...     sweep(folder)
        ...     left.exists()
        False
    """
    try:
        with os.scandir(folder) as found:
            entries = [entry for entry in found if entry.name.startswith(".")]
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith(_SUFFIX) and entry.is_dir(follow_symlinks=False):
            _remove_if_free(entry.path)
        elif owned and _OLD_LITTER.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
            Path(entry.path).unlink(missing_ok=True)


@cache
def _sweep_once(folder: Path) -> None:
    sweep(folder)


def _remove_if_free(folder: str) -> None:
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if _locked(handle):
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False  # in use, or a file system without locks: nothing is swept there
    return True


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` as UTF-8, atomically.

    Args:
        path: The file to write.
        text: Its content.
    """
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def write_json(path: str | Path, value: object) -> None:
    """Write ``value`` as readable JSON, atomically; NaN and infinity are refused, because they are not JSON.

    Args:
        path: The file to write.
        value: Anything that ``json`` can write.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_json(Path(folder) / "a.json", {"k": 10})
        ...     json.loads((Path(folder) / "a.json").read_text())
        {'k': 10}
    """
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def regular_size(path: str | Path, *, way_out: str = "") -> int:
    """Return the number of bytes of a regular file, before it is opened.

    Args:
        path: The file.
        way_out: What to do if it cannot be used, for the end of the message.

    Raises:
        InputError: There is no such file, or it is a folder, a pipe or a device.

    Example:
        >>> regular_size("/dev/null")
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: /dev/null is not a regular file but a device
    """
    try:
        about = os.stat(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}{ending(way_out)}") from None
    except ValueError:
        raise InputError(f"{str(path)!r} cannot be the name of a file{ending(way_out)}") from None
    if not stat.S_ISREG(about.st_mode):
        raise InputError(f"{path} is not a regular file but a {_kind(about.st_mode)}{ending(way_out)}")
    return about.st_size


def _kind(mode: int) -> str:
    kinds = {stat.S_ISDIR: "folder", stat.S_ISFIFO: "pipe", stat.S_ISSOCK: "socket"}
    return next((name for test, name in kinds.items() if test(mode)), "device")


def read_text(path: str | Path, *, longest: int = LONGEST_TEXT, way_out: str = "") -> str:
    r"""Read a text file in UTF-8.

    Args:
        path: The file.
        longest: Largest number of bytes that are read.
        way_out: What to do if it cannot be read, for the end of the message.

    Returns:
        The text; a byte order mark is left out.

    Raises:
        InputError: It is no regular file, too long, or not UTF-8.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "a.json").write_bytes(b"\xff")
        ...     read_text(Path(folder, "a.json"))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: ...a.json is not a text in UTF-8 (byte 0 is wrong)
    """
    size = regular_size(path, way_out=way_out)
    if size > longest:
        raise InputError(f"{path} has {size:,} bytes, and at most {longest:,} are read{ending(way_out)}")
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a text in UTF-8 (byte {error.start} is wrong){ending(way_out)}") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}{ending(way_out)}") from None
    except MemoryError:
        raise InputError(f"{path} does not fit into memory{ending(way_out)}") from None


def parse_json(text: str | bytes, *, where: str, way_out: str = "") -> dict[str, Any]:
    """Parse a JSON object; NaN and infinity, which are not JSON, are refused.

    Args:
        text: The text of it.
        where: What a refusal calls it.
        way_out: What to do if it is damaged, for the end of the message.

    Raises:
        InputError: It is no JSON object, or nested without end.

    Example:
        >>> parse_json('{"k": 10}', where="a.json")
        {'k': 10}
        >>> parse_json("[" * 100_000, where="a.json")
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: a.json is damaged: nested too deeply
    """
    try:
        found = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except RecursionError:
        raise InputError(f"{where} is damaged: nested too deeply{ending(way_out)}") from None
    except MemoryError:
        raise InputError(f"{where} does not fit into memory{ending(way_out)}") from None
    except ValueError as error:
        raise InputError(f"{where} is damaged: not JSON ({_first_line(error)}){ending(way_out)}") from None
    if not isinstance(found, dict):
        raise InputError(f"{where} is damaged: not a JSON object{ending(way_out)}")
    return found


def read_json(path: str | Path, *, longest: int = LONGEST_TEXT, way_out: str = "") -> dict[str, Any]:
    """Read a file that holds one JSON object.

    Args:
        path: The file.
        longest: Largest number of bytes that are read.
        way_out: What to do if it is damaged, for the end of the message.

    Raises:
        InputError: It is no regular file, too long, not UTF-8, or no JSON object.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_json(Path(folder, "a.json"), {"k": 10})
        ...     read_json(Path(folder, "a.json"))
        {'k': 10}
    """
    return parse_json(read_text(path, longest=longest, way_out=way_out), where=str(path), way_out=way_out)


def read_json_lines(path: str | Path, *, way_out: str = "") -> list[dict[str, Any]]:
    r"""Read a file with one JSON object per line.

    Args:
        path: The file.
        way_out: What to do if it is damaged, for the end of the message.

    Raises:
        InputError: It cannot be read, or a line (which is named) is no JSON object.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_text(Path(folder, "a.jsonl"), '{"epoch": 1}\n{"epoch": 2}\n')
        ...     read_json_lines(Path(folder, "a.jsonl"))
        [{'epoch': 1}, {'epoch': 2}]
    """
    lines = read_text(path, way_out=way_out).split("\n")
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line]
    return [parse_json(line, where=f"{path}, line {number}", way_out=way_out) for number, line in numbered]


def parse_yaml(text: str, *, where: str, way_out: str = "") -> Any:  # noqa: ANN401 - YAML is a tree of anything
    r"""Parse YAML without tags that build objects; a key that comes twice is refused.

    Args:
        text: The text of it.
        where: What a refusal calls it.
        way_out: What to do if it is wrong, for the end of the message.

    Returns:
        Mappings, lists and plain values; at most a million of them, links between them counted as copies.

    Raises:
        InputError: It is not YAML (the line is named), nested without end, or much larger than its text.

    Example:
        >>> parse_yaml("train: {epochs: 3}", where="a.yaml")
        {'train': {'epochs': 3}}
        >>> parse_yaml("a: 1\na: 2", where="a.yaml")
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: a.yaml, line 2: the key 'a' comes twice
    """
    import yaml

    try:
        found = yaml.load(text, Loader=_yaml_loader())
        _count_nodes(found)
    except RecursionError:
        raise InputError(f"{where} is nested too deeply{ending(way_out)}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = where if mark is None else f"{where}, line {mark.line + 1}"
        raise InputError(f"{place}: {error.problem or 'not YAML'}{ending(way_out)}") from None
    except (ValueError, TypeError, yaml.YAMLError) as error:
        raise InputError(f"{where} is not YAML: {_first_line(error)}{ending(way_out)}") from None
    return found


def read_yaml(path: str | Path, *, way_out: str = "") -> dict[str, Any]:
    """Read a YAML file that holds a mapping; an empty one holds an empty mapping.

    Args:
        path: The file.
        way_out: What to do if it is wrong, for the end of the message.

    Raises:
        InputError: It cannot be read, is not YAML, or no mapping.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_text(Path(folder, "a.yaml"), "train: {epochs: 3}")
        ...     read_yaml(Path(folder, "a.yaml"))
        {'train': {'epochs': 3}}
    """
    found = parse_yaml(read_text(path, longest=2**24, way_out=way_out), where=str(path), way_out=way_out)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise InputError(f"{path} must hold a mapping of settings, got a {type(found).__name__}{ending(way_out)}")
    return found


class Tensors(NamedTuple):
    """Tensors by name, and the texts of the header."""

    tensors: dict[str, Tensor]
    header: dict[str, str]


def read_tensors(path: str | Path, *, way_out: str = "") -> Tensors:
    """Read a ``.safetensors`` file; its format bounds the memory by the size of the file.

    Args:
        path: The file.
        way_out: What to do if it is damaged, for the end of the message.

    Raises:
        InputError: It is no regular file, or damaged.

    Example:
        >>> import torch
        >>> from safetensors.torch import save_file
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save_file({"x": torch.ones(2)}, f"{folder}/a.safetensors")
        ...     read_tensors(f"{folder}/a.safetensors").tensors
        {'x': tensor([1., 1.])}
    """
    from safetensors import SafetensorError, safe_open

    regular_size(path, way_out=way_out)
    try:
        with safe_open(path, framework="pt") as file:
            return Tensors({name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {})  # noqa: SIM118
    except (OSError, SafetensorError, ValueError, OverflowError, MemoryError, RuntimeError, AttributeError) as error:
        raise InputError(f"{path} cannot be read ({_first_line(error)}){ending(way_out)}") from None


def _first_line(error: Exception) -> str:
    text = str(error)
    return text.splitlines()[0][:200] if text else type(error).__name__


def _no_number(constant: str) -> float:
    raise ValueError(f"{constant} is no number")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _no_number(text)


@cache
def _yaml_loader() -> type[Any]:
    import yaml

    class Loader(yaml.SafeLoader):
        """A safe loader that refuses a key that comes twice."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
            seen = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                    if key.value in seen:
                        raise yaml.MarkedYAMLError(
                            problem=f"the key {key.value!r} comes twice", problem_mark=key.start_mark
                        )
                    seen.add(key.value)
            return super().construct_mapping(node, deep=deep)

    return Loader


def _count_nodes(root: object) -> None:
    """Refuse what is nested too deeply, or too large with its links written out: few lines can stand for gigabytes."""
    sizes: dict[int, int] = {}

    def size(value: object, depth: int) -> int:
        if not isinstance(value, (dict, list)):
            return 1
        if depth > _DEEPEST:
            raise RecursionError
        if id(value) not in sizes:
            items = value.values() if isinstance(value, dict) else value
            sizes[id(value)] = 1 + sum(size(item, depth + 1) for item in items)
        if sizes[id(value)] > _MOST_NODES:
            raise ValueError(f"it stands for more than {_MOST_NODES:,} values")
        return sizes[id(value)]

    size(root, 0)


def _umask() -> int:
    # The mask can only be read by setting it.
    mask = os.umask(0)
    os.umask(mask)
    return mask
