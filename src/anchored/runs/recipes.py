"""The training recipes of the literature, as data: one nested table per setting.

The noisy-label recipes are those of Ma et al. (2020) as the authors of the paper run them: stochastic
gradient descent, cosine to zero, the gradient clipped at norm 5. The long-tailed ones are those of
Cao et al. (2019). The last four are ours, for data that no paper prescribes anything for.

References:
    Ma et al., 2020. Normalized Loss Functions for Deep Learning with Noisy Labels. ICML.
    Cao et al., 2019. Learning Imbalanced Datasets with Label-Distribution-Aware Margin Loss. NeurIPS.
    Zhong et al., 2021. Improving Calibration for Long-Tailed Recognition. CVPR.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anchored._names import choose

__all__ = ["RECIPES", "get", "recipe_name", "vectors_by_size"]

_FULL_BATCH, _LARGE = 200, 10_000
_FEWEST_EPOCHS, _MOST_EPOCHS, _SAMPLES_SEEN = 10, 20, 1_000_000
_COSINE = {"name": "cosine"}
_IMAGES = {
    "optimizer": {"name": "sgd", "lr": 0.05, "momentum": 0.9, "weight_decay": 5e-4, "clip": 5.0},
    "schedule": {"name": "cosine", "options": {"warm_epochs": 1}},
    "train": {"epochs": 40, "batch_size": 128},
}

RECIPES: Mapping[str, Mapping[str, Any]] = {
    "mnist": {
        "data": {"augment": ()},
        "backbone": {"name": "cnn4"},
        "optimizer": {"name": "sgd", "lr": 0.01, "momentum": 0.9, "weight_decay": 1e-3, "clip": 5.0},
        "schedule": _COSINE,
        "train": {"epochs": 50, "batch_size": 128},
    },
    "cifar10": {
        "data": {"augment": ("crop=4", "flip"), "normalize": "cifar10"},
        "backbone": {"name": "cnn8"},
        "optimizer": {"name": "sgd", "lr": 0.01, "momentum": 0.9, "weight_decay": 1e-4, "clip": 5.0},
        "schedule": _COSINE,
        "train": {"epochs": 120, "batch_size": 128},
    },
    "cifar100": {
        "data": {"augment": ("crop=4", "flip", "rotate=20"), "normalize": "cifar100"},
        "backbone": {"name": "resnet34"},
        "optimizer": {"name": "sgd", "lr": 0.1, "momentum": 0.9, "weight_decay": 1e-5, "clip": 5.0},
        "schedule": _COSINE,
        "train": {"epochs": 200, "batch_size": 128},
    },
    "webvision": {
        "data": {"augment": ("resized-crop=224", "flip", "jitter=0.4,0.4,0.4,0.2"), "normalize": "imagenet"},
        "backbone": {"name": "resnet50"},
        "optimizer": {"name": "sgd", "lr": 0.4, "momentum": 0.9, "nesterov": True, "weight_decay": 3e-5, "clip": 5.0},
        "schedule": {"name": "webvision"},
        "train": {"epochs": 250, "batch_size": 256},
    },
    "cifar-longtail": {
        "data": {"augment": ("crop=4", "flip"), "normalize": "cifar-longtail"},
        "backbone": {"name": "resnet32"},
        "optimizer": {"name": "sgd", "lr": 0.1, "momentum": 0.9, "weight_decay": 2e-4, "clip": None},
        "schedule": {"name": "ldam"},
        "train": {"epochs": 200, "batch_size": 128},
    },
    "digits": {
        "data": {"augment": ()},
        "optimizer": {"name": "sgd", "lr": 0.05, "momentum": 0.9, "weight_decay": 1e-3, "clip": 5.0},
        "schedule": _COSINE,
        "train": {"epochs": 40, "batch_size": 64},
    },
    "vectors": {
        "data": {"augment": ()},
        "optimizer": {"name": "adamw", "lr": 2e-3, "weight_decay": 1e-2, "clip": 5.0},
        "schedule": _COSINE,
        "train": {"epochs": 20, "batch_size": 64},
    },
    "grey-images": {
        "data": {"augment": ("crop=4",)},  # a mirrored letter or digit is another one, or none
        **_IMAGES,
    },
    "images": {
        "data": {"augment": ("crop=4", "flip")},
        **_IMAGES,
    },
}


def get(name: str) -> Mapping[str, Any]:
    """Return the settings called ``name``.

    Example:
        >>> get("mnist")["train"]["epochs"]
        50
    """
    return choose(name, RECIPES, what="recipe")


def vectors_by_size(n: int) -> dict[str, Any]:
    """Return what the recipe of vectors changes with the number of samples.

    Up to 200 samples an epoch is one step, so there are a hundred of them; a large set needs fewer epochs.

    Args:
        n: Training samples.

    Example:
        >>> vectors_by_size(150)["train"], vectors_by_size(100_000)["train"]
        ({'epochs': 100, 'batch_size': 150}, {'epochs': 10, 'batch_size': 128})
    """
    if n <= _FULL_BATCH:
        return {"optimizer": {"lr": 0.01}, "train": {"epochs": 100, "batch_size": max(n, 1)}}
    epochs = max(_FEWEST_EPOCHS, min(_MOST_EPOCHS, _SAMPLES_SEEN // n))
    return {"train": {"epochs": epochs, "batch_size": 64 if n < _LARGE else 128}}


def recipe_name(source: str, shape: Sequence[int], corrupt: Sequence[str] = ()) -> str:
    """Choose the recipe for a data source: by its name if a paper prescribes one, else by its shape.

    Args:
        source: Name of the source, such as ``cifar10`` or the name of a folder.
        shape: Shape of one input.
        corrupt: The corruptions asked for; long tails of CIFAR have a recipe of their own.

    Returns:
        A key of :data:`RECIPES`.

    Example:
        >>> recipe_name("cifar10", (3, 32, 32)), recipe_name("cifar10", (3, 32, 32), ["longtail=100"])
        ('cifar10', 'cifar-longtail')
        >>> recipe_name("photos", (3, 64, 64)), recipe_name("scans", (1, 64, 64)), recipe_name("table.csv", (12,))
        ('images', 'grey-images', 'vectors')
    """
    if source in ("cifar10", "cifar100") and any(item.startswith(("longtail", "step")) for item in corrupt):
        return "cifar-longtail"
    if source in ("mnist", "fashion-mnist"):
        return "mnist"
    if source in ("cifar10", "cifar100", "digits"):
        return source
    if len(shape) == 1:
        return "vectors"
    return "grey-images" if shape[0] == 1 else "images"
