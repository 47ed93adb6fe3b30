"""Logits of every sample from a model that never saw it: two models, each trained on a half and asked about the other.

The models are cross entropy on normalised features with anchors at a small scale, which learns what many labels agree
on long before it learns single labels by heart, and they train for a part of the run's epochs only. Two halves at a
third of the length cost a third of one training; five-fold cross-validation at full length would cost four of them.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from anchored._errors import InputError
from anchored._files import write_atomically
from anchored._random import seed_of, stream
from anchored.data import Batches, Dataset, Split
from anchored.training import Progress, RunConfig, TrainedModel
from anchored.training import fit as train
from anchored.training.config import merge
from anchored.training.evaluate import logits_of
from anchored.training.resolve import resolve
from anchored.training.runtime import make_runtime

__all__ = ["CrossFit", "cross_fit", "halves", "pilot_epochs"]

FILE = "cross_fit.safetensors"
_STEPS, _FEWEST_STEPS, _LEAST_STEPS = 900, 250, 25
_SMALL_BATCH = 64
_LEAST_SHARE, _LARGEST_SHARE, _FEW = 0.1, 0.35, 6
_PILOT_RATE = 0.2
"""The noise rate that the two models go by, scale 1: small enough to resist, large enough to learn fast."""
LEAST_LR = 0.1
"""For SGD: the gradient of cosines at a small scale is small, and rates made for free logits would waste epochs."""
_BATCH = 512


@dataclass(frozen=True, eq=False)
class CrossFit:
    """What two models said of each other's half.

    Attributes:
        logits: ``(n, k)`` float32, cosines with the anchors, in the order of the data set.
        half: ``(n,)`` int64, 0 or 1: which half a sample was in.
        epochs: How long each model was trained.
    """

    logits: Tensor
    half: Tensor
    epochs: int

    def save(self, folder: str | Path) -> None:
        """Write ``cross_fit.safetensors`` into ``folder``, which is made where it is missing."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        tensors = {"logits": self.logits.contiguous(), "half": self.half}
        about = {"epochs": str(self.epochs)}
        write_atomically(folder / FILE, lambda path: save_file(tensors, path, metadata=about))

    @classmethod
    def load(cls, folder: str | Path, *, n: int | None = None) -> CrossFit | None:
        """Read what :meth:`save` wrote; None where there is nothing, or nothing about ``n`` samples."""
        path = Path(folder) / FILE
        if not path.is_file():
            return None
        try:
            with safe_open(path, framework="pt") as file:
                found = cls(file.get_tensor("logits"), file.get_tensor("half"), int(file.metadata()["epochs"]))
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path} cannot be read ({error}); remove it") from None
        return found if n is None or len(found.logits) == n else None


def cross_fit(
    dataset: Dataset,
    settings: Mapping[str, Any] | None = None,
    *,
    module: nn.Module | None = None,
    progress: Progress | None = None,
) -> CrossFit:
    """Train on each half of ``dataset`` and look at the other.

    Args:
        dataset: As training is given it; every sample needs a label.
        settings: Those of the run that the samples are for, as :func:`anchored.training.fit` takes them: backbone,
            optimiser, batches, augmentation, seed. The method is always the one above.
        module: A backbone of your own; each half trains a copy.
        progress: Is told what happens.

    Example:
        >>> from anchored.data import load_digits
        >>> crossed = cross_fit(load_digits().train, {"train": {"epochs": 4}})
        >>> crossed.logits.shape, crossed.epochs
        (torch.Size([1437, 10]), 3)
    """
    if not dataset.labelled:
        raise InputError(f"{dataset.name}: labels can be checked only where there are some; leave the others out")
    if len(dataset) < 2 * dataset.k:
        raise InputError(
            f"{dataset.name}: {len(dataset)} samples of {dataset.k} classes are too few to train on one half and look "
            f"at the other; at least {2 * dataset.k} are needed"
        )
    config = resolve(settings or {}, dataset)
    half = halves(dataset.labels, config.train.seed)
    alone = dataset.counts[dataset.labels] == 1  # the only sample of a class is in both halves, or it would be unknown
    pilot = _pilot(config, len(dataset))
    logits = torch.empty(len(dataset), dataset.k)
    for number in (0, 1):
        seen = ((half != number) | alone).nonzero()[:, 0]
        asked = (half == number).nonzero()[:, 0]
        seed = seed_of(config.train.seed, "half", number) % 2**31
        fitted = train(
            Split(dataset.subset(seen)),
            merge(pilot, {"train": {"seed": seed}}),
            module=copy.deepcopy(module),
            progress=progress,
        )
        logits[asked] = plain_logits(fitted.model, dataset.subset(asked), fitted.config)
    return CrossFit(logits, half, int(pilot["train"]["epochs"]))


def plain_logits(model: TrainedModel, dataset: Dataset, config: RunConfig | None = None) -> Tensor:
    """Logits ``(n, k)`` before the temperature; cosines, where the head is a scale times cosines."""
    train_config = (RunConfig() if config is None else config).train
    runtime = make_runtime(train_config.device, train_config.precision)
    batches = Batches(
        dataset,
        batch_size=_BATCH,
        normalize=model.normalization,
        device=runtime.device,
        dtype=next(model.classifier.parameters()).dtype,
        workers=0 if dataset.inputs.in_memory else train_config.workers,
    )
    network = model.classifier
    home = next(network.parameters()).device
    logits = logits_of(network.to(runtime.device), batches, runtime)
    network.to(home)
    head = getattr(network, "head", None)
    # A linear head has no scale, and a head that normalises nothing has no cosines: those stay as they are.
    scale = getattr(head, "scale", None) if getattr(head, "normalize", True) else None
    return (logits / scale if isinstance(scale, float) and scale > 0 else logits).float()


def halves(labels: Tensor, seed: int) -> Tensor:
    """``(n,)`` int64, 0 or 1: halves at random in which each class has the same share, up to one sample.

    Example:
        >>> halves(torch.tensor([0, 0, 0, 0, 1, 1]), seed=0).bincount()
        tensor([3, 3])
    """
    shuffled = torch.randperm(len(labels), generator=stream(seed, "halves"))
    grouped = shuffled[labels[shuffled].argsort(stable=True)]
    # Dealt out in turns along all classes, so that classes of odd size do not all favour the same half.
    half = torch.empty_like(labels)
    half[grouped] = torch.arange(len(labels)) % 2
    return half


def pilot_epochs(epochs: int, n: int, batch_size: int) -> int:
    """How long a half trains: some 900 steps, between a tenth and a third of the run's epochs, or half of a few.

    However short the run is, 25 steps are made: models that have learnt nothing would take every label for wrong.

    Example:
        >>> pilot_epochs(40, 1437, 64), pilot_epochs(50, 60_000, 128), pilot_epochs(120, 50_000, 128)
        (14, 5, 12)
        >>> pilot_epochs(1, 120, 128)
        25
    """
    wanted = max(-(-_STEPS // _steps_of_half(n, batch_size)), round(_LEAST_SHARE * epochs))
    most = max(int(_LARGEST_SHARE * epochs), min(_FEW, epochs // 2))
    least = -(-_LEAST_STEPS // _steps_of_half(n, min(batch_size, _SMALL_BATCH)))
    return max(least, min(wanted, most))


def _steps_of_half(n: int, batch_size: int) -> int:
    """How many batches one epoch of half of ``n`` samples has."""
    return -(-(n // 2) // batch_size)


def _pilot(config: RunConfig, n: int) -> dict[str, Any]:
    """The settings of the two models: the run's, but for what concerns the method and the length."""
    settings = config.as_dict()
    epochs = pilot_epochs(config.train.epochs, n, config.train.batch_size)
    batch_size = config.train.batch_size
    if epochs * _steps_of_half(n, batch_size) < _FEWEST_STEPS:
        batch_size = min(batch_size, _SMALL_BATCH)  # more steps on the same samples
    settings["method"] = {
        "name": "ce+fnpal",
        "noise_rate": _PILOT_RATE,
        "anchors": "auto" if config.method.anchors == "paper" else config.method.anchors,
    }
    settings["second"] = None
    settings["schedule"] = {"name": "cosine", "options": {}}
    # The data comes spoilt and corrected as the run has it, and only half of it.
    settings["data"] |= {"corrupt": [], "corrections": None, "corrections_digest": None, "hold_out": 0.0}
    if config.optimizer.name == "sgd":
        settings["optimizer"]["lr"] = max(config.optimizer.lr, LEAST_LR)
    settings["train"] |= {"epochs": epochs, "batch_size": batch_size, "labels": "given"}
    settings["train"] |= {"early_stop": None, "ema": None, "evaluate": False}
    return settings
