"""What ``auto`` decides, from the estimated noise and the class sizes, and why: settings, and a paragraph about them.

==========================  ==================================================================================
what is found               what is chosen
==========================  ==================================================================================
labels are clean            cross entropy on the labels as given: there is nothing to hold against
labels are noisy            anchors with normalised features, each label counted as far as it can be trusted
                            (:mod:`anchored.auto.targets`), the scale from the noise that is left, a learning rate
                            that suits it; images shifted a little, where nothing else varies them; weights
                            averaged (EMA); stop once held-out noisy labels are predicted worse
a class is a tenth of one   margins and deferred weights by class size (``ldam+drw+pal``), sizes as estimated
==========================  ==================================================================================

Whatever the user has set stays as it is; with a method of the user's, only its noise rate is decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from anchored.audit import LabelNoise
from anchored.audit.cross_fit import LEAST_LR
from anchored.auto.targets import Targets, make_targets
from anchored.data import Dataset
from anchored.methods import parse
from anchored.training import RunConfig

__all__ = ["Choice", "choose"]

_CLEAN = 0.02
_UNBALANCED = 10.0
_EMA = 0.995
_LEAST_RESIDUAL = 0.1
"""What the scale goes by at least where labels were doubted: trust is not certainty."""
_SHIFT = 14
"""Images are shifted by up to this part of their side, where the recipe leaves them as they are."""
_PATIENCE = 0.2
_LEAST_PATIENCE = 5


@dataclass(frozen=True, eq=False)
class Choice:
    """Settings, the labels to train on, and the reasons.

    Attributes:
        settings: What is laid over the user's settings, which it never contradicts.
        targets: The labels to train on, or None for those given.
        text: One paragraph for people.
    """

    settings: dict[str, Any]
    targets: Targets | None
    text: str
    facts: dict[str, Any] = field(default_factory=dict)
    """The same for programs."""


def choose(
    asked: Mapping[str, Any], config: RunConfig, dataset: Dataset, noise: LabelNoise, posterior: Tensor
) -> Choice:
    """Decide what the user left open.

    Args:
        asked: The user's settings, to see what was left open.
        config: The same, resolved by the recipe.
        dataset: The training data with the labels given.
        noise: Their law.
        posterior: ``(n, k)``, of the true labels.
    """
    noisy = noise.rate >= _CLEAN and noise.interval[0] > 0
    name = _given(asked, "method", "name", default="auto")
    own = name != "auto"
    labels = _given(asked, "train", "labels", default="auto")
    # Who names a method wants to see that method, on the labels as they are.
    cleaned = noisy and not own if labels == "auto" else labels == "cleaned"
    targets = make_targets(dataset, posterior) if cleaned else None
    sizes = posterior.sum(dim=0)
    rho = float(sizes.max() / sizes.min().clamp(min=1.0))
    method = parse(name if own else "ldam+drw+pal" if rho >= _UNBALANCED else "ce+fnpal" if noisy else "ce")
    rate = noise.rate if targets is None else max(targets.residual, _LEAST_RESIDUAL)
    settings: dict[str, Any] = {"method": {"name": method.name}, "train": {"labels": "cleaned" if cleaned else "given"}}
    if _given(asked, "method", "noise_rate", default="auto") == "auto":
        settings["method"]["noise_rate"] = round(rate, 4) if noisy else 0.0
    if method.noise_aware and not own and config.optimizer.name == "sgd" and not _has(asked, "optimizer", "lr"):
        settings["optimizer"] = {"lr": max(config.optimizer.lr, LEAST_LR)}
    shift = min(dataset.inputs.shape[1:]) // _SHIFT if dataset.is_image else 0
    if noisy and not own and shift and not config.data.augment and not _has(asked, "data", "augment"):
        settings["data"] = {"augment": [f"crop={shift}"]}
    if noisy and not own and not _has(asked, "train", "ema"):
        settings["train"]["ema"] = _EMA
    if noisy and not own and not _has(asked, "train", "early_stop"):
        settings["train"]["early_stop"] = max(_LEAST_PATIENCE, round(_PATIENCE * config.train.epochs))
    low, high = noise.interval
    facts = {
        "noise_rate": noise.rate,
        "interval": [low, high],
        "transition": noise.transition.tolist(),
        "imbalance": rho,
        "labels": settings["train"]["labels"],
        "labels_doubted": 0 if targets is None else targets.doubted,
        "residual_noise_rate": None if targets is None else targets.residual,
        "chosen": settings,
    }
    text = _text(noise, noisy, rho, method.name, own, targets, settings)
    return Choice(settings, targets, text, {"text": text, **facts})


def _text(
    noise: LabelNoise,
    noisy: bool,
    rho: float,
    method: str,
    own: bool,
    targets: Targets | None,
    settings: Mapping[str, Any],
) -> str:
    low, high = noise.interval
    said = [f"About {noise.rate:.1%} of the labels look wrong (between {low:.1%} and {high:.1%})"]
    few = "too few to matter" if noise.rate < _CLEAN else "perhaps none"
    said[0] += "." if noisy else f", {few}, so they are trained on as they are."
    if targets is not None:
        n = len(targets.dataset)
        said.append(
            f"Two models, each asked about the half of the data that it did not see, doubt {targets.doubted:,} of "
            f"{n:,}; each label counts as far as it can be trusted, which leaves some {targets.residual:.1%} wrong."
        )
    unbalanced = rho >= _UNBALANCED
    if own:
        why = "as asked"
    elif unbalanced:
        why = f"because the largest class is {rho:.0f} times the smallest"
    else:
        why = "anchored and with normalised features, which holds against noise" if noisy else "which needs no more"
    scale = settings["method"].get("noise_rate")
    described = f"The method is {method}, {why}"
    if scale is not None and parse(method).noise_aware:
        described += f", its scale set for a noise rate of {scale:.3f}"
    if "data" in settings:
        described += "; images are shifted by up to {} pixels".format(settings["data"]["augment"][0].partition("=")[2])
    said.append(described + ".")
    if "early_stop" in settings["train"]:
        said.append(
            f"Training stops after {settings['train']['early_stop']} epochs in which held-out labels, as noisy as the "
            f"others, are predicted worse than before, and goes back to the best; weights are averaged on the way."
        )
    return " ".join(said)


def _has(asked: Mapping[str, Any], part: str, name: str) -> bool:
    return name in asked.get(part, {})


def _given(asked: Mapping[str, Any], part: str, name: str, *, default: Any) -> Any:  # noqa: ANN401 - any setting
    return asked.get(part, {}).get(name, default)
