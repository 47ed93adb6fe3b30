"""Which number format a network computes in: bfloat16 if the processor multiplies it in hardware, else float32.

The choice follows from the machine alone, not from a measurement, so that the same machine always gives the same
vectors. It is part of an encoder's digest: vectors of either format are never mixed in the cache.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from anchored._errors import InputError

__all__ = ["PRECISIONS", "choose_precision", "emulates_bfloat16", "has_fast_bfloat16"]

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
"""Name to torch type."""


@cache
def has_fast_bfloat16() -> bool:
    """Whether this machine multiplies bfloat16 in hardware (a recent GPU, or AVX512-BF16 or AMX on the processor)."""
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return _processor_multiplies_bfloat16(_capabilities())


def emulates_bfloat16(device: torch.device) -> bool:
    """Whether ``device`` is known to have no bfloat16 in hardware: float32 is faster on it, often many times.

    An older torch does not say what a processor can do, and then nothing is known.

    Example:
        >>> emulates_bfloat16(torch.device("meta"))
        False
    """
    if device.type == "cuda":
        return not torch.cuda.is_bf16_supported(including_emulation=False)
    found = _capabilities() if device.type == "cpu" else {}
    return found.get("architecture") == "x86_64" and not _processor_multiplies_bfloat16(found)


def _capabilities() -> dict[str, Any]:
    ask = getattr(torch.cpu, "get_capabilities", None)  # since torch 2.9
    return {} if ask is None else ask()


def _processor_multiplies_bfloat16(capabilities: dict[str, Any]) -> bool:
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def choose_precision(asked: str) -> str:
    """Settle on a number format.

    Args:
        asked: ``"auto"``, ``"float32"`` or ``"bfloat16"``. ``"auto"`` is bfloat16 if the machine has it in hardware.

    Returns:
        A name of :data:`PRECISIONS`.

    Example:
        >>> choose_precision("float32")
        'float32'
    """
    if asked == "auto":
        return "bfloat16" if has_fast_bfloat16() else "float32"
    if asked not in PRECISIONS:
        raise InputError(f"precision must be auto, {' or '.join(PRECISIONS)}, got {asked!r}")
    return asked
