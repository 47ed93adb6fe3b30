"""Downloads from the official addresses: checked against the published MD5, taken up where they broke off.

A file comes down as ``NAME.part``; a broken connection leaves it there, and the next attempt asks for the rest (HTTP
Range). Only a file whose checksum is right gets its name; one whose checksum is wrong is removed. Archives are unpacked
beside and moved into place, and one with an entry that would land elsewhere, a link or a device is not unpacked at all.

MD5 is what the publishers give. It detects damage; against a forger who controls the address it is no protection, which
is why the files are read by parsers that run nothing (see :mod:`anchored.data.cifar`).
"""

from __future__ import annotations

import hashlib
import http.client
import shutil
import tarfile
import urllib.error
import urllib.parse
import urllib.request
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from anchored._errors import InputError
from anchored._files import temporary_folder
from anchored._names import choose
from anchored.data.human import ORIGINS

__all__ = ["DOWNLOADS", "Download", "RemoteFile", "download", "extract", "fetch"]

Progress = Callable[[str, int, int | None], None]
"""Called with the file's name, the bytes there so far, and the total if it is known."""

_CHUNK = 1 << 18
_TIMEOUT = 60.0
_ATTEMPTS = 4
_MAX_UNPACKED = 4 * 2**30


@dataclass(frozen=True)
class RemoteFile:
    """A file's name and its published MD5."""

    name: str
    md5: str


@dataclass(frozen=True)
class Download:
    """What to download for a data set, and where to put it."""

    files: tuple[RemoteFile, ...]
    """The files."""
    mirrors: tuple[str, ...]
    """Addresses that have them, each ending in ``/``; asked in turn."""
    folder: str
    """Where they go, below the root."""
    unpacks_to: str | None = None
    """The folder that the archive contains; None if the files stay as they are."""


DOWNLOADS: dict[str, Download] = {
    "mnist": Download(
        files=(
            RemoteFile("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
            RemoteFile("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
            RemoteFile("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
            RemoteFile("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
        ),
        mirrors=("https://ossci-datasets.s3.amazonaws.com/mnist/", "http://yann.lecun.com/exdb/mnist/"),
        folder="MNIST/raw",
    ),
    "fashion-mnist": Download(
        files=(
            RemoteFile("train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
            RemoteFile("train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"),
            RemoteFile("t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"),
            RemoteFile("t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310"),
        ),
        mirrors=("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",),
        folder="FashionMNIST/raw",
    ),
    "cifar10": Download(
        files=(RemoteFile("cifar-10-python.tar.gz", "c58f30108f718f92721af3b95e74349a"),),
        mirrors=("https://www.cs.toronto.edu/~kriz/",),
        folder=".",
        unpacks_to="cifar-10-batches-py",
    ),
    "cifar100": Download(
        files=(RemoteFile("cifar-100-python.tar.gz", "eb9058c3a382ffc7106e4002c42a8d85"),),
        mirrors=("https://www.cs.toronto.edu/~kriz/",),
        folder=".",
        unpacks_to="cifar-100-python",
    ),
}
"""What can be downloaded, by the names of :data:`anchored.data.BUILT_IN`."""


def download(
    name: str, root: str | Path, *, mirrors: Sequence[str] | None = None, progress: Progress | None = None
) -> Path:
    """Download the files of a built-in data set; those that are there and right are left alone.

    Args:
        name: ``mnist``, ``fashion-mnist``, ``cifar10`` or ``cifar100``.
        root: The folder to put them in; made if need be.
        mirrors: Other addresses to ask, each ending in ``/``; the checksums stay the official ones.
        progress: Called as each file comes down.

    Returns:
        The folder that holds the data.

    Raises:
        InputError: If there is nothing to download under this name (the message says where to get it), or it failed.

    Example:
        >>> download("digits", "data")
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: digits comes with scikit-learn and needs no download; use it as it is
    """
    if name == "digits":
        raise InputError("digits comes with scikit-learn and needs no download; use it as it is")
    if name in ORIGINS:
        raise InputError(f"{name} cannot be downloaded; {ORIGINS[name]}")
    wanted = choose(name, DOWNLOADS, what="data set")
    addresses = tuple(_checked(address) for address in mirrors or wanted.mirrors)
    folder = Path(root) / wanted.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror}); choose another root") from None
    target = folder if wanted.unpacks_to is None else folder / wanted.unpacks_to
    if wanted.unpacks_to is not None and target.is_dir():
        return target
    for file in wanted.files:
        path = fetch(file, folder, addresses, progress=progress)
        if wanted.unpacks_to is not None:
            extract(path, folder, wanted.unpacks_to)
            path.unlink()
    return target


def _checked(address: str) -> str:
    """The address with the ``/`` at its end."""
    parts = urllib.parse.urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise InputError(f"a mirror is an address such as https://example.org/mnist/, got {address!r}")
    return address if address.endswith("/") else f"{address}/"


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def fetch(file: RemoteFile, folder: Path, mirrors: Sequence[str], *, progress: Progress | None = None) -> Path:
    """Download one file, unless it is there and right.

    Args:
        file: Its name and checksum.
        folder: The folder to put it in.
        mirrors: Addresses that have it, asked in turn.
        progress: Called as it comes down.

    Returns:
        The path of the file.

    Raises:
        InputError: If no mirror gave the right file; the message says why.
    """
    path = folder / file.name
    if path.is_file() and _md5(path) == file.md5:
        return path
    part = folder / f"{file.name}.part"
    failures: list[str] = []
    for mirror in mirrors:
        for _ in range(_ATTEMPTS):
            before = part.stat().st_size if part.exists() else 0
            try:
                _transfer(f"{mirror}{file.name}", part, file.name, progress)
            except (OSError, http.client.HTTPException) as error:
                failures.append(f"{mirror}: {_short(error)}")
                if part.exists() and part.stat().st_size > before:
                    continue  # it broke off, but got further: ask for the rest
                break
            if _md5(part) == file.md5:
                part.replace(path)
                return path
            got = _md5(part)
            part.unlink()
            failures.append(f"{mirror}: MD5 {got} is not the published {file.md5}")
            if before == 0:
                break  # nothing old was in it, so asking the same address again would bring the same
    raise InputError(
        f"{file.name} could not be downloaded ({'; '.join(failures[-3:])}); try again, or name another mirror"
    )


def _short(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"HTTP {error.code}"
    reason = getattr(error, "reason", None) or error
    return str(reason).splitlines()[0] if str(reason) else type(error).__name__


def _transfer(url: str, part: Path, name: str, progress: Progress | None) -> None:
    """Append what is missing of ``url`` to ``part``; a connection that ends early is an error."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(
        url, headers={"User-Agent": "anchored"} | ({"Range": f"bytes={have}-"} if have else {})
    )
    try:
        response = urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and have:
            return  # nothing is missing; the checksum decides
        raise
    with response:
        # A server that does not know Range answers 200 with the whole file: begin again.
        if response.status != 206:
            have = 0
        length = response.headers.get("Content-Length")
        total = have + int(length) if length is not None and length.isdigit() else None
        with part.open("ab" if have else "wb") as out:
            while chunk := response.read(_CHUNK):
                out.write(chunk)
                have += len(chunk)
                if progress is not None:
                    progress(name, have, total)
        if total is not None and have < total:
            raise ConnectionError(f"the connection ended after {have:,} of {total:,} bytes")


def extract(archive: Path, folder: Path, name: str) -> Path:
    """Unpack a folder of a ``.tar.gz`` archive, whole or not at all.

    Every entry is checked before the first one is written: plain files and folders inside ``name`` only.

    Args:
        archive: The archive.
        folder: The folder to unpack into.
        name: The folder in the archive, and its name afterwards.

    Returns:
        The unpacked folder.

    Raises:
        InputError: If the archive is damaged or holds anything else.
    """
    target = folder / name
    with temporary_folder(target) as temporary:
        try:
            with tarfile.open(archive, "r:gz") as tar:
                members = tar.getmembers()
                for member in members:
                    _check_member(archive, member, name)
                if sum(member.size for member in members) > _MAX_UNPACKED:
                    raise InputError(f"{archive}: it would unpack to more than {_MAX_UNPACKED:,} bytes; not unpacked")
                tar.extractall(temporary, members=members, filter="data")
        except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
            raise InputError(
                f"{archive}: the archive is damaged or cut short ({_short(error)}); download it again"
            ) from None
        unpacked = temporary / name
        if not unpacked.is_dir():
            raise InputError(f"{archive}: it does not contain the folder {name!r}; download it again")
        if target.exists():
            shutil.rmtree(target)
        unpacked.replace(target)
    return target


def _check_member(archive: Path, member: tarfile.TarInfo, name: str) -> None:
    parts = PurePosixPath(member.name).parts
    if member.name.startswith("/") or ".." in parts or "\\" in member.name or parts[:1] != (name,):
        raise InputError(f"{archive}: its entry {member.name!r} would land outside {name!r}; nothing was unpacked")
    if not (member.isreg() or member.isdir()):
        raise InputError(f"{archive}: its entry {member.name!r} is neither a file nor a folder; nothing was unpacked")
