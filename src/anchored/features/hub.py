"""Weights that others publish: from the user's cache, or from the Hugging Face hub; without a connection, one line."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from anchored._errors import InputError

__all__ = ["check_torchvision", "download", "from_cache_or_hub", "needed", "reachable"]

T = TypeVar("T")
_PATIENCE = 5.0


def needed(module: str, *, encoder: str, install: str) -> Any:  # noqa: ANN401 - a module that may be missing
    """Import an optional package.

    Args:
        module: Its name for ``import``.
        encoder: Who needs it, for a refusal.
        install: What to give to ``pip install``.

    Returns:
        The module.

    Raises:
        InputError: If it is not installed, or does not work together with the installed torch.

    Example:
        >>> needed("json", encoder="toy", install="nothing").dumps([1])
        '[1]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        check_torchvision(error, encoder=encoder)
        missing = (error.name or "").partition(".")[0] == module.partition(".")[0]
        why = "which is not installed" if missing else f"which cannot be imported ({_first_line(error)})"
        raise InputError(f"encoder {encoder!r} needs {module}, {why}; pip install {install}") from None
    except (RuntimeError, AttributeError, OSError) as error:  # a torchvision that was built for another torch
        raise InputError(
            f"encoder {encoder!r} needs {module}, which does not work with the installed torch "
            f"({_first_line(error)}); install the torchvision that belongs to it"
        ) from None


def check_torchvision(error: BaseException, *, encoder: str) -> None:
    """Refuse if an error comes from a torchvision that does not fit torch, however deep it lies.

    Args:
        error: What was raised.
        encoder: Name of the encoder, for the refusal.

    Raises:
        InputError: If torchvision is behind it.

    Example:
        >>> check_torchvision(OSError("no such file"), encoder="hf:toy")
    """
    cause: BaseException | None = error
    while cause is not None:
        if "torchvision::" in str(cause):
            raise InputError(
                f"encoder {encoder!r}: the installed torchvision does not work with the installed torch "
                f"({_first_line(cause)}); install the one that belongs to it, or remove it"
            ) from None
        cause = cause.__cause__ or cause.__context__


def reachable() -> bool:
    """Whether the hub answers; asked once before a download that would try again for a minute."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "TRUE", "YES", "ON"):
        return False
    if any(os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")):
        return True  # only the proxy can tell
    address = urlsplit(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
    try:
        socket.create_connection((address.hostname or "", address.port or 443), timeout=_PATIENCE).close()
    except (OSError, ValueError):
        return False
    return True


def from_cache_or_hub(load: Callable[[bool], T], *, encoder: str) -> T:
    """Load from the user's cache, and from the hub if that fails and the hub answers.

    Args:
        load: Loads; told whether only local files may be used.
        encoder: Name of the encoder, for a refusal.

    Returns:
        What ``load`` returned.

    Raises:
        InputError: If it is not in the cache and the hub does not answer, or does not have it.

    Example:
        >>> from_cache_or_hub(lambda local: "from the cache" if local else "from the hub", encoder="hf:toy")
        'from the cache'
    """
    try:
        return load(True)
    except InputError:
        raise
    except Exception as error:  # every library has its own class for a file that is not there
        check_torchvision(error, encoder=encoder)
        local = _first_line(error)
    if Path(encoder.partition(":")[2]).is_dir():
        raise InputError(f"encoder {encoder!r}: the folder cannot be loaded ({local})")
    if not reachable():
        raise InputError(
            f"encoder {encoder!r}: its weights are not in the cache, and the hub cannot be reached; "
            f"connect, or give --weights FILE or the path of a folder"
        )
    try:
        return load(False)
    except Exception as error:
        check_torchvision(error, encoder=encoder)
        raise InputError(f"encoder {encoder!r}: the hub does not give it ({_first_line(error)})") from None


def download(repository: str, *, encoder: str) -> Path:
    """Find the file of weights of a repository, in the cache or on the hub.

    Args:
        repository: ``owner/name`` on the hub.
        encoder: Name of the encoder, for a refusal.

    Returns:
        The file.
    """
    hub = needed("huggingface_hub", encoder=encoder, install="huggingface_hub")

    def load(local: bool) -> Path:
        for file in ("model.safetensors", "pytorch_model.bin"):
            if local:
                found = hub.try_to_load_from_cache(repository, file)
                if isinstance(found, str):
                    return Path(found)
        if local:
            raise FileNotFoundError(repository)
        return Path(hub.hf_hub_download(repository, "model.safetensors"))

    return from_cache_or_hub(load, encoder=encoder)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
