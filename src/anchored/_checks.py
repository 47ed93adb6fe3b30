"""Checks of arguments: each error names the parameter, the rule, the value and the way out."""

from __future__ import annotations

import math
import numbers
from typing import Literal, SupportsFloat

import torch
from torch import Tensor

from anchored._errors import InputError, ending

__all__ = ["check_integer", "check_labels", "check_real"]


def check_integer(name: str, value: object, *, low: int, high: int | None = None, way_out: str = "") -> int:
    """Return ``value`` as an ``int`` within ``low <= value <= high``.

    Args:
        name: How the error message calls the value.
        value: The value as given; a bool is refused.
        low: Least value allowed.
        high: Largest value allowed, or None for no limit.
        way_out: What to do instead, for the end of the message.

    Raises:
        InputError: If it is not a whole number, or outside the range.

    Example:
        >>> check_integer("k", 10, low=2)
        10
    """
    rule = f"at least {low}" if high is None else f"between {low} and {high}"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InputError(f"{name} must be a whole number {rule}, got {value!r}{ending(way_out)}")
    number = int(value)
    if number < low or (high is not None and number > high):
        raise InputError(f"{name} must be {rule}, got {number}{ending(way_out)}")
    return number


def check_real(
    name: str,
    value: object,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    closed: Literal["both", "left", "right", "neither"] = "both",
    way_out: str = "",
) -> float:
    """Return ``value`` as a finite ``float`` within an interval.

    Args:
        name: How the error message calls the value.
        value: The value as given; a bool is refused.
        low: Lower end of the interval.
        high: Upper end of the interval.
        closed: Which ends belong to the interval.
        way_out: What to do instead, for the end of the message.

    Raises:
        InputError: If it is not a finite number, or outside the interval.

    Example:
        >>> check_real("q", 0.7, low=0, high=1, closed="right")
        0.7
    """
    left = "[" if closed in ("both", "left") and math.isfinite(low) else "("
    right = "]" if closed in ("both", "right") and math.isfinite(high) else ")"
    rule = f"{name} must lie in {left}{low:g}, {high:g}{right}, got {value!r}{ending(way_out)}"
    if isinstance(value, bool) or not isinstance(value, SupportsFloat):
        raise InputError(rule)
    number = float(value)
    above = number >= low if left == "[" else number > low
    below = number <= high if right == "]" else number < high
    if not (math.isfinite(number) and above and below):
        raise InputError(rule)
    return number


def check_labels(labels: Tensor, k: int | None = None, *, name: str = "labels") -> Tensor:
    """Return ``labels`` as a flat int64 tensor; refuse it unless every entry lies in ``0..k-1``.

    This reads the values, so it belongs to the places at which data enters, and never into a training step.

    Args:
        labels: Labels as a tensor or anything that ``torch.as_tensor`` takes.
        k: Number of classes, or None for any.
        name: How the error message calls them.

    Returns:
        Labels ``(n,)``, int64.

    Raises:
        InputError: If they are not one-dimensional integers in range.

    Example:
        >>> check_labels(torch.tensor([0, 2, 1]), 3)
        tensor([0, 2, 1])
    """
    labels = torch.as_tensor(labels)
    if labels.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, got shape {tuple(labels.shape)}")
    if labels.dtype.is_floating_point or labels.dtype.is_complex or labels.dtype == torch.bool:
        raise InputError(f"{name} must be integers, got {labels.dtype}; encode class names as 0..k-1 first")
    labels = labels.to(torch.int64)
    if labels.numel() and (int(labels.min()) < 0 or (k is not None and int(labels.max()) >= k)):
        rule = "non-negative" if k is None else f"in 0..{k - 1}"
        raise InputError(f"{name} must be {rule}, got values from {int(labels.min())} to {int(labels.max())}")
    return labels
