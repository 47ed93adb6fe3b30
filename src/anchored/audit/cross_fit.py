"""Logits of every sample from a model that never saw it: two models, each trained on a half and asked about the other.

The models are cross entropy on normalised features with anchors at a small scale, which learns what many labels agree
on long before it learns single labels by heart, and they train for a part of the run's epochs only. Two halves at a
third of the length cost a third of one training; five-fold cross-validation at full length would cost four of them.
"""

from __future__ import annotations

import copy
import shutil
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from anchored._errors import InputError
from anchored._files import read_tensors, write_atomically
from anchored._random import seed_of, stream
from anchored.data import Dataset
from anchored.training import (
    Checkpoint,
    LookConfig,
    Parts,
    Progress,
    RunConfig,
    Runtime,
    State,
    TrainingSetup,
    make_runtime,
    raw_logits,
)

__all__ = ["LEAST_LR", "CrossFit", "cross_fit", "halves", "look_epochs", "look_model", "look_settings"]

FILE = "cross_fit.safetensors"
_STEPS, _FEWEST_STEPS, _LEAST_STEPS = 900, 250, 25
_SMALL_BATCH = 64
_LEAST_SHARE, _LARGEST_SHARE, _FEW = 0.1, 0.35, 6
_ASSUMED_RATE = 0.2
"""The noise rate that the two models assume, scale 1: small enough to resist, large enough to learn fast."""
LEAST_LR = 0.1
"""Least learning rate for SGD: the gradient of cosines at a small scale is small, other rates would waste epochs."""


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
        """Write ``cross_fit.safetensors`` into ``folder``, which is made if it is missing."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        tensors = {"logits": self.logits.contiguous(), "half": self.half}
        about = {"epochs": str(self.epochs)}
        write_atomically(folder / FILE, lambda path: save_file(tensors, path, metadata=about))

    @classmethod
    def load(cls, folder: str | Path, *, n: int | None = None) -> CrossFit | None:
        """Read what :meth:`save` wrote.

        Args:
            folder: The folder that :meth:`save` wrote to.
            n: How many samples it must be about; None takes any number.

        Returns:
            The cross-fit, or None if there is none, or none about ``n`` samples.

        Raises:
            InputError: The file is damaged.
        """
        path = Path(folder) / FILE
        if not path.is_file():
            return None
        tensors, header = read_tensors(path, way_out="remove it")
        logits, half, epochs = tensors.get("logits"), tensors.get("half"), header.get("epochs", "")
        if (
            logits is None
            or half is None
            or not epochs.isdecimal()
            or logits.ndim != 2
            or half.shape != logits.shape[:1]
        ):
            raise InputError(f"{path} is damaged: what two models said is not in it; remove it")
        return cls(logits, half, int(epochs)) if n is None or len(logits) == n else None


def cross_fit(
    dataset: Dataset,
    config: RunConfig,
    *,
    module: nn.Module | None = None,
    folder: str | Path | None = None,
    progress: Progress | None = None,
) -> CrossFit:
    """Train on each half of ``dataset`` and ask about the other.

    Args:
        dataset: The data as training is given it; every sample needs a label.
        config: The resolved configuration of the run that the samples are for: backbone, optimizer, seed. Its ``look``
            says how the two models are trained; the method is always ``ce+fnpal``.
        module: A backbone of your own; each half trains a copy.
        folder: Where to keep the work as it is made; what is there already is not made again. None keeps nothing.
        progress: Is told what happens.

    Returns:
        The logits of every sample from the model that did not see it.

    Example:
        >>> from anchored.data import load_digits
        >>> from anchored.runs import complete
        >>> data = load_digits().train
        >>> answers = cross_fit(data, complete({"train": {"epochs": 4}}, data))
        >>> answers.logits.shape, answers.epochs
        (torch.Size([1437, 10]), 3)
    """
    if not dataset.labelled:
        raise InputError(f"{dataset.name}: labels can be checked only if there are some; leave the others out")
    if len(dataset) < 2 * dataset.k:
        raise InputError(
            f"{dataset.name}: {len(dataset)} samples of {dataset.k} classes are too few to train on one half and look "
            f"at the other; at least {2 * dataset.k} are needed"
        )
    kept = None if folder is None else CrossFit.load(folder, n=len(dataset))
    if kept is not None:
        return kept
    look = config.look if isinstance(config.look, LookConfig) else look_settings(config, len(dataset))
    half = halves(dataset.labels, config.train.seed)
    alone = dataset.counts[dataset.labels] == 1  # the only sample of a class is in both halves, or it would be unknown
    runtime = make_runtime(config.train.device, config.train.precision)
    logits = torch.empty(len(dataset), dataset.k)
    for number in (0, 1):
        asked = (half == number).nonzero()[:, 0]
        work = None if folder is None else _Half(Path(folder) / f"half-{number}", runtime)
        answered = None if work is None else work.answered(len(asked), dataset.k)
        if answered is None:
            seen = dataset.subset(((half != number) | alone).nonzero()[:, 0])
            seed = seed_of(config.train.seed, "half", number) % 2**31
            setup = TrainingSetup(look_model(config, look, seed=seed), Parts(seen), runtime, copy.deepcopy(module))
            if work is not None:
                work.take_up(setup)
            setup.run(save=(lambda state: None) if work is None else work.save, progress=_told(progress, runtime))
            answered = raw_logits(
                setup.scored, dataset.subset(asked), setup.normalization, runtime, workers=config.train.workers
            )
            if work is not None:
                work.answer(answered)
        logits[asked] = answered
    found = CrossFit(logits, half, look.epochs)
    if folder is not None and runtime.main:
        found.save(folder)
        for number in (0, 1):
            shutil.rmtree(Path(folder) / f"half-{number}", ignore_errors=True)
    return found


class _Half:
    """The files of one half's training: a checkpoint while it trains, its answers once it has."""

    def __init__(self, folder: Path, runtime: Runtime) -> None:
        self.folder, self.main = folder, runtime.main

    def answered(self, n: int, k: int) -> Tensor | None:
        path = self.folder / "answers.safetensors"
        if not path.is_file():
            return None
        try:
            logits = read_tensors(path).tensors.get("logits")
        except InputError:
            return None  # made again
        return logits if logits is not None and logits.shape == (n, k) else None

    def take_up(self, setup: TrainingSetup) -> None:
        path = self.folder / "last.safetensors"
        if path.is_file():
            setup.restore(Checkpoint.load(path))

    def save(self, state: State) -> None:
        if self.main:
            self.folder.mkdir(parents=True, exist_ok=True)
            state.checkpoint().save(self.folder / "last.safetensors")

    def answer(self, logits: Tensor) -> None:
        if self.main:
            self.folder.mkdir(parents=True, exist_ok=True)
            tensors = {"logits": logits.contiguous()}
            write_atomically(self.folder / "answers.safetensors", lambda path: save_file(tensors, path))


def _told(progress: Progress | None, runtime: Runtime) -> Progress:
    return progress if progress is not None and runtime.main else Progress()


def halves(labels: Tensor, seed: int) -> Tensor:
    """Divide samples at random into halves in which each class has the same share, up to one sample.

    Args:
        labels: ``(n,)``.
        seed: Seed of the division.

    Returns:
        ``(n,)`` int64, 0 or 1.

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


def look_epochs(epochs: int, n: int, batch_size: int) -> int:
    """Choose how long a half trains: some 900 steps, between a tenth and a third of the run's epochs, or half of a few.

    However short the run is, 25 steps are made: models that have learnt nothing would take every label for wrong.

    Args:
        epochs: Epochs of the run.
        n: Samples in all.
        batch_size: Samples per step.

    Returns:
        Epochs of each of the two models.

    Example:
        >>> look_epochs(40, 1437, 64), look_epochs(50, 60_000, 128), look_epochs(120, 50_000, 128)
        (14, 5, 12)
        >>> look_epochs(1, 120, 128)
        25
    """
    wanted = max(-(-_STEPS // _steps_of_half(n, batch_size)), round(_LEAST_SHARE * epochs))
    most = max(int(_LARGEST_SHARE * epochs), min(_FEW, epochs // 2))
    least = -(-_LEAST_STEPS // _steps_of_half(n, min(batch_size, _SMALL_BATCH)))
    return max(least, min(wanted, most))


def look_settings(config: RunConfig, n: int) -> LookConfig:
    """Choose how the two models are trained for a run of ``config`` on ``n`` samples.

    Args:
        config: The resolved configuration of the run.
        n: Training samples.

    Returns:
        What ``config.look`` records.

    Example:
        >>> from anchored.data import load_digits
        >>> from anchored.runs import complete
        >>> look = look_settings(complete({"data": {"source": "digits"}}, load_digits().train), 1437)
        >>> look.epochs, look.batch_size, look.lr
        (14, 64, 0.1)
    """
    epochs = look_epochs(config.train.epochs, n, config.train.batch_size)
    batch_size = config.train.batch_size
    if epochs * _steps_of_half(n, batch_size) < _FEWEST_STEPS:
        batch_size = min(batch_size, _SMALL_BATCH)  # more steps on the same samples
    lr = max(config.optimizer.lr, LEAST_LR) if config.optimizer.name == "sgd" else config.optimizer.lr
    augment = config.data.augment
    assert not isinstance(augment, str), "resolved before"
    return LookConfig(epochs=epochs, batch_size=batch_size, lr=lr, augment=augment)


def _steps_of_half(n: int, batch_size: int) -> int:
    """How many batches one epoch of half of ``n`` samples has."""
    return -(-(n // 2) // batch_size)


def look_model(config: RunConfig, look: LookConfig, *, seed: int = 0) -> RunConfig:
    """Make the configuration of one of the two models: the run's, but for what concerns the method and the length.

    Args:
        config: The resolved configuration of the run.
        look: How the two models are trained.
        seed: Seed of this model.

    Returns:
        A resolved configuration.

    Example:
        >>> look = LookConfig(epochs=3, batch_size=64, lr=0.1)
        >>> config = look_model(RunConfig(), look, seed=7)
        >>> config.method.name, config.train.epochs, config.train.seed
        ('ce+fnpal', 3, 7)
    """
    anchors = config.method.anchors
    return config.model_copy(
        update={
            "data": config.data.model_copy(update={"augment": look.augment, "hold_out": 0.0}),
            "method": type(config.method)(
                name="ce+fnpal",
                noise_rate=_ASSUMED_RATE,
                anchors="auto" if anchors.startswith("paper") else anchors,
            ),
            "optimizer": config.optimizer.model_copy(update={"lr": look.lr}),
            "schedule": config.schedule if config.schedule.name == "cosine" else type(config.schedule)(),
            "second": None,
            "train": config.train.model_copy(
                update={
                    "epochs": look.epochs,
                    "batch_size": look.batch_size,
                    "seed": seed,
                    "early_stop": None,
                    "ema": None,
                    "evaluate": False,
                }
            ),
        }
    )
