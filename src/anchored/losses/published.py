"""Settings of the noisy-label losses as published, per dataset.

They are those of the configuration files of Ma et al. (2020), the same for symmetric and asymmetric
noise, which the paper on anchored prototypes follows. ``alpha`` belongs to the active and ``beta`` to the
passive term. Later code of the same field differs in places: beta = 0.1 for ``nce+mae`` on CIFAR-100,
beta = 100 for all sums on MNIST, q = 0.6 for ``gce`` on WebVision.
"""

from __future__ import annotations

from collections.abc import Mapping

from anchored._errors import InputError
from anchored._names import choose
from anchored.losses.names import canonical

__all__ = ["SETTINGS", "settings_for"]

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
