"""What changes during training, and so what a checkpoint holds: model, average of its weights, optimizer, position."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from anchored._errors import InputError
from anchored.heads import complete_settings
from anchored.training.checkpoint import ANEW, Checkpoint, load_optimizer, optimizer_state
from anchored.training.early_stop import Best
from anchored.training.records import Count, Record, check_history, check_record

__all__ = ["Average", "EpochRecord", "State", "check_facts"]

EpochRecord = dict[str, float | int | None]


class Average:
    """A copy of a model that follows it: after each step ``average = decay * average + (1 - decay) * model``.

    In the first steps the decay is ``(1 + t) / (10 + t)`` if that is smaller, so that the initial
    weights are forgotten quickly. Integer buffers (BatchNorm's counters) are copied.

    Args:
        model: The model to follow.
        decay: How much of the past is kept, in (0, 1).
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.module = copy.deepcopy(model).requires_grad_(False)
        self.module.eval()
        self.decay = decay
        self.steps = 0

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        """Take one step towards ``model``."""
        keep = min(self.decay, (1 + self.steps) / (10 + self.steps))
        self.steps += 1
        own, other = self.module.state_dict(), model.state_dict()
        floats = [name for name, value in own.items() if value.is_floating_point()]
        torch._foreach_lerp_([own[name] for name in floats], [other[name] for name in floats], 1 - keep)
        for name in own.keys() - floats:
            own[name].copy_(other[name])


class _Facts(Record):
    stage: Count
    began: Count
    epoch: Count
    batch: Count
    groups: list[dict[str, Any]]
    average_steps: Count | None = None
    best_epoch: Count | None = None


def check_facts(checkpoint: Checkpoint) -> None:
    """Check the position and the history in a checkpoint, and that the tensors that belong to them are there.

    Raises:
        InputError: The checkpoint is damaged.

    Example:
        >>> check_facts(Checkpoint({}, {"stage": 0, "began": 0, "epoch": -1, "batch": 0, "groups": []}))
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: the checkpoint is damaged: 'epoch': input should be greater than or equal to 0, \
got -1; remove the run's folder, and start the run again
    """
    facts, where = checkpoint.facts, "the checkpoint"
    check_record(_Facts, facts, where=where, way_out=ANEW)
    check_history(facts.get("history"), where=f"{where}, its history", way_out=ANEW)
    if len(facts["history"]) != facts["epoch"] or facts["began"] > facts["epoch"]:
        raise InputError(
            f"{where} is damaged: it is after epoch {facts['epoch']} and has {len(facts['history'])} records; {ANEW}"
        )
    sums, right = checkpoint.tensors.get("sums"), checkpoint.tensors.get("best_right")
    if sums is None or sums.shape != (4,) or ("best_epoch" in facts and right is None):
        raise InputError(f"{where} is damaged: tensors are missing; {ANEW}")


@dataclass
class State:
    """Model, optimiser, position and history.

    Attributes:
        model: The classifier that is trained.
        optimizer: Its optimiser; None if the stage trains nothing.
        average: The moving average of its weights, if one is kept.
        best: The epoch of the stage that predicted held-out labels best, if that decides when to stop.
        stage: Which stage of the method is under way, from 0.
        began: How many epochs were done when it began.
        epoch: How many epochs are done, over all stages.
        batch: How many batches of the epoch under way are done.
        sums: Weighted loss, weight, samples right and samples of the epoch under way; float64, on the CPU.
        history: One record per epoch done.
        generator: States of the generators that layers such as dropout draw from, within an epoch:
            one row per process.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer | None
    average: Average | None = None
    best: Best | None = None
    stage: int = 0
    began: int = 0
    epoch: int = 0
    batch: int = 0
    sums: Tensor = field(default_factory=lambda: torch.zeros(4, dtype=torch.float64))
    history: list[EpochRecord] = field(default_factory=list)
    generator: Tensor | None = None

    @property
    def scored(self) -> nn.Module:
        """The module that is evaluated and kept: the average if there is one."""
        return self.model if self.average is None else self.average.module

    @property
    def epochs_worse(self) -> int:
        """For how many epochs in a row held-out labels have been predicted worse than at best."""
        return int(self.history[-1].get("epochs_worse") or 0) if self.epoch > self.began else 0

    @property
    def better(self) -> Best | None:
        """The earlier epoch to go back to, if the last one predicts held-out labels worse; else None."""
        return self.best if self.epochs_worse else None

    def checkpoint(self) -> Checkpoint:
        """Return everything above as tensors and JSON."""
        slots, groups = ({}, []) if self.optimizer is None else optimizer_state(self.optimizer)
        tensors = {f"model.{name}": value for name, value in self.model.state_dict().items()}
        tensors |= {f"optimizer.{name}": value for name, value in slots.items()}
        tensors["sums"] = self.sums
        if self.generator is not None:
            tensors["generator"] = self.generator
        facts: dict[str, Any] = {
            "stage": self.stage,
            "began": self.began,
            "epoch": self.epoch,
            "batch": self.batch,
            "history": self.history,
            "groups": groups,
        }
        if self.average is not None:
            tensors |= {f"average.{name}": value for name, value in self.average.module.state_dict().items()}
            facts["average_steps"] = self.average.steps
        if self.best is not None:
            tensors |= {f"best.{name}": value for name, value in self.best.weights.items()}
            tensors["best_right"] = self.best.right
            facts["best_epoch"] = self.best.epoch
        return Checkpoint(tensors, facts)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Take the values of ``checkpoint``; an average that it does not hold begins with the model.

        Raises:
            InputError: The checkpoint is of another model, or damaged.
        """
        check_facts(checkpoint)
        facts = checkpoint.facts
        try:
            self.model.load_state_dict(complete_settings(checkpoint.part("model"), self.model))
            if self.optimizer is not None:
                load_optimizer(self.optimizer, checkpoint.part("optimizer"), facts["groups"])
            if self.average is not None:
                kept = "average_steps" in facts
                part = checkpoint.part("average" if kept else "model")
                self.average.module.load_state_dict(complete_settings(part, self.average.module))
                self.average.steps = facts.get("average_steps", 0)
        except (RuntimeError, ValueError, KeyError, TypeError, IndexError) as error:
            lines = [line.strip() for line in str(error).splitlines()]
            raise InputError(
                f"the checkpoint is of another model or optimiser ({' '.join(lines[:2])}); "
                f"resume with the settings the run began with, or start a new run"
            ) from error
        self.sums = checkpoint.tensors["sums"]
        self.generator = checkpoint.tensors.get("generator")
        self.best = None
        if "best_epoch" in facts:
            weights = complete_settings(checkpoint.part("best"), self.model)
            self.best = Best(facts["best_epoch"], checkpoint.tensors["best_right"], weights)
        self.stage, self.began = facts["stage"], facts["began"]
        self.epoch, self.batch, self.history = facts["epoch"], facts["batch"], facts["history"]

    def follow(self, model: nn.Module, optimizer: torch.optim.Optimizer | None, average: Average | None) -> State:
        """Make the state at the beginning of the next stage; the history goes on.

        Args:
            model: The network of the next stage.
            optimizer: Its optimizer, or None.
            average: The moving average of its weights, or None.

        Returns:
            The state before the first epoch of the next stage.

        Example:
            >>> model = nn.Linear(2, 2)
            >>> state = State(model, torch.optim.SGD(model.parameters()), epoch=5)
            >>> following = state.follow(model, state.optimizer, None)
            >>> following.stage, following.began, following.epoch
            (1, 5, 5)
        """
        return State(
            model,
            optimizer,
            average,
            stage=self.stage + 1,
            began=self.epoch,
            epoch=self.epoch,
            history=self.history,
        )
