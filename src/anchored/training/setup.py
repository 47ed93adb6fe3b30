"""Everything that one training needs, built from its configuration: parts of the data, network, stages, optimizer."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor, nn

from anchored import backbones, losses, methods, schedules
from anchored._errors import InputError
from anchored._progress import Progress
from anchored._random import stream
from anchored.data import NORMALIZATIONS, Batches, Dataset, Normalization, augment
from anchored.methods import BuildContext, Network, Stage
from anchored.training.checkpoint import ANEW, Checkpoint
from anchored.training.config import BackboneConfig, MethodConfig, OptimizerConfig, RunConfig
from anchored.training.early_stop import Best, is_worse
from anchored.training.inference import Answers, ask, evaluation_batches
from anchored.training.loop import Plan, train
from anchored.training.runtime import Runtime
from anchored.training.state import Average, EpochRecord, State, check_facts

__all__ = ["Parts", "TrainingSetup", "build_procedure", "check_possible", "make_optimizer"]


@dataclass(frozen=True, eq=False)
class Parts:
    """The data of one training.

    Attributes:
        train: What is trained on, under the labels and weights to learn.
        held_out: Kept aside for the temperature and for early stopping, or None.
        test: Scored and never trained on, or None.
    """

    train: Dataset
    held_out: Dataset | None = None
    test: Dataset | None = None


class TrainingSetup:
    """Data, network, optimizer state and plan of one training.

    Args:
        config: A resolved configuration.
        parts: The data.
        runtime: The processes that share the work.
        module: A backbone of the user's own, or None for the configured one.
    """

    def __init__(self, config: RunConfig, parts: Parts, runtime: Runtime, module: nn.Module | None = None) -> None:
        self.config, self.runtime, self.own_module = config, runtime, module is not None
        self.train_set, self.held_out = parts.train, parts.held_out
        self.test = parts.test if parts.test is not None and len(parts.test) else None
        self.counts = self.train_set.counts
        self.normalization = _normalization(config, self.train_set)
        self.procedure = _procedure(config, self.counts, self.train_set.inputs.shape, module)
        self.stages = self.procedure.stages()
        self.network = self._placed(self.procedure.network())
        self.batch_size = min(config.train.batch_size, _rounded_up(len(self.train_set), runtime.world_size))
        self.train_batches = self._train_batches()
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
        """Go on to the next stage with the network that was scored.

        Args:
            fill: Whether to compute the values that the stage begins with; False makes only the structure, for values
                that are loaded.
        """
        stage = self.stages[self.state.stage + 1]
        network = self.scored
        network.requires_grad_(True)
        if not fill:
            stage.enter(network)
        else:
            before = _StageFeatures(self, copy.deepcopy(network))  # a copy: the stage is about to change the network
            stage.enter(network)
            stage.fill(network, before)
        self.network = self._placed(network)
        state = self._state(self.network, stage)
        self.state = self.state.follow(self.network, state.optimizer, state.average)
        self.plan = self._plan()

    def run(self, *, save: Callable[[State], None] = lambda state: None, progress: Progress | None = None) -> None:
        """Train what is left of every stage.

        Args:
            save: Called with a state worth keeping.
            progress: Is told what happens.

        Example:
            >>> from anchored.data import load_digits
            >>> from anchored.runs import RunData, decide
            >>> from anchored.training import make_runtime, validate
            >>> split, settings = load_digits(), validate({"method": {"name": "ce"}, "train": {"epochs": 1}})
            >>> data = RunData.open(split, settings)
            >>> config = decide(settings, data, None).config
            >>> setup = TrainingSetup(config, data.parts(config), make_runtime("cpu"))
            >>> setup.run()
            >>> len(setup.state.history), setup.answers(split.test).logits.shape
            (1, torch.Size([360, 10]))
        """
        progress = Progress() if progress is None else progress
        while True:
            if len(self.stages) > 1:
                progress.say(f"stage {self.state.stage + 1} of {len(self.stages)}: {self.stage.name}")
            if self.stage.trained:
                train(
                    self.plan,
                    self.state,
                    self.train_batches,
                    runtime=self.runtime,
                    score=self.score,
                    save=save,
                    progress=progress,
                )
            elif self.state.stage == 0:
                self.stage.fill(self.network, _StageFeatures(self, self.network))
            if self.last:
                return
            self.enter()

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go to the position of ``checkpoint``, through the stages before it.

        Raises:
            InputError: The checkpoint is of another training, or damaged.
        """
        check_facts(checkpoint)
        if checkpoint.facts["stage"] >= len(self.stages):
            raise InputError(f"the checkpoint is of another method, with more than {len(self.stages)} stages; {ANEW}")
        for _ in range(checkpoint.facts["stage"]):
            self.enter(fill=False)  # its values are in the checkpoint
        self.state.restore(checkpoint)
        if self.state.epoch > self.state.began + self.plan.epochs:
            raise InputError(
                f"the checkpoint is after epoch {self.state.epoch}, but the run has "
                f"{self.state.began + self.plan.epochs}; {ANEW}"
            )
        if not self.runtime.main:
            self.state.sums.zero_()  # the main process goes on with the sums of all

    def answers(self, dataset: Dataset, *, features: bool = False) -> Answers:
        """Ask the network as it would be kept now about ``dataset``.

        Args:
            dataset: What to ask about.
            features: Whether the features are wanted too.

        Returns:
            Logits and features in the order of ``dataset``, on the CPU.
        """
        return self._answers(self.scored, dataset, features=features)

    @property
    def left_out(self) -> Tensor | None:
        """Logits ``(n, k)`` of the training samples from models that did not see them; None if there are none."""
        left_out: Tensor | None = getattr(self.procedure, "left_out", None)
        return left_out

    @property
    def scored(self) -> Network:
        """The network that is evaluated and kept: the average of the weights if one is kept."""
        network = self.state.scored
        assert isinstance(network, Network)
        return network

    def score(self) -> EpochRecord:
        """Score an epoch on data that is not trained on; what is returned joins the epoch's record."""
        record: EpochRecord = {}
        if self.held_out is not None:
            logits = self.answers(self.held_out).logits
            device, dtype = self.runtime.device, self.runtime.dtype
            loss = self.stage.scored_by.to(device, dtype)
            values = loss.pointwise(logits.to(device, dtype), self.held_out.labels.to(device))
            record["held_out_loss"] = float(values.mean())
            right = logits.argmax(dim=1) == self.held_out.labels
            record["held_out_accuracy"] = float(right.double().mean())
            if self.config.train.early_stop is not None:
                record["epochs_worse"] = self._epochs_worse(right)
        if self.test is not None and self._test_is_due():
            logits = self.answers(self.test).logits
            record["test_accuracy"] = float((logits.argmax(dim=1) == self.test.labels).double().mean())
        return record

    def _test_is_due(self) -> bool:
        """Whether ``train.evaluate`` asks for the test set after the epoch that ends now, counted in its stage."""
        every = int(self.config.train.evaluate)  # True is 1: after every epoch; False is 0: never
        done = self.state.epoch + 1 - self.state.began
        return every > 0 and (done % every == 0 or done == self.plan.epochs)

    def _answers(self, network: Network, dataset: Dataset, *, features: bool = False) -> Answers:
        batches = evaluation_batches(dataset, self.normalization, self.runtime, workers=self.config.train.workers)
        return ask(network, batches, self.runtime, features=features)

    def _epochs_worse(self, right: Tensor) -> int:
        """How long held-out labels have been predicted worse than at best; the epoch that ends now may be the best."""
        state = self.state
        if state.best is None or int(right.sum()) >= int(state.best.right.sum()):
            state.best = Best.of(state.scored, right, state.epoch + 1)
        return state.epochs_worse + 1 if is_worse(right, state.best.right) else 0

    def _placed(self, network: Network) -> Network:
        network = network.to(self.runtime.device, self.runtime.dtype)
        if len(network.input_shape) == 3:
            network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        return network

    def _state(self, network: Network, stage: Stage | None = None) -> State:
        stage = self.stages[0] if stage is None else stage
        config = self.config
        optimizer = make_optimizer(config.optimizer, stage.groups(network)) if stage.trained else None
        average = None if config.train.ema is None else Average(network, config.train.ema)
        return State(network, optimizer, average)

    def _plan(self) -> Plan:
        config, stage, network = self.config, self.stage, self.network
        epochs, learning_rate = _pace(config, stage)
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
            every_step=stage.every_step,
            samples=config.train.samples,
            sampling=stage.sampling,
            class_run=config.train.class_run,
            companion=stage.companion,
            share=lambda epoch: stage.share(epoch / epochs),
            begin_epoch=lambda epoch: stage.begin_epoch(network, epoch / epochs),
            class_weights=lambda epoch: balanced if balanced is not None and epoch >= begins else None,
            sample_weights=self.train_set.weights,
            mixup_alpha=config.method.mixup_alpha if stage.mixup else None,
            clip=config.optimizer.clip,
            early_stop=config.train.early_stop,
            checkpoint_seconds=config.train.checkpoint_seconds,
            compile=config.train.compile,
        )

    def _train_batches(self) -> Batches:
        names = self.config.data.augment
        assert not isinstance(names, str), "resolved before"
        return Batches(
            self.train_set,
            batch_size=self.batch_size // self.runtime.world_size,
            augment=augment.compose(names),
            normalize=self.normalization,
            device=self.runtime.device,
            dtype=self.runtime.dtype,
            workers=0 if self.train_set.inputs.in_memory else self.config.train.workers,
        )


class _StageFeatures:
    """Features of the network as it was before a stage changed it."""

    def __init__(self, setup: TrainingSetup, network: Network) -> None:
        self.setup, self.network = setup, network

    def features(self, part: Literal["train", "held-out"]) -> tuple[Tensor, Tensor] | None:
        """Features ``(n, d)`` and labels ``(n,)`` in evaluation mode, on the CPU; None if nothing is held out."""
        dataset = self.setup.train_set if part == "train" else self.setup.held_out
        if dataset is None:
            return None
        features = self.setup._answers(self.network, dataset, features=True).features
        assert features is not None, "asked for"
        return features, dataset.labels

    def samples(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """The normalised training inputs in float64, labels and weights, on the CPU."""
        dataset = self.setup.train_set
        inputs = dataset.inputs.take(torch.arange(len(dataset)))
        return self.setup.normalization(inputs, dtype=torch.float64), dataset.labels, dataset.weights


def build_procedure(
    method: MethodConfig,
    backbone: BackboneConfig,
    counts: Tensor,
    shape: tuple[int, ...],
    *,
    seed: int = 0,
    module: nn.Module | None = None,
    blank: bool = False,
) -> methods.Procedure:
    """Build the network and the stages of a method, for training or to load weights into.

    Args:
        method: The resolved ``method`` part of a configuration.
        backbone: Its ``backbone`` part.
        counts: Training samples per class ``(k,)``.
        shape: Shape of one input.
        seed: Seed of the initial weights.
        module: A backbone of the user's own instead of the configured one.
        blank: Whether values are going to be loaded, so that expensive ones need not be made.

    Returns:
        The procedure, whose ``network()`` and ``stages()`` give the parts.

    Example:
        >>> method, backbone = MethodConfig(name="crt", noise_rate=0.0), BackboneConfig(name="tiny")
        >>> built = build_procedure(method, backbone, torch.tensor([50, 5]), (4,))
        >>> [stage.settings for stage in built.stages()], built.network()(torch.zeros(3, 4)).shape
        (['first', 'second'], torch.Size([3, 2]))
    """
    rate, scale = method.noise_rate, method.scale
    return methods.make_procedure(
        BuildContext(
            method=methods.parse(method.name),
            backbone=partial(_backbone, backbone, shape, len(counts), module, seed),
            counts=counts,
            shape=shape,
            seed=seed,
            noise_rate=None if rate == "auto" else rate,
            scale=None if scale == "auto" else scale,
            anchors=method.anchors,
            loss=method.loss,
            options=method.options,
            blank=blank,
        )
    )


def check_possible(config: RunConfig, counts: Tensor, shape: tuple[int, ...], module: nn.Module | None = None) -> None:
    """Refuse settings that training would stumble over later: names, options, stages, schedules, the optimizer.

    Args:
        config: A resolved configuration.
        counts: Training samples per class ``(k,)``.
        shape: Shape of one input.
        module: A backbone of the user's own.

    Raises:
        InputError: Something cannot be built; nothing was trained or written.

    Example:
        >>> changes = {"data": {"augment": ["flap"]}, "method": {"name": "ce"}, "backbone": {"name": "tiny"}}
        >>> check_possible(RunConfig().change(changes), torch.tensor([5, 5]), (4,))
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: unknown augmentation 'flap'; did you mean 'flip'?
    """
    procedure = _procedure(config, counts, shape, copy.deepcopy(module))
    if config.method.scale != "auto" and procedure.method.head == "linear":
        raise InputError(f"method {procedure.method.name!r} has no scale; leave out method.scale, or choose ...+pal")
    network = procedure.network()
    for number, stage in enumerate(procedure.stages()):
        if number:
            network.requires_grad_(True)
            stage.enter(network)
        _pace(config, stage)
        if stage.trained:
            make_optimizer(config.optimizer, stage.groups(network))
    names = config.data.augment
    assert not isinstance(names, str), "resolved before"
    augment.compose(names)


def make_optimizer(
    config: OptimizerConfig, parameters: Iterable[nn.Parameter | methods.Group]
) -> torch.optim.Optimizer:
    """Make SGD or AdamW; weight decay covers every parameter, biases and BatchNorm included, as in the references.

    Args:
        config: Which optimizer, and its settings.
        parameters: What is trained: parameters, or groups of them with factors on the learning rate.

    Returns:
        The optimizer over those parameters that require a gradient.

    Example:
        >>> type(make_optimizer(OptimizerConfig(lr=0.1), nn.Linear(2, 2).parameters())).__name__
        'SGD'
    """
    trained: list[dict[str, Any]] = []
    loose: list[nn.Parameter] = []
    for item in parameters:
        if isinstance(item, methods.Group):
            mine = [parameter for parameter in item.parameters if parameter.requires_grad]
            if mine:
                trained.append({"params": mine, "factor": item.factor})
        elif item.requires_grad:
            loose.append(item)
    if loose:
        trained.append({"params": loose, "factor": 1.0})
    if not trained:
        raise InputError("the model has no parameter that is trained; unfreeze some, e.g. model.requires_grad_(True)")
    if config.name == "adamw":
        # On a CPU one kernel updates all parameters: a third of the time of a step of a small network is saved.
        fused = all(parameter.is_cpu for group in trained for parameter in group["params"])
        return torch.optim.AdamW(trained, lr=config.lr, weight_decay=config.weight_decay, fused=fused or None)
    return torch.optim.SGD(
        trained, lr=config.lr, momentum=config.momentum, nesterov=config.nesterov, weight_decay=config.weight_decay
    )


def _procedure(
    config: RunConfig, counts: Tensor, shape: tuple[int, ...], module: nn.Module | None
) -> methods.Procedure:
    return build_procedure(config.method, config.backbone, counts, shape, seed=config.train.seed, module=module)


def _pace(config: RunConfig, stage: Stage) -> tuple[int, Callable[[float], float]]:
    """How many epochs a stage has, and its learning rate."""
    if not stage.trained:
        return 0, lambda epoch: config.optimizer.lr
    if stage.settings == "first":
        first = schedules.get(config.schedule.name, epochs=config.train.epochs, **config.schedule.options)
        return config.train.epochs, lambda epoch: config.optimizer.lr * first(epoch)
    assert config.second is not None, "resolved before"
    epochs, rate = config.second.epochs, config.second.lr
    assert not isinstance(epochs, str), "resolved before"
    assert not isinstance(rate, str), "resolved before"
    schedule = schedules.get(config.second.schedule, epochs=epochs)
    return epochs, lambda epoch: rate * schedule(epoch)


def _normalization(config: RunConfig, data: Dataset) -> Normalization:
    name = config.data.normalize
    if name == "fit":
        return Normalization.fit(data.inputs, weights=data.weights)
    return Normalization.none(data.inputs) if name == "none" else NORMALIZATIONS[name]


def _backbone(
    made: BackboneConfig,
    shape: tuple[int, ...],
    k: int,
    module: nn.Module | None,
    seed: int,
    stream_name: str = "init",
    /,
) -> backbones.Backbone:
    """The same backbone at every call; under another ``stream_name``, one with initial weights of its own."""
    if module is not None:
        module = module if stream_name == "init" else copy.deepcopy(module)
        return module if isinstance(module, backbones.Backbone) else backbones.wrap(module, shape)
    generator = stream(seed, stream_name)
    return backbones.get(made.name, shape, num_classes=k, last_relu=made.last_relu, generator=generator, **made.options)


def _rounded_up(n: int, step: int) -> int:
    return -(-n // step) * step
