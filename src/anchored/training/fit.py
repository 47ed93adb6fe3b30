"""From data and a configuration to a trained, calibrated model: the whole way in one function."""

from __future__ import annotations

import copy
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from anchored import __version__, backbones, losses, methods, schedules
from anchored._errors import InputError
from anchored._random import stream
from anchored.data import NORMALIZATIONS, Batches, Dataset, Normalization, Split, corrupt, hold_out
from anchored.training.augmentation import make_augmentation
from anchored.training.average import Average
from anchored.training.calibration import fit_noise_and_temperature, fit_temperature, least_temperature
from anchored.training.classifier import Classifier
from anchored.training.config import RunConfig, validate
from anchored.training.evaluate import collect, logits_of
from anchored.training.loop import Plan, train
from anchored.training.optimizers import make_optimizer
from anchored.training.progress import Progress
from anchored.training.resolve import resolve
from anchored.training.run_folder import RunFolder
from anchored.training.runtime import Runtime, make_runtime
from anchored.training.scores import cosine_margins, scores
from anchored.training.state import Record, State
from anchored.training.trained import OWN, TrainedModel

__all__ = ["Fitted", "fit"]

_EVALUATION_BATCH = 512


@dataclass(frozen=True)
class Fitted:
    """What a run gives back.

    Attributes:
        model: Ready to use.
        config: Everything that decided the result.
        history: One record per epoch.
        result: The final numbers, as in ``result.json``.
    """

    model: TrainedModel
    config: RunConfig
    history: list[Record]
    result: dict[str, Any]


def fit(
    split: Split,
    settings: Mapping[str, Any] | None = None,
    *,
    folder: RunFolder | str | Path | None = None,
    module: nn.Module | None = None,
    progress: Progress | None = None,
) -> Fitted:
    """Train on ``split.train``, calibrate, and score on ``split.test`` where there is one.

    Args:
        split: The data; ``settings["data"]["corrupt"]`` is applied to the training part here.
        settings: A nested dictionary, see :class:`~anchored.training.config.RunConfig`; what is not
            named follows the recipe for this kind of data.
        folder: Where the run is kept: a path for a new one; ``RunFolder.open(path)`` takes up a started one
            where it stopped. None keeps nothing.
        module: A backbone of your own, instead of the configured one.
        progress: Is told what happens.

    Example:
        >>> from anchored.data import load_digits
        >>> fitted = fit(load_digits(), {"method": {"name": "ce+fnpal"}, "train": {"epochs": 1}})
        >>> fitted.result["test"]["accuracy"] > 0.5
        True
    """
    progress = Progress() if progress is None else progress
    asked = validate(settings or {})
    data, receipt = split.train, {}
    if asked.data.corrupt:
        corrupted = corrupt(data, asked.data.corrupt, seed=asked.train.seed)
        data, receipt = corrupted.dataset, corrupted.receipt
    _check_trainable(data)
    config = resolve(settings or {}, data)
    # Before the processes meet: the first of them to go on would fill the folder, and the others find it taken.
    run = folder if isinstance(folder, RunFolder) or folder is None else RunFolder.plan(folder)
    runtime = make_runtime(config.train.device, config.train.precision)
    work = _Work(config, data, split.test, runtime, module)
    # Only now, when every setting has proved possible: a refusal leaves nothing behind.
    if run is not None:
        _take_up(run, config, work.state, runtime)
    speed = [] if run is None else run.read_lines("speed.jsonl")[: work.state.epoch]
    train(
        work.plan,
        work.state,
        work.train_batches,
        runtime=runtime,
        score=work.score,
        save=lambda state: _save(run, state, runtime),
        progress=_Recorder(progress if runtime.main else Progress(), run if runtime.main else None, speed),
    )
    model, result = work.finish(receipt)
    if run is not None and runtime.main:
        model.save(run.path)
        run.write_result(result)
    return Fitted(model, config, work.state.history, result)


class _Work:
    """The pieces of one run, built from its configuration."""

    def __init__(
        self, config: RunConfig, data: Dataset, test: Dataset | None, runtime: Runtime, module: nn.Module | None
    ) -> None:
        seed = config.train.seed
        share = config.data.hold_out
        assert not isinstance(share, str), "resolved before"
        self.config, self.runtime, self.own_module = config, runtime, module is not None
        self.train_set, self.held_out = _parts(data, share, seed)
        self.test = test if test is not None and len(test) else None
        self.method = methods.parse(config.method.name)
        self.normalization = _normalization(config, self.train_set)
        self.counts = self.train_set.counts
        shape = self.train_set.inputs.shape
        backbone = _backbone(config, shape, data.k, module)
        rate, scale = config.method.noise_rate, config.method.scale
        head = methods.make_head(
            self.method,
            int(backbone.feature_dim),  # type: ignore[arg-type]
            data.k,
            signed_features=bool(backbone.signed_features),
            noise_rate=None if rate == "auto" else rate,
            scale=None if scale == "auto" else scale,
            anchors=config.method.anchors,
            generator=stream(seed, "head"),
        )
        model = Classifier(backbone, head).to(runtime.device, runtime.dtype)
        if len(shape) == 3:
            model = model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.state = State(
            model,
            make_optimizer(config.optimizer, model.parameters()),
            None if config.train.ema is None else Average(model, config.train.ema),
        )
        self.plan = self._plan()
        self.train_batches = self._batches(self.train_set, training=True)
        self.held_batches = None if self.held_out is None else self._batches(self.held_out)
        self.test_batches = None if self.test is None else self._batches(self.test)
        self.weights = None if self.held_out is None else self.held_out.weights

    def _plan(self) -> Plan:
        config, method = self.config, self.method
        schedule = schedules.get(config.schedule.name, epochs=config.train.epochs, **config.schedule.options)
        start = config.train.drw_start * config.train.epochs
        balanced = None
        if method.deferred or method.weighting != "none":
            balanced = losses.class_balanced_weights(self.counts, beta=config.train.class_weight_beta)
        begins = 0.0 if method.weighting != "none" else start
        return Plan(
            loss=methods.make_loss(method, counts=self.counts.tolist(), settings=config.method.loss).to(
                self.runtime.device, self.runtime.dtype
            ),
            epochs=config.train.epochs,
            batch_size=min(config.train.batch_size, _rounded_up(len(self.train_set), self.runtime.world_size)),
            seed=config.train.seed,
            learning_rate=lambda epoch: config.optimizer.lr * schedule(epoch),
            sampling=method.sampling,
            class_weights=lambda epoch: balanced if balanced is not None and epoch >= begins else None,
            sample_weights=self.train_set.weights,
            mixup_alpha=config.method.mixup_alpha if method.mixup else None,
            clip=config.optimizer.clip,
            early_stop=config.train.early_stop,
            checkpoint_seconds=config.train.checkpoint_seconds,
            compile=config.train.compile,
        )

    def _batches(self, dataset: Dataset, *, training: bool = False) -> Batches:
        names = self.config.data.augment
        assert not isinstance(names, str), "resolved before"
        in_memory = not hasattr(dataset.inputs, "paths")
        return Batches(
            dataset,
            batch_size=self.plan.batch_size // self.runtime.world_size if training else _EVALUATION_BATCH,
            augment=make_augmentation(names) if training else None,
            normalize=self.normalization,
            device=self.runtime.device,
            dtype=self.runtime.dtype,
            workers=0 if in_memory else self.config.train.workers,
        )

    def score(self) -> Record:
        """What an epoch's record says of data that is not trained on."""
        record: Record = {}
        if self.held_batches is not None and self.held_out is not None:
            logits = logits_of(self.state.scored, self.held_batches, self.runtime)
            device, dtype = self.runtime.device, self.runtime.dtype
            values = self.plan.loss.pointwise(logits.to(device, dtype), self.held_out.labels.to(device))
            record["held_out_loss"] = float(values.mean())
            record["held_out_accuracy"] = float((logits.argmax(dim=1) == self.held_out.labels).double().mean())
        if self.test_batches is not None and self.test is not None and self.config.train.evaluate:
            logits = logits_of(self.state.scored, self.test_batches, self.runtime)
            record["test_accuracy"] = float((logits.argmax(dim=1) == self.test.labels).double().mean())
        return record

    def finish(self, receipt: dict[str, Any]) -> tuple[TrainedModel, dict[str, Any]]:
        """The model with its temperature, and the final numbers."""
        config, history = self.config, self.state.history
        classifier = self.state.scored
        assert isinstance(classifier, Classifier)
        temperature, about = self._calibrate(classifier)
        result: dict[str, Any] = {
            "config_hash": config.content_hash,
            "method": self.method.name,
            "description": self.method.describe(),
            "epochs": len(history),
            "samples": len(self.train_set),
            "class_counts": self.counts.tolist(),
            "corruption": receipt,
            "temperature": temperature,
            "calibration": about,
            "history_best": _best(history),
            "versions": {"anchored": __version__, "torch": torch.__version__, "python": platform.python_version()},
        }
        for name, dataset, batches in (
            ("held_out", self.held_out, self.held_batches),
            ("test", self.test, self.test_batches),
        ):
            if dataset is not None and batches is not None and dataset.labelled:
                logits, features = collect(classifier, batches, self.runtime, features=True)
                labels = dataset.labels if dataset.clean_labels is None else dataset.clean_labels
                numbers = scores(logits, labels, temperature=temperature, counts=self.counts.tolist())
                rows = classifier.head.rows().detach().cpu()  # type: ignore[operator]
                result[name] = numbers | cosine_margins(features, rows, labels)
        made = config.backbone
        description = {
            "method": self.method.name,
            "backbone": {"name": OWN} if self.own_module else made.model_dump(mode="json"),
            "columns": None if self.train_set.columns is None else list(self.train_set.columns),
            "config_hash": config.content_hash,
            "training_counts": self.counts.tolist(),
        }
        plain = copy.deepcopy(classifier).to("cpu").requires_grad_(False)
        return TrainedModel(plain, self.normalization, self.train_set.class_names, temperature, description), result

    def _calibrate(self, classifier: Classifier) -> tuple[float, dict[str, Any]]:
        """The temperature, fitted on what was held out; on the training data only where nothing was."""
        dataset = self.train_set if self.held_out is None else self.held_out
        batches = self._batches(dataset)
        logits = logits_of(classifier, batches, self.runtime)
        weights: Tensor | None = dataset.weights
        about: dict[str, Any] = {"on": "training data" if self.held_out is None else "held-out data", "n": len(dataset)}
        if dataset.clean_labels is not None:
            # The rate that was really drawn; the labels themselves stay unseen.
            rate = float(dataset.clean_labels.ne(dataset.labels).double().mean())
            temperature = fit_temperature(logits, dataset.labels, noise_rate=rate, weights=weights)
        else:
            rate, temperature = fit_noise_and_temperature(logits, dataset.labels, weights=weights)
        about["noise_rate"] = rate
        return max(temperature, least_temperature(logits, weights=weights)), about


class _Recorder(Progress):
    """Passes everything on, and keeps each epoch's speed with the run."""

    def __init__(self, inner: Progress, run: RunFolder | None, speed: list[dict[str, Any]]) -> None:
        self.start, self.step, self.say, self.stop = inner.start, inner.step, inner.say, inner.stop  # type: ignore[method-assign]
        self.inner, self.run, self.speed = inner, run, speed

    def epoch(self, record: Mapping[str, float | int | None], *, seconds: float, samples: int) -> None:
        self.inner.epoch(record, seconds=seconds, samples=samples)
        if self.run is not None:
            rate = samples / seconds if seconds > 0 else None
            self.speed.append({"epoch": record["epoch"], "seconds": seconds, "samples_per_second": rate})
            self.run.write_lines("speed.jsonl", self.speed)


def _take_up(run: RunFolder, config: RunConfig, state: State, runtime: Runtime) -> None:
    """Bring ``state`` to the run's checkpoint, where there is one, and the folder to what the state is."""
    checkpoint = run.read_checkpoint()
    if checkpoint is not None:
        state.restore(checkpoint)
        if not runtime.main:
            state.sums.zero_()  # the main process goes on with the sums of all
    if runtime.main:
        run.make()
        run.sweep()
        if not run.started or run.read_config() != config:
            run.write_config(config)
        # A crash may have come between the last checkpoint and its history.
        run.write_lines("history.jsonl", state.history)


def _rounded_up(n: int, step: int) -> int:
    return -(-n // step) * step


def _save(run: RunFolder | None, state: State, runtime: Runtime) -> None:
    if run is not None and runtime.main:
        run.write_checkpoint(state.checkpoint())


def _check_trainable(data: Dataset) -> None:
    if not data.labelled:
        raise InputError(f"{data.name}: every training sample needs a label; give a label column or class folders")
    if data.k < 2:
        raise InputError(f"{data.name}: only one class, {data.class_names[0]!r}; a classifier needs at least two")
    missing = [name for name, count in zip(data.class_names, data.counts.tolist(), strict=True) if count == 0]
    if missing:
        raise InputError(f"{data.name}: no training sample of class {missing[0]!r}; add some, or leave the class out")


def _parts(data: Dataset, share: float, seed: int) -> tuple[Dataset, Dataset | None]:
    return (data, None) if share == 0 else hold_out(data, share, seed)


def _normalization(config: RunConfig, data: Dataset) -> Normalization:
    name = config.data.normalize
    if name == "fit":
        return Normalization.fit(data.inputs, weights=data.weights)
    if name not in NORMALIZATIONS:
        known = ", ".join(["fit", *NORMALIZATIONS])
        raise InputError(f"unknown normalisation {name!r}; choose from {known}")
    return NORMALIZATIONS[name]


def _backbone(config: RunConfig, shape: tuple[int, ...], k: int, module: nn.Module | None) -> nn.Module:
    if module is not None:
        return module if isinstance(module, backbones.Backbone) else backbones.wrap(module, shape)
    made = config.backbone
    generator = stream(config.train.seed, "init")
    return backbones.make(
        made.name, shape, num_classes=k, last_relu=made.last_relu, generator=generator, **made.options
    )


def _best(history: list[Record]) -> dict[str, float | int | None]:
    """The best test epoch, which is reported beside the last one and never chosen by."""
    scored = [record for record in history if record.get("test_accuracy") is not None]
    if not scored:
        return {}
    best = max(scored, key=lambda record: record["test_accuracy"] or 0.0)
    return {"epoch": best["epoch"], "test_accuracy": best["test_accuracy"]}
