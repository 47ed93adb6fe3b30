"""From what a user asked for to what a run does: every ``auto`` decided, nothing left open.

Settings are laid over each other: the recipe for this kind of data, then the user's file and flags.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anchored._errors import InputError
from anchored.backbones import auto as auto_backbone
from anchored.data import NORMALIZATIONS, CorruptionPlan, Dataset
from anchored.losses import published_settings
from anchored.methods import Method, parse, procedure_type
from anchored.training.config import RunConfig, SecondConfig, merge, validate
from anchored.training.recipes import recipe, recipe_name

__all__ = ["ASSUMED_NOISE_RATE", "auto_method", "hold_out_share", "resolve"]

ASSUMED_NOISE_RATE = 0.2
"""What a noise-aware method goes by where nobody knows the rate: scale 1, which suits rates from 0.1 to 0.4."""

_HELD_OUT = 5_000
_SMALL = 200


def resolve(asked: Mapping[str, Any], dataset: Dataset) -> RunConfig:
    """The full configuration for training on ``dataset``.

    Args:
        asked: The user's settings as a nested dictionary; see :class:`~anchored.training.config.RunConfig`.
        dataset: The training data as it will be trained on, corrupted if that was asked for.

    Example:
        >>> from anchored.data import load_digits
        >>> config = resolve({"data": {"source": "digits"}, "method": {"name": "ce"}}, load_digits().train)
        >>> config.backbone.name, config.train.epochs, config.method.noise_rate
        ('cnn4', 40, 0.0)
    """
    first = validate(asked)
    plan = CorruptionPlan.parse(first.data.corrupt)
    source = first.data.source or dataset.name  # called from Python, the data itself says what it is
    base = recipe(recipe_name(source, dataset.inputs.shape, first.data.corrupt))
    if (asked.get("schedule") or {}).get("name", base["schedule"]["name"]) != base["schedule"]["name"]:
        base = {**base, "schedule": {}}  # the options of one schedule mean nothing to another
    config = validate(merge(base, asked))
    method = parse(auto_method(dataset) if config.method.name == "auto" else config.method.name)
    changes: dict[str, Any] = {"method": {"name": method.name}, "data": {}, "backbone": {}, "train": {}}
    if config.method.noise_rate == "auto":
        known = plan.eta if plan.noise is not None else None
        unknown = ASSUMED_NOISE_RATE if method.noise_aware and not first.data.corrupt else 0.0
        changes["method"]["noise_rate"] = unknown if known is None else known
    runs = procedure_type(method)
    changes["method"]["options"] = runs.resolve(method, source, dataset.counts, config.method.options)
    changes["second"] = _second(method, runs.second_epochs, config)
    published = published_settings(method.loss, source, dataset.counts.tolist())
    changes["method"]["loss"] = {**published, **config.method.loss}
    if config.backbone.name == "auto":
        changes["backbone"]["name"] = auto_backbone(dataset.inputs.shape, dataset.k)
    if config.data.normalize == "auto":
        changes["data"]["normalize"] = source if source in NORMALIZATIONS else "fit"
    if config.data.augment == "auto":
        changes["data"]["augment"] = []
    if config.train.labels == "auto":
        changes["train"]["labels"] = "given"
    if config.data.hold_out == "auto":
        changes["data"]["hold_out"] = hold_out_share(len(dataset))
    return config.change(changes)


def _second(method: Method, default: int | None, config: RunConfig) -> dict[str, Any] | None:
    """The settings of the second stage; None where the method has none."""
    if default is None:
        if config.second is not None:
            raise InputError(f"method {method.name!r} has one stage only; leave out the settings called second")
        return None
    asked = SecondConfig() if config.second is None else config.second
    return {
        "epochs": min(default, config.train.epochs) if asked.epochs == "auto" else asked.epochs,
        "lr": config.optimizer.lr if asked.lr == "auto" else asked.lr,
        "schedule": asked.schedule,
    }


def hold_out_share(n: int) -> float:
    """The share of ``n`` samples kept aside: a tenth, at most 5,000; none of a set so small that each one is needed.

    Example:
        >>> hold_out_share(1_000), hold_out_share(100_000), hold_out_share(150)
        (0.1, 0.05, 0.0)
    """
    return 0.0 if n <= _SMALL else min(0.1, _HELD_OUT / n)


def auto_method(dataset: Dataset) -> str:
    """A method for data about which nothing is known: anchored and normalised; with margins where classes are rare.

    Example:
        >>> from anchored.data import load_digits
        >>> auto_method(load_digits().train)
        'ce+fnpal'
    """
    counts = dataset.counts[dataset.counts > 0]
    if len(counts) == 0:
        raise InputError(f"{dataset.name}: there is no labelled sample to train on; give labels")
    return "ldam+drw+pal" if int(counts.max()) >= 10 * int(counts.min()) else "ce+fnpal"
