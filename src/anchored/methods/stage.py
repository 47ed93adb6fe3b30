"""A stage of training as a value: what the loop optimises, on which batches, and what happens to the network first.

Most methods have one stage. The decoupled ones have two: a representation, then a classifier on top of it.
A stage without epochs only changes the network, from what was learnt and from the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from torch import Tensor, nn

from anchored.imbalance import Sampling
from anchored.losses import CrossEntropy, Loss
from anchored.methods.network import Network, Outputs

__all__ = ["Evidence", "Group", "Objective", "Stage", "everything", "freeze_"]


class Objective(Protocol):
    """What is minimised: a loss, or anything else that gives one value per sample."""

    def pointwise(self, outputs: Outputs, labels: Tensor, /) -> Tensor:
        """Values ``(n,)`` of what the network answered in training mode."""
        ...


class Evidence(Protocol):
    """What a stage may look at when it fills in its part of the network."""

    def features(self, part: Literal["train", "held-out"]) -> tuple[Tensor, Tensor] | None:
        """Features ``(n, d)`` and labels ``(n,)`` in evaluation mode, on the CPU; None where nothing is held out."""
        ...


@dataclass(frozen=True)
class Group:
    """Parameters that share a factor on the learning rate."""

    parameters: Iterable[nn.Parameter]
    factor: float = 1.0


def everything(network: Network) -> list[Group]:
    """All parameters, at the same learning rate."""
    return [Group(list(network.parameters()))]


def freeze_(network: Network, *, statistics: bool) -> None:
    """Leave everything but the head as it is; ``statistics`` lets the running means of BatchNorm move on.

    Called at the beginning of an epoch, after the network was put into training mode.
    """
    for name, part in network.named_children():
        if name != "head":
            part.train(statistics)
            part.requires_grad_(False)


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One stage of a method.

    Attributes:
        name: In a word, for the log.
        loss: What is minimised.
        score: The loss that held-out logits are scored with; by default the loss itself, where it is one of logits.
        second: Whether the run's settings of the second stage (epochs, learning rate) are meant, or those of the first.
        trained: Whether there is anything to train; else the stage only changes the network.
        sampling: How an epoch is drawn; see :func:`anchored.imbalance.epoch_order`.
        companion: How a second batch for each step is drawn, or None for no second batch. The network gets both,
            one after the other along the first axis, and answers for the pairs.
        share: Of the part of the stage that is done, in [0, 1): what the first batch's labels count; the
            companion's count the rest.
        mixup: Whether pairs of samples and of labels are blended.
        deferred: Whether class-balanced weights set in late.
        weighted: Whether class-balanced weights hold from the start.
        enter: Changes the structure of the network; must not depend on the values of weights or data.
        fill: Computes what the new parts hold, from the evidence.
        prepare: Called at the beginning of every epoch with the network in training mode and the part of the stage
            that is done.
        groups: What is trained, and how fast relative to the learning rate.
    """

    name: str
    loss: Objective
    score: Loss | None = None
    second: bool = False
    trained: bool = True
    sampling: Sampling = "instance"
    companion: Sampling | None = None
    share: Callable[[float], float] = lambda done: 0.5
    mixup: bool = False
    deferred: bool = False
    weighted: bool = False
    enter: Callable[[Network], None] = lambda network: None
    fill: Callable[[Network, Evidence], None] = lambda network, evidence: None
    prepare: Callable[[Network, float], None] = lambda network, done: None
    groups: Callable[[Network], list[Group]] = everything

    @property
    def scored_by(self) -> Loss:
        """The loss of held-out logits."""
        if self.score is not None:
            return self.score
        return self.loss if isinstance(self.loss, Loss) else CrossEntropy()
