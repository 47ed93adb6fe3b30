"""Settings of losses as published, per data set: under noisy labels, and for long tails by imbalance ratio.

Those for noisy labels stand in the configuration files of Ma et al. (2020), the same for symmetric and asymmetric
noise, which the paper on anchored prototypes follows. ``alpha`` belongs to the active and ``beta`` to the
passive term. Later code of the same field differs in places: beta = 0.1 for ``nce+mae`` on CIFAR-100,
beta = 100 for all sums on MNIST, q = 0.6 for ``gce`` on WebVision.

Those for long tails are LADE's: its README names them for ratio 100 and ImageNet-LT, its file ``lade.yaml`` of
CIFAR-100-LT for ratio 10.

References:
    Ma et al., 2020. Normalized Loss Functions for Deep Learning with Noisy Labels. ICML.
    Hong et al., 2021. Disentangling Label Distribution for Long-Tailed Visual Recognition. CVPR.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

from anchored._errors import InputError
from anchored._names import benchmark, choose
from anchored.losses.names import canonical

__all__ = ["LONG_TAIL_SETTINGS", "SETTINGS", "closest_ratio", "published_settings", "settings_for"]

T = TypeVar("T")

SETTINGS: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "mnist": {
        "ce": {},
        "mae": {},
        "nsl": {},
        "fl": {"gamma": 0.5},
        "gce": {"q": 0.7},
        "sce": {"alpha": 0.01, "beta": 1.0},
        "nce": {"alpha": 10.0},
        "nfl": {"alpha": 1.0, "gamma": 0.5},
        "nce+mae": {"alpha": 1.0, "beta": 10.0},
        "nce+rce": {"alpha": 1.0, "beta": 10.0},
        "nfl+rce": {"alpha": 1.0, "beta": 10.0, "gamma": 0.5},
    },
    "cifar10": {
        "ce": {},
        "mae": {},
        "nsl": {},
        "fl": {"gamma": 0.5},
        "gce": {"q": 0.7},
        "sce": {"alpha": 0.1, "beta": 1.0},
        "nce": {"alpha": 1.0},
        "nfl": {"alpha": 1.0, "gamma": 0.5},
        "nce+mae": {"alpha": 1.0, "beta": 1.0},
        "nce+rce": {"alpha": 1.0, "beta": 1.0},
        "nfl+rce": {"alpha": 1.0, "beta": 1.0, "gamma": 0.5},
    },
    "cifar100": {
        "ce": {},
        "mae": {},
        "nsl": {},
        "fl": {"gamma": 0.5},
        "gce": {"q": 0.7},
        "sce": {"alpha": 6.0, "beta": 0.1},
        "nce": {"alpha": 1.0},
        "nfl": {"alpha": 1.0, "gamma": 0.5},
        "nce+mae": {"alpha": 10.0, "beta": 1.0},
        "nce+rce": {"alpha": 10.0, "beta": 0.1},
        "nfl+rce": {"alpha": 10.0, "beta": 0.1, "gamma": 0.5},
    },
    "webvision": {
        "ce": {},
        "mae": {},
        "nsl": {},
        "fl": {"gamma": 0.5},
        "gce": {"q": 0.7},
        "sce": {"alpha": 10.0, "beta": 1.0},
        "nce+mae": {"alpha": 50.0, "beta": 1.0},
        "nce+rce": {"alpha": 50.0, "beta": 0.1},
        "nfl+rce": {"alpha": 50.0, "beta": 0.1, "gamma": 0.5},
    },
}
"""Dataset to loss to settings; an empty entry is a loss with nothing to set."""


LONG_TAIL_SETTINGS: Mapping[str, Mapping[str, Mapping[int, Mapping[str, float]]]] = {
    "cifar100": {"lade": {100: {}, 10: {"penalty": 0.1}}},
    "imagenet-lt": {"lade": {256: {"alpha": 0.05, "penalty": 0.5}}},
}
"""Data set to loss to imbalance ratio to settings; an empty entry is a loss at its defaults."""


def published_settings(name: str, source: str, counts: Sequence[int]) -> dict[str, float]:
    """Return the settings that a reference publishes for a loss on a data source; none if there is no such reference.

    Args:
        name: Name of the loss.
        source: Name or path of the data; see :func:`anchored._names.benchmark`.
        counts: Training samples per class; the settings for the closest imbalance ratio are taken.

    Returns:
        Settings for :func:`~anchored.losses.get`.

    Example:
        >>> published_settings("lade", "lists/ImageNet_LT_train.txt", [1280, 5])
        {'alpha': 0.05, 'penalty': 0.5}
        >>> published_settings("nce+rce", "cifar100", [500, 500]), published_settings("gce", "photos", [90, 10])
        ({'alpha': 10.0, 'beta': 0.1}, {})
    """
    data = benchmark(source)
    by_ratio = LONG_TAIL_SETTINGS.get(data, {}).get(name)
    return dict(SETTINGS.get(data, {}).get(name, {}) if by_ratio is None else closest_ratio(by_ratio, counts))


def closest_ratio(by_ratio: Mapping[int, T], counts: Sequence[int]) -> T:
    r"""Return the entry whose imbalance ratio is closest to :math:`\max_j n_j / \min_j n_j`, by the logarithm.

    Args:
        by_ratio: Entries by imbalance ratio.
        counts: Training samples :math:`n_j` per class; empty classes do not count.

    Returns:
        One of the entries.

    Example:
        >>> closest_ratio({100: "steep", 10: "flat"}, [500, 0, 20])         # 25 is closer to 10 than to 100
        'flat'
    """
    present = [count for count in counts if count > 0]
    ratio = max(present) / min(present)
    return by_ratio[min(by_ratio, key=lambda known: abs(math.log(known / ratio)))]


def settings_for(name: str, dataset: str) -> dict[str, float]:
    """Return the published settings of a loss on a dataset, ready for :func:`~anchored.losses.get`.

    Args:
        name: Name of the loss, as for :func:`~anchored.losses.get`.
        dataset: A key of :data:`SETTINGS`, in any case.

    Returns:
        A dictionary of keyword arguments; empty if the loss has nothing to set.

    Raises:
        InputError: If no settings are published for the two.

    Example:
        >>> settings_for("NCE+RCE", "cifar100")
        {'alpha': 10.0, 'beta': 0.1}
    """
    table = choose(str(dataset).lower(), SETTINGS, what="dataset")
    key = canonical(name)
    if key not in table:
        raise InputError(
            f"no settings of loss {key!r} are published for {str(dataset).lower()!r}; "
            f"there are some for {', '.join(table)}; choose your own for the rest"
        )
    return dict(table[key])
