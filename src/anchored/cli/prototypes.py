"""``anchored prototypes K D``: make prototypes, write them as .npy, print their quality."""

from __future__ import annotations


def prototypes() -> None:
    """Make class prototypes and measure them."""
