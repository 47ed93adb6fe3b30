"""The pieces of one run, built from its configuration: data, network, and for each stage a plan and a state."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Literal

import torch
from torch import Tensor, nn

from anchored import backbones, losses, methods, schedules
from anchored._errors import InputError
from anchored._random import stream
from anchored.data import NORMALIZATIONS, Batches, Dataset, Normalization
from anchored.data.holdout import held_out_mask
from anchored.methods import Given, MakesBackbone, Network, Stage
from anchored.training.augmentation import make_augmentation
from anchored.training.average import Average
from anchored.training.config import RunConfig
from anchored.training.early_stop import Best, is_worse
from anchored.training.evaluate import collect, logits_of
from anchored.training.loop import Plan
from anchored.training.optimizers import make_optimizer
from anchored.training.runtime import Runtime
from anchored.training.state import Record, State

__all__ = ["Work", "given_for"]

_EVALUATION_BATCH = 512


class Work:
    """Everything that a run trains and looks at.

    Args:
        config: Resolved.
        data: The training data, corrupted where that was asked for.
        test: Scored, never trained on.
        runtime: The processes that share the work.
        module: A backbone of the user's own, or None for the configured one.
        targets: The same data under the labels and weights to learn instead, or None.
        truth: Probabilities ``(n, k)`` of the true labels, as far as somebody has looked; or None.
    """

    def __init__(
        self,
        config: RunConfig,
        data: Dataset,
        test: Dataset | None,
        runtime: Runtime,
        module: nn.Module | None,
        *,
        targets: Dataset | None = None,
        truth: Tensor | None = None,
    ) -> None:
        share = config.data.hold_out
        assert not isinstance(share, str), "resolved before"
        self.config, self.runtime, self.own_module = config, runtime, module is not None
        self.train_set: Dataset = data
        self.held_out: Dataset | None = None
        kept = judged = torch.arange(len(data))
        if share > 0:
            held = held_out_mask(data, share, config.train.seed)
            kept, judged = (~held).nonzero()[:, 0], held.nonzero()[:, 0]
            self.train_set, self.held_out = data.subset(kept), data.subset(judged)
        # Of the samples that the finished model is judged by: what is held out, else all.
        self.truth = None if truth is None else truth[judged]
        if targets is not None:
            self.train_set = targets.subset(kept)
        self.test = test if test is not None and len(test) else None
        self.counts = self.train_set.counts
        self.normalization = _normalization(config, self.train_set)
        shape = self.train_set.inputs.shape
        given = given_for(config, self.counts, partial(_backbone, config, shape, data.k, module))
        self.procedure = methods.procedure(given)
        self.stages = self.procedure.stages()
        self.network = self._placed(self.procedure.network())
        self.batch_size = min(config.train.batch_size, _rounded_up(len(self.train_set), runtime.world_size))
        self.train_batches = self._batches(self.train_set, training=True)
        self.held_batches = None if self.held_out is None else self._batches(self.held_out)
        self.test_batches = None if self.test is None else self._batches(self.test)
        self.state = self._state(self.network)
        self.plan = self._plan()

    @property
    def stage(self) -> Stage:
        """The stage under way."""
        return self.stages[self.state.stage]

    @property
    def last(self) -> bool:
        """Whether no stage follows."""
        return self.state.stage == len(self.stages) - 1

    def enter(self, *, fill: bool = True) -> None:
        """Go on to the next stage; without ``fill`` only its structure is made, for values that are loaded.

        The network that was scored, the average where one was kept, is the one that goes on.
        """
        stage = self.stages[self.state.stage + 1]
        network = self.state.scored
        assert isinstance(network, Network)
        network.requires_grad_(True)
        if not fill:
            stage.enter(network)
        else:
            # A copy, because the stage is about to change the network that the evidence speaks of.
            evidence = _Evidence(self, copy.deepcopy(network))
            stage.enter(network)
            stage.fill(network, evidence)
        self.network = self._placed(network)
        state = self._state(self.network, stage)
        self.state = self.state.follow(self.network, state.optimizer, state.average)
        self.plan = self._plan()

    def score(self) -> Record:
        """What an epoch's record says of data that is not trained on."""
        record: Record = {}
        if self.held_batches is not None and self.held_out is not None:
            logits = logits_of(self.state.scored, self.held_batches, self.runtime)
            device, dtype = self.runtime.device, self.runtime.dtype
            loss = self.stage.scored_by.to(device, dtype)
            values = loss.pointwise(logits.to(device, dtype), self.held_out.labels.to(device))
            record["held_out_loss"] = float(values.mean())
            right = logits.argmax(dim=1) == self.held_out.labels
            record["held_out_accuracy"] = float(right.double().mean())
            if self.config.train.early_stop is not None:
                record["epochs_worse"] = self._epochs_worse(right)
        if self.test_batches is not None and self.test is not None and self.config.train.evaluate:
            logits = logits_of(self.state.scored, self.test_batches, self.runtime)
            record["test_accuracy"] = float((logits.argmax(dim=1) == self.test.labels).double().mean())
        return record

    def _epochs_worse(self, right: Tensor) -> int:
        """How long held-out labels have been predicted worse than at best; the epoch that ends now may be the best."""
        state = self.state
        if state.best is None or int(right.sum()) >= int(state.best.right.sum()):
            state.best = Best.of(state.scored, right, state.epoch + 1)
        return state.epochs_worse + 1 if is_worse(right, state.best.right) else 0

    def batches(self, dataset: Dataset) -> Batches:
        """Batches of ``dataset`` as they are scored: in order, without augmentation."""
        return self._batches(dataset)

    def _placed(self, network: Network) -> Network:
        network = network.to(self.runtime.device, self.runtime.dtype)
        if len(network.input_shape) == 3:
            network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        return network

    def _state(self, network: Network, stage: Stage | None = None) -> State:
        stage = self.stages[0] if stage is None else stage
        config = self.config
        # A stage that trains nothing has no use for an optimiser, but a state has one.
        groups = stage.groups(network) if stage.trained else [methods.Group([nn.Parameter(torch.zeros(()))])]
        average = None if config.train.ema is None else Average(network, config.train.ema)
        return State(network, make_optimizer(config.optimizer, groups), average)

    def _plan(self) -> Plan:
        config, stage, network = self.config, self.stage, self.network
        epochs, learning_rate = self._pace(stage)
        start = config.train.drw_start * epochs
        balanced = None
        if stage.deferred or stage.weighted:
            balanced = losses.class_balanced_weights(self.counts, beta=config.train.class_weight_beta)
        begins = 0.0 if stage.weighted else start
        objective = stage.loss
        if isinstance(objective, nn.Module):
            objective = objective.to(self.runtime.device, self.runtime.dtype)
        return Plan(
            loss=objective,
            epochs=epochs,
            batch_size=self.batch_size,
            seed=config.train.seed,
            learning_rate=learning_rate,
            sampling=stage.sampling,
            companion=stage.companion,
            share=lambda epoch: stage.share(epoch / epochs),
            prepare=lambda epoch: stage.prepare(network, epoch / epochs),
            class_weights=lambda epoch: balanced if balanced is not None and epoch >= begins else None,
            sample_weights=self.train_set.weights,
            mixup_alpha=config.method.mixup_alpha if stage.mixup else None,
            clip=config.optimizer.clip,
            early_stop=config.train.early_stop,
            checkpoint_seconds=config.train.checkpoint_seconds,
            compile=config.train.compile,
        )

    def _pace(self, stage: Stage) -> tuple[int, Callable[[int], float]]:
        """How many epochs a stage has, and its learning rate."""
        config = self.config
        if not stage.trained:
            return 0, lambda epoch: config.optimizer.lr
        if not stage.second:
            first = schedules.get(config.schedule.name, epochs=config.train.epochs, **config.schedule.options)
            return config.train.epochs, lambda epoch: config.optimizer.lr * first(epoch)
        assert config.second is not None, "resolved before"
        epochs, rate = config.second.epochs, config.second.lr
        assert not isinstance(epochs, str), "resolved before"
        assert not isinstance(rate, str), "resolved before"
        schedule = schedules.get(config.second.schedule, epochs=epochs)
        return epochs, lambda epoch: rate * schedule(epoch)

    def _batches(self, dataset: Dataset, *, training: bool = False) -> Batches:
        names = self.config.data.augment
        assert not isinstance(names, str), "resolved before"
        in_memory = not hasattr(dataset.inputs, "paths")
        return Batches(
            dataset,
            batch_size=self.batch_size // self.runtime.world_size if training else _EVALUATION_BATCH,
            augment=make_augmentation(names) if training else None,
            normalize=self.normalization,
            device=self.runtime.device,
            dtype=self.runtime.dtype,
            workers=0 if in_memory else self.config.train.workers,
        )


class _Evidence:
    """Features of the network as it was before a stage changed it."""

    def __init__(self, work: Work, network: nn.Module) -> None:
        self.work, self.network = work, network

    def features(self, part: Literal["train", "held-out"]) -> tuple[Tensor, Tensor] | None:
        """Features ``(n, d)`` and labels ``(n,)`` in evaluation mode, on the CPU; None where nothing is held out."""
        dataset = self.work.train_set if part == "train" else self.work.held_out
        if dataset is None:
            return None
        features = collect(self.network, self.work.batches(dataset), self.work.runtime, features=True)[1]
        return features, dataset.labels


def given_for(config: RunConfig, counts: Tensor, backbone: MakesBackbone, *, blank: bool = False) -> Given:
    """What the method's pieces are made from, as the resolved ``config`` says."""
    rate, scale = config.method.noise_rate, config.method.scale
    return Given(
        method=methods.parse(config.method.name),
        backbone=backbone,
        counts=counts,
        seed=config.train.seed,
        noise_rate=None if rate == "auto" else rate,
        scale=None if scale == "auto" else scale,
        anchors=config.method.anchors,
        loss=config.method.loss,
        options=config.method.options,
        blank=blank,
    )


def _normalization(config: RunConfig, data: Dataset) -> Normalization:
    name = config.data.normalize
    if name == "fit":
        return Normalization.fit(data.inputs, weights=data.weights)
    if name == "none":
        return Normalization.none(data.inputs)
    if name not in NORMALIZATIONS:
        known = ", ".join(["fit", "none", *NORMALIZATIONS])
        raise InputError(f"unknown normalisation {name!r}; choose from {known}")
    return NORMALIZATIONS[name]


def _backbone(
    config: RunConfig, shape: tuple[int, ...], k: int, module: nn.Module | None, stream_name: str = "init", /
) -> backbones.Backbone:
    if module is not None:
        module = module if stream_name == "init" else copy.deepcopy(module)
        return module if isinstance(module, backbones.Backbone) else backbones.wrap(module, shape)
    made = config.backbone
    generator = stream(config.train.seed, stream_name)
    return backbones.get(made.name, shape, num_classes=k, last_relu=made.last_relu, generator=generator, **made.options)


def _rounded_up(n: int, step: int) -> int:
    return -(-n // step) * step
