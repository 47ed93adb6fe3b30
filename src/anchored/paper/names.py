"""Tables by name: a literal list, one file each in ``tables/``."""

from __future__ import annotations

from collections.abc import Mapping

from anchored._names import choose
from anchored.paper.table import Table
from anchored.paper.tables import (
    auto_mnist,
    human_noise,
    longtail_cifar,
    longtail_cifar100,
    longtail_imagenet,
    longtail_mnist,
    noise_asymmetric,
    noise_symmetric,
    orientation,
    unstated,
    webvision_mini,
    weight_decay,
)

__all__ = ["TABLES", "get"]

TABLES: Mapping[str, Table] = {
    "noise_symmetric": noise_symmetric.TABLE,
    "noise_asymmetric": noise_asymmetric.TABLE,
    "longtail_cifar100": longtail_cifar100.TABLE,
    "longtail_imagenet": longtail_imagenet.TABLE,
    "longtail_cifar": longtail_cifar.TABLE,
    "weight_decay": weight_decay.TABLE,
    "webvision_mini": webvision_mini.TABLE,
    "longtail_mnist": longtail_mnist.TABLE,
    "orientation": orientation.TABLE,
    "unstated": unstated.TABLE,
    "auto_mnist": auto_mnist.TABLE,
    "human_noise": human_noise.TABLE,
}
"""Every table that ``anchored paper run`` knows: the paper's seven, then ours."""


def get(name: str) -> Table:
    """Return the table called ``name``, in any case and with ``-`` or ``_``.

    Raises:
        InputError: If there is no such table; the message names the nearest ones.

    Example:
        >>> get("Weight-Decay").name
        'weight_decay'
        >>> get("wieght_decay")
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: unknown table 'wieght_decay'; did you mean 'weight_decay'?
    """
    return choose(name.strip().lower().replace("-", "_"), TABLES, what="table")
