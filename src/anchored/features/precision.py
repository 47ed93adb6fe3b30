"""Which number format a network computes in: bfloat16 if the processor multiplies it in hardware, else float32.

The choice follows from the machine alone, not from a measurement, so that the same machine always gives the same
vectors. It is part of an encoder's digest: vectors of either format are never mixed in the cache.
"""

from __future__ import annotations

from functools import cache

import torch

from anchored._errors import InputError

__all__ = ["PRECISIONS", "choose_precision", "has_fast_bfloat16"]

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
"""Name to torch type."""


@cache
def has_fast_bfloat16() -> bool:
    """Whether this machine multiplies bfloat16 in hardware (a recent GPU, or AVX512-BF16 or AMX on the processor)."""
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    ask = getattr(torch.cpu, "get_capabilities", None)  # since torch 2.9
    found = ask() if ask is not None else {}
    return bool(found.get("avx512_bf16") or found.get("amx_bf16"))


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
