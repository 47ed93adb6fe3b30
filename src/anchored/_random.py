"""One seed, named streams: every random choice is a function of the seed and of what it is for.

Nothing in the library draws from a global generator. A function that needs randomness takes a
``torch.Generator``; whoever owns a seed makes one per purpose with :func:`stream`.
"""

from __future__ import annotations

import hashlib

import torch

__all__ = ["generator_or_default", "seed_of", "stream"]


def seed_of(seed: int, *purpose: str | int) -> int:
    """A 63-bit seed for ``purpose``, independent of the seeds of all other purposes.

    Example:
        >>> seed_of(0, "noise") == seed_of(0, "noise"), seed_of(0, "noise") == seed_of(0, "order", 3)
        (True, False)
    """
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in (seed, *purpose))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


def stream(seed: int, *purpose: str | int) -> torch.Generator:
    """A CPU generator for ``purpose``, e.g. ``stream(seed, "order", epoch)``."""
    return torch.Generator().manual_seed(seed_of(seed, *purpose))


def generator_or_default(generator: torch.Generator | None) -> torch.Generator:
    """The generator given, or a fresh one with seed 0: the same call gives the same answer."""
    return torch.Generator().manual_seed(0) if generator is None else generator
