"""Files of weights, read without ever running code from them: safetensors, or ``.pth`` with ``weights_only``."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from anchored._errors import InputError

__all__ = ["check_sha256", "digest_of", "load_into", "read_weights", "sha256_of"]

_WRAPPERS = ("state_dict", "model_state_dict", "model", "module", "state_dict_ema", "model_ema")
_READ_AT_ONCE = 2**20


def read_weights(path: str | Path) -> dict[str, Tensor]:
    """Read tensors by name from a file.

    Args:
        path: A ``.safetensors`` file, or a ``.pth``, ``.pt`` or ``.bin`` file of plain tensors. A checkpoint that has
            its weights under ``state_dict`` or ``model`` is unwrapped, and ``module.`` in front of names is dropped.

    Returns:
        The tensors by name.

    Raises:
        InputError: If the file is missing, damaged, or holds anything else than tensors.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file of weights; check --weights")
    try:
        found = _read(path)
    except Exception as error:  # a damaged file raises whatever the reader stumbles over
        if isinstance(error, pickle.UnpicklingError) and "unsupported global" in str(error).lower():
            raise InputError(
                f"{path}: it holds more than plain tensors, and is not loaded because it could run code; "
                f"save its state_dict as safetensors"
            ) from None
        raise InputError(f"{path}: not a readable file of weights; give .safetensors, or .pth of tensors") from None
    for wrapper in _WRAPPERS:
        if isinstance(found, Mapping) and isinstance(found.get(wrapper), Mapping):
            found = found[wrapper]
            break
    tensors = {str(k): v for k, v in found.items() if isinstance(v, Tensor)} if isinstance(found, Mapping) else {}
    if not tensors:
        raise InputError(f"{path}: it holds no tensors by name; save the model's state_dict")
    if all(name.startswith("module.") for name in tensors):
        tensors = {name.removeprefix("module."): tensor for name, tensor in tensors.items()}
    return tensors


def _read(path: Path) -> object:
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file

        return load_file(path)
    return torch.load(path, map_location="cpu", weights_only=True)


def check_sha256(path: str | Path, expected: str) -> None:
    """Refuse a file whose bytes are not the published ones.

    Args:
        path: The file.
        expected: Its SHA-256 as 64 hexadecimal digits.

    Raises:
        InputError: If the digest is another one, or the file is missing.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp(), "w")
        >>> _ = file.write_bytes(b"")
        >>> check_sha256(file, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    """
    found = sha256_of(path)
    if found != expected:
        raise InputError(
            f"{path}: its SHA-256 is {found[:12]}… and not the published {expected[:12]}…; install the package again"
        )


def sha256_of(path: str | Path) -> str:
    """Compute the SHA-256 of a file of weights, as 64 hexadecimal digits.

    Args:
        path: The file.

    Raises:
        InputError: If it cannot be read.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp(), "w")
        >>> _ = file.write_bytes(b"")
        >>> sha256_of(file)[:12]
        'e3b0c44298fc'
    """
    found = hashlib.sha256()
    try:
        with Path(path).open("rb") as file:
            while block := file.read(_READ_AT_ONCE):
                found.update(block)
    except OSError as error:
        raise InputError(f"{path}: the weights cannot be read ({error.strerror}); give another file") from None
    return found.hexdigest()


def load_into(module: nn.Module, tensors: Mapping[str, Tensor], *, where: str, what: str) -> None:
    """Load weights into a network that has no classifier; what is left over may only be one.

    Args:
        module: The network, without classifier.
        tensors: Weights by name, perhaps with those of a classifier.
        where: The file, for a refusal.
        what: The network's name, for a refusal.

    Raises:
        InputError: If a tensor of the network is missing, has another shape, or more is left over than a classifier's
            last layers.

    Example:
        >>> network = nn.Linear(1, 1)
        >>> weights = {"weight": torch.ones(1, 1), "bias": torch.zeros(1), "fc.weight": torch.ones(5, 1)}
        >>> load_into(network, weights, where="w.pth", what="toy")
        >>> network.weight.item()
        1.0
    """
    wanted = module.state_dict()
    for name, tensor in wanted.items():
        if name not in tensors:
            if name.endswith("num_batches_tracked"):
                continue
            raise _foreign(where, what, f"{name} is missing")
        if tensors[name].shape != tensor.shape:
            shapes = f"{tuple(tensors[name].shape)} instead of {tuple(tensor.shape)}"
            raise _foreign(where, what, f"{name} is {shapes}")
    left = sorted({name.rpartition(".")[0] for name in tensors if name not in wanted})
    body = {name.partition(".")[0] for name in wanted}
    strange = [layer for layer in left if layer.partition(".")[0] in body and not _is_head(layer)]
    if strange:
        raise _foreign(where, what, f"{strange[0]} does not belong to it")
    module.load_state_dict({name: tensors.get(name, tensor) for name, tensor in wanted.items()})


def _is_head(layer: str) -> bool:
    return any(word in layer for word in ("head", "fc", "classifier", "logits", "pre_logits", "last_linear"))


def _foreign(where: str, what: str, why: str) -> InputError:
    return InputError(f"{where}: these are not weights of {what} ({why}); give the file of that network")


def digest_of(about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    """Digest plain values and tensors: the same 64 digits for the same content, in any order of names.

    Args:
        about: JSON values.
        tensors: Tensors by name.

    Example:
        >>> one = digest_of({"a": 1}, {"w": torch.zeros(2)})
        >>> one == digest_of({"a": 1}, {"w": torch.zeros(2)}), one == digest_of({"a": 1}, {"w": torch.ones(2)})
        (True, False)
    """
    whole = hashlib.sha256(json.dumps(dict(about), sort_keys=True, ensure_ascii=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        whole.update(f"\x1f{name}\x1f{tensor.dtype}\x1f{tuple(tensor.shape)}\x1f".encode())
        whole.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return whole.hexdigest()
