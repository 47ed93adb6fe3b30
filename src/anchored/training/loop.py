"""The training loop: epochs of batches, a checkpoint after each, and no idea of who calls it or of the method.

Everything random is a function of (seed, epoch, batch), so going on from a checkpoint is the same,
bit for bit on a CPU, as never having stopped.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from anchored._errors import InputError
from anchored._progress import Progress
from anchored._random import seed_of, stream
from anchored.data import Batch, Batches, mixup
from anchored.imbalance import Sampling, epoch_order
from anchored.methods import Objective, Outputs, logits_in
from anchored.training.runtime import Runtime
from anchored.training.shards import Shard, shard
from anchored.training.state import EpochRecord, State

__all__ = ["Plan", "train"]

_LOOK_EVERY = 50
"""Steps between two moments at which an accelerator, or another process, is waited for."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a stage of training does, as data and pure functions of the stage's epoch, counted from 0.

    Attributes:
        loss: Maps the network's answers and labels to values; its own ``weight`` and ``reduction`` are not used.
        epochs: Number of epochs.
        batch_size: Samples per step over all processes.
        seed: Seed of all random streams.
        learning_rate: Maps the epoch to the learning rate; a group of the optimizer may carry a ``factor`` on it.
        every_step: Whether the learning rate moves with every step, at parts of an epoch, and not with every epoch.
        samples: Samples per epoch; None for the whole data set. Passes through the data then go on from one epoch to
            the next, so that every sample comes equally often.
        sampling: How an epoch is drawn; see :func:`anchored.imbalance.epoch_order`.
        class_run: Samples of one class in a row under balanced sampling.
        companion: How a second batch for each step is drawn, or None. The network gets both batches, one after the
            other, and answers for the pairs.
        share: Maps the epoch to the weight of the first batch's labels in the loss; the companion's have the rest.
        begin_epoch: Called at the beginning of every epoch, with the network in training mode.
        class_weights: Maps the epoch to weights ``(k,)`` of the classes, or None.
        sample_weights: Weights ``(n,)`` of the samples, or None.
        mixup_alpha: The Beta parameter of mixup, or None for none.
        clip: Largest norm of the gradient, or None.
        early_stop: Number of ``epochs_worse`` in a row that ends the stage, which goes back to its best epoch; or None.
        checkpoint_seconds: Seconds after which a checkpoint is written within an epoch.
        compile: Whether ``torch.compile`` makes the training step's network.
    """

    loss: Objective
    epochs: int
    batch_size: int
    seed: int
    learning_rate: Callable[[float], float]
    every_step: bool = False
    samples: int | None = None
    sampling: Sampling = "instance"
    class_run: int = 1
    companion: Sampling | None = None
    share: Callable[[int], float] = lambda epoch: 1.0
    begin_epoch: Callable[[int], None] = lambda epoch: None
    class_weights: Callable[[int], Tensor | None] = lambda epoch: None
    sample_weights: Tensor | None = None
    mixup_alpha: float | None = None
    clip: float | None = None
    early_stop: int | None = None
    checkpoint_seconds: float = 60.0
    compile: bool = False


def train(
    plan: Plan,
    state: State,
    batches: Batches,
    *,
    runtime: Runtime,
    score: Callable[[], EpochRecord] = dict,
    save: Callable[[State], None] = lambda state: None,
    progress: Progress | None = None,
) -> State:
    """Bring ``state`` to the end of ``plan``, which is that of its stage.

    Args:
        plan: What to do.
        state: Where to begin: fresh, or restored from a checkpoint. It is changed in place and returned.
        batches: The training data.
        runtime: The processes that share the work.
        score: Called after every epoch; what it returns joins the record.
        save: Called with a state worth keeping.
        progress: Is told what happens.

    Returns:
        The same state, at the end of its stage, with the best weights if it stopped early.

    Raises:
        InputError: The loss or a weight is no longer finite; the last checkpoint is kept.
    """
    progress = Progress() if progress is None else progress
    assert state.optimizer is not None, "a stage that is trained has an optimiser"
    model, optimizer = runtime.wrap(state.model, state.optimizer)
    if plan.compile:
        model = torch.compile(model)  # type: ignore[assignment]  # still a module, under another type
    batch_count = len(_shard(plan, batches, state, runtime))
    last = state.began + plan.epochs
    length = len(batches.dataset) if plan.samples is None else plan.samples
    progress.start(epochs=last, epoch=state.epoch, batches=batch_count, samples=length)
    try:
        with _own_generator():
            while state.epoch < last and (plan.early_stop is None or state.epochs_worse < plan.early_stop):
                started, begun = time.perf_counter(), state.batch
                learning_rate = plan.learning_rate(state.epoch - state.began)
                _set_rate(optimizer, learning_rate)
                _run_epoch(plan, state, batches, model, optimizer, runtime, save, progress)
                _check_weights(state)
                runtime.unify(state.scored)
                record = _record(state, learning_rate, runtime) | score()
                state.history.append(record)
                state.epoch, state.batch, state.generator = state.epoch + 1, 0, None
                state.sums = torch.zeros_like(state.sums)
                save(state)
                samples = length - begun * plan.batch_size
                progress.epoch(record, seconds=time.perf_counter() - started, samples=samples)
    finally:
        progress.stop()
    if state.better is not None:
        state.scored.load_state_dict(state.better.weights)
    return state


def _run_epoch(
    plan: Plan,
    state: State,
    batches: Batches,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    runtime: Runtime,
    save: Callable[[State], None],
    progress: Progress,
) -> None:
    model.train()
    plan.begin_epoch(state.epoch - state.began)
    part = _shard(plan, batches, state, runtime)
    # Dropout and its like draw from the global generator: ours within this block, the same for every run.
    torch.set_rng_state(_layers_generator(plan, state, runtime))
    tally = _Tally(state, runtime)
    parameters = list(state.model.parameters())
    saved = time.monotonic()
    passes = batches.epoch(part.order, seed=plan.seed, epoch=state.epoch, start=state.batch, occurrence=part.occurrence)
    companions = _companions(plan, state, batches, runtime)
    for batch, companion in zip(passes, companions, strict=False):
        place = slice(state.batch * part.batch_size, state.batch * part.batch_size + len(batch.labels))
        counts = None if part.counts is None else part.counts[place].to(runtime.device)
        total = float(part.totals[state.batch])
        if plan.every_step:
            _set_rate(optimizer, plan.learning_rate(state.epoch - state.began + state.batch / len(part)))
        step = _step(plan, state, batch, companion, counts, total, model, parameters, optimizer, runtime)
        state.batch += 1
        if state.average is not None:
            state.average.update(state.model)
        loss = tally.add(step, optimizer)
        progress.step(batch=state.batch, samples=len(batch.labels) * runtime.world_size, loss=loss)
        due = time.monotonic() - saved > plan.checkpoint_seconds
        asking = runtime.world_size == 1 or state.batch % _LOOK_EVERY == 0
        if asking and runtime.agree(due):
            tally.read(optimizer)
            _save_within(state, runtime, save)
            saved = time.monotonic()
    tally.read(optimizer)


def _set_rate(optimizer: torch.optim.Optimizer, learning_rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = learning_rate * group.get("factor", 1.0)


def _layers_generator(plan: Plan, state: State, runtime: Runtime) -> Tensor:
    """The state that layers draw from: this process's own from the checkpoint, else that of the epoch."""
    if state.generator is not None and len(state.generator) == runtime.world_size:
        return state.generator[runtime.rank].clone()  # torch reads a state from the beginning of its storage
    return stream(plan.seed, "layers", state.epoch, runtime.rank).get_state()


def _save_within(state: State, runtime: Runtime, save: Callable[[State], None]) -> None:
    """Save within an epoch: what the processes hold apart, the sums and the generators, comes together first."""
    _check_weights(state)
    state.generator = runtime.gather(torch.get_rng_state()[None])
    total = runtime.sum(state.sums)
    state.sums = total if runtime.main else torch.zeros_like(total)
    save(state)


class _Step(NamedTuple):
    """What one step adds to the epoch's numbers; the first two stay on their device."""

    loss: Tensor
    right: Tensor
    weight: float
    seen: int


class _Tally:
    """Adds up an epoch's numbers, waiting for an accelerator only now and then."""

    def __init__(self, state: State, runtime: Runtime) -> None:
        self.state = state
        self.every = 1 if runtime.device.type == "cpu" else _LOOK_EVERY
        self.waiting: list[_Step] = []
        self.last = math.nan

    def add(self, step: _Step, optimizer: torch.optim.Optimizer) -> float:
        """Note a step; returns the last loss that was looked at."""
        self.waiting.append(step)
        if len(self.waiting) >= self.every:
            self.read(optimizer)
        return self.last

    def read(self, optimizer: torch.optim.Optimizer) -> None:
        """Look at the steps that wait, and stop at a loss that is not finite."""
        first = self.state.batch - len(self.waiting) + 1
        for number, step in enumerate(self.waiting, start=first):
            self.last = float(step.loss)
            if not math.isfinite(self.last):
                raise InputError(
                    f"the loss became {self.last} in epoch {self.state.epoch + 1}, batch {number}; "
                    f"lower optimizer.lr (now {optimizer.param_groups[0]['lr']:g}) or optimizer.clip; "
                    f"the last checkpoint is kept"
                )
            new = [self.last * step.weight, step.weight, float(step.right), step.seen]
            self.state.sums += torch.tensor(new, dtype=torch.float64)
        self.waiting.clear()


def _check_weights(state: State) -> None:
    """Refuse to keep weights that a finite loss with an infinite gradient has broken."""
    for name, parameter in state.model.named_parameters():
        if not bool(torch.isfinite(parameter.detach()).all()):
            raise InputError(
                f"the weights {name} are no longer finite in epoch {state.epoch + 1}, batch {state.batch}; "
                f"lower optimizer.lr or optimizer.clip; the last checkpoint is kept"
            )


def _step(
    plan: Plan,
    state: State,
    batch: Batch,
    companion: Batch | None,
    counts: Tensor | None,
    total: float,
    model: nn.Module,
    parameters: list[nn.Parameter],
    optimizer: torch.optim.Optimizer,
    runtime: Runtime,
) -> _Step:
    """One gradient step on this process's part of the batch."""
    for group in optimizer.param_groups:  # what zero_grad does, without its bookkeeping
        for parameter in group["params"]:
            parameter.grad = None
    epoch = state.epoch - state.began
    inputs, terms = batch.inputs, [(1.0, batch.labels, batch.index)]
    if plan.mixup_alpha is not None:
        mixed = mixup(batch, alpha=plan.mixup_alpha, seed=plan.seed, epoch=state.epoch, number=state.batch)
        inputs = mixed.inputs
        terms = [(mixed.lam, mixed.labels, batch.index), (1 - mixed.lam, mixed.partner_labels, batch.index)]
    if companion is not None:
        share = plan.share(epoch)
        inputs = torch.cat([inputs, companion.inputs])
        terms = [(share * part, labels, index) for part, labels, index in terms]
        terms.append((1 - share, companion.labels, companion.index))
    with runtime.autocast():
        outputs = _wide(model(inputs))
    logits = logits_in(outputs)
    parts = []
    for share, labels, index in terms:
        values = plan.loss.pointwise(outputs, labels)
        for weights in _weights(plan, epoch, labels, index, counts):
            values = values * weights.to(values)
        parts.append(values.sum() if share == 1.0 else share * values.sum())
    loss = functools.reduce(operator.add, parts)
    # Gradients are averaged over processes, so each process's sum is divided by its share of the batch.
    # A batch in which no sample counts has no direction to go.
    loss = loss * (runtime.world_size / total if total > 0 else 0.0)
    runtime.backward(loss)
    if plan.clip is not None:
        _clip(parameters, plan.clip)
    optimizer.step()
    right = logits.detach().argmax(dim=1) == batch.labels
    if counts is not None:
        right = right & counts
    seen = len(right) if counts is None else int(counts.sum())
    return _Step(loss.detach(), right.sum(), total / runtime.world_size, seen)


def _clip(parameters: list[nn.Parameter], longest: float) -> None:
    """Shorten the gradient to the norm ``longest`` if it is longer, as ``clip_grad_norm_`` does, bit for bit.

    Gradients of one kind on a CPU go without its sorting by kinds, and are left alone if they are short enough.
    """
    gradients = [each.grad for each in parameters if each.grad is not None]
    if not gradients or any(not each.is_cpu or each.dtype != gradients[0].dtype for each in gradients):
        torch.nn.utils.clip_grad_norm_(parameters, longest)
        return
    norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
    factor = (longest / (norm + 1e-6)).clamp(max=1.0)
    if factor.item() != 1.0:
        torch._foreach_mul_(gradients, factor)


def _wide(outputs: Outputs) -> Outputs:
    """What the network answered, in float32 or wider; a tuple field by field."""
    if isinstance(outputs, Tensor):
        return outputs if outputs.dtype == torch.float64 else outputs.float()
    return type(outputs)(*(_wide(field) for field in outputs))


def _companions(plan: Plan, state: State, batches: Batches, runtime: Runtime) -> Iterator[Batch | None]:
    """Yield the second batch of each step that is left of the epoch; None without end if there is none."""
    if plan.companion is None:
        return itertools.repeat(None)
    seed = seed_of(plan.seed, "companion")
    order = epoch_order(batches.dataset.labels, sampling=plan.companion, seed=seed, epoch=state.epoch)
    part = shard(order, plan.batch_size, rank=runtime.rank, world_size=runtime.world_size)
    return iter(batches.epoch(part.order, seed=seed, epoch=state.epoch, start=state.batch, occurrence=part.occurrence))


def _shard(plan: Plan, batches: Batches, state: State, runtime: Runtime) -> Shard:
    labels = batches.dataset.labels
    order = _order(plan, labels, state)
    each: Tensor | None = None
    for weights in _weights(plan, state.epoch - state.began, labels, torch.arange(len(labels)), None):
        each = weights.double() if each is None else each * weights
    return shard(order, plan.batch_size, weights=each, rank=runtime.rank, world_size=runtime.world_size)


def _order(plan: Plan, labels: Tensor, state: State) -> Tensor:
    """The samples of the epoch under way: a pass, or the next part of all passes if ``samples`` are given."""
    drawn = functools.partial(epoch_order, labels, sampling=plan.sampling, seed=plan.seed, class_run=plan.class_run)
    if plan.samples is None:
        return drawn(epoch=state.epoch)
    whole = drawn(epoch=state.began, length=plan.epochs * plan.samples)
    done = (state.epoch - state.began) * plan.samples
    return whole[done : done + plan.samples]


def _weights(plan: Plan, epoch: int, labels: Tensor, index: Tensor, counts: Tensor | None) -> Iterator[Tensor]:
    """The factors ``(b,)`` that say how much each sample counts: by its label, by itself, and as padding or not."""
    by_class = plan.class_weights(epoch)
    if by_class is not None:
        yield by_class.to(labels.device)[labels]
    if plan.sample_weights is not None:
        yield plan.sample_weights[index]
    if counts is not None:
        yield counts


def _record(state: State, learning_rate: float, runtime: Runtime) -> EpochRecord:
    loss, weight, right, seen = runtime.sum(state.sums).tolist()
    stage = {} if state.stage == 0 else {"stage": state.stage + 1}
    return {
        "epoch": state.epoch + 1,
        **stage,
        "lr": learning_rate,
        "train_loss": loss / weight if weight > 0 else None,
        "train_accuracy": right / seen,
        "samples": int(seen),
    }


@contextmanager
def _own_generator() -> Iterator[None]:
    """Give torch's global generator back as it was."""
    before = torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(before)
