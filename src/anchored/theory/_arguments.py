"""Checks that the formulas share: k classes, a noise rate below (k-1)/k, a radius B > 0."""

from __future__ import annotations

from anchored._checks import check_integer, check_real
from anchored._errors import InputError

__all__ = ["check_classes", "check_noise_rate", "check_radius"]


def check_classes(k: object) -> int:
    """Return ``k`` as an ``int`` of at least 2.

    Example:
        >>> check_classes(10)
        10
    """
    return check_integer("k", k, low=2, way_out="one class leaves nothing to tell apart")


def check_noise_rate(eta: object, k: int) -> float:
    """Return ``eta`` as a ``float`` in ``[0, (k-1)/k)``.

    Args:
        eta: Noise rate as given.
        k: Number of classes.

    Raises:
        InputError: If the rate is so high that the true label is no longer the most likely one.

    Example:
        >>> check_noise_rate(0.8, 10)
        0.8
    """
    rate = check_real("eta", eta, low=0, high=1, closed="left")
    if not rate * k < k - 1:
        raise InputError(
            f"eta must lie in [0, (k-1)/k) = [0, {(k - 1) / k:.4g}) for symmetric noise over k={k} classes, "
            f"got {eta!r}; from there on the true label is no longer the likeliest"
        )
    return rate


def check_radius(name: str, radius: object) -> float:
    """Return ``radius`` as a positive, finite ``float``: a bound B on feature norms, or the scale s of unit features.

    Args:
        name: How the error message calls it.
        radius: The value as given.

    Example:
        >>> check_radius("B", 5)
        5.0
    """
    return check_real(name, radius, low=0, closed="neither", way_out="it bounds the norm of the features")
