"""One seed, named streams: every random choice is a function of the seed and of what it is for.

Nothing in the library draws from a global generator. A function that needs randomness takes a
``torch.Generator``; whoever owns a seed makes one per purpose with :func:`stream`.
"""

from __future__ import annotations

import hashlib

import torch
from torch import Tensor

__all__ = ["generator_or_default", "per_index_uniform", "seed_of", "stream"]


def seed_of(seed: int, *purpose: str | int) -> int:
    """Return a 63-bit seed for ``purpose``, independent of the seeds of all other purposes.

    Example:
        >>> seed_of(0, "noise") == seed_of(0, "noise"), seed_of(0, "noise") == seed_of(0, "order", 3)
        (True, False)
    """
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in (seed, *purpose))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


def stream(seed: int, *purpose: str | int) -> torch.Generator:
    """Return a CPU generator for ``purpose``, e.g. ``stream(seed, "order", epoch)``."""
    return torch.Generator().manual_seed(seed_of(seed, *purpose))


def generator_or_default(generator: torch.Generator | None) -> torch.Generator:
    """Return the given generator, or a fresh one with seed 0: the same call gives the same answer."""
    return torch.Generator().manual_seed(0) if generator is None else generator


_GAMMA = 0x9E3779B97F4A7C15 - 2**64  # the odd step of splitmix64, as a signed 64-bit number
_MIX_1 = 0xBF58476D1CE4E5B9 - 2**64
_MIX_2 = 0x94D049BB133111EB - 2**64


def _shift_right(x: Tensor, bits: int) -> Tensor:
    # torch shifts int64 arithmetically; the mask turns the copies of the sign bit back into zeros.
    return (x >> bits) & ((1 << (64 - bits)) - 1)


def _mix(x: Tensor) -> Tensor:
    """Apply the finaliser of splitmix64: a bijection of 64-bit words that mixes all bits."""
    x = (x ^ _shift_right(x, 30)) * _MIX_1
    x = (x ^ _shift_right(x, 27)) * _MIX_2
    return x ^ _shift_right(x, 31)


def per_index_uniform(seed: int, index: Tensor, draws: int, *purpose: str | int) -> Tensor:
    """Return numbers in [0, 1) that belong to a sample, not to its place in a batch.

    Row ``i`` is a function of ``(seed, purpose, index[i])`` alone: two rounds of the splitmix64 mixer,
    over the index and then over the number of the draw. Numbers from a generator would depend on the
    samples drawn before; these do not, so order, batch size, workers and resume do not matter.

    Args:
        seed: Seed of the run.
        index: Which samples, ``(b,)`` int64.
        draws: How many numbers each of them needs.
        *purpose: What they are for, e.g. ``"augmentation", epoch``.

    Returns:
        Numbers ``(b, draws)``, float64, on the device of ``index``.

    Example:
        >>> together = per_index_uniform(0, torch.tensor([5, 7, 9]), 2, "crop", 3)
        >>> alone = per_index_uniform(0, torch.tensor([7]), 2, "crop", 3)
        >>> torch.equal(together[1:2], alone)
        True
    """
    counter = torch.arange(1, draws + 1, device=index.device)
    word = _mix((index.to(torch.int64) + 1) * _GAMMA + seed_of(seed, *purpose))
    word = _mix(word[:, None] + counter * _GAMMA)
    return _shift_right(word, 11).to(torch.float64) * 2.0**-53
