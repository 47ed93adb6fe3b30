"""How a method trains: a network, the stages it passes, and the procedure that makes both.

* A :class:`Network` maps inputs to features and features to logits. In evaluation mode it always answers plain logits
  ``(n, k)``: the inference rule of a method is part of its network, so saving, exporting and predicting know nothing
  of methods. In training mode it may answer a named tuple with a field ``logits``; the method's own objective reads
  the other fields.
* A :class:`Stage` is a value: what is minimised, on which batches, and how the network changes before. Most methods
  have one stage; decoupled ones have two, first the features and then a classifier on them.
* A :class:`Procedure` makes both from a :class:`BuildContext`. The class here is the usual one: a backbone, a head and
  one stage. A method that does more is a subclass in a file of its own, which also says what the parser has to know;
  :mod:`anchored.methods.names` lists them.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

import torch
from torch import Tensor, nn

from anchored._errors import InputError
from anchored._names import suggest
from anchored._random import stream
from anchored.backbones import Backbone
from anchored.heads import AnchoredHead, CosineHead, LinearHead
from anchored.imbalance import Sampling
from anchored.losses import CrossEntropy, Loss
from anchored.methods.build import Anchors, make_head, make_loss
from anchored.methods.method import Method

__all__ = [
    "BuildContext",
    "Classifier",
    "Group",
    "Network",
    "Objective",
    "Outputs",
    "Procedure",
    "Stage",
    "StageData",
    "everything",
    "freeze_",
    "logits_in",
]

Outputs: TypeAlias = Any
"""Logits ``(n, k)``, or in training a named tuple of tensors with a field ``logits``, which no static type can say."""


class Network(nn.Module, ABC):
    """Maps inputs to features, and features to logits.

    Attributes:
        input_shape: Shape of one normalised input.
        head: Maps features to logits; the second stage of a decoupled method replaces it.
    """

    input_shape: tuple[int, ...]
    head: nn.Module

    @abstractmethod
    def features(self, inputs: Tensor) -> Tensor:
        """Compute the features ``(n, d)`` that the head sees."""

    def forward(self, inputs: Tensor) -> Outputs:
        """Compute logits ``(n, k)``; in training mode a subclass may answer more."""
        return self.head(self.features(inputs))

    def rows(self) -> Tensor | None:
        """Return one direction ``(k, d)`` per class if logits are products with such directions, else None."""
        rows = getattr(self.head, "rows", None)
        return None if rows is None else rows()


def logits_in(outputs: Outputs) -> Tensor:
    """Return the logits ``(n, k)`` among what a network answered.

    Example:
        >>> logits_in(torch.zeros(2, 3)).shape
        torch.Size([2, 3])
    """
    logits: Tensor = outputs if isinstance(outputs, Tensor) else outputs.logits
    return logits


class Classifier(Network):
    """A backbone and a head, with an optional layer between them.

    Fixed prototypes may lie in any direction, but features that come out of a ReLU cannot be negative. A layer
    without a ReLU after it puts every direction within reach, and may change the dimension.

    Args:
        backbone: Maps inputs to vectors.
        head: Maps features to logits ``(n, k)``.
        projection: Maps the backbone's vectors to features ``(n, d)``; None if they are the features.

    Example:
        >>> from anchored import AnchoredHead, backbones
        >>> model = Classifier(backbones.get("tiny", (8,)), AnchoredHead(32, 3))
        >>> model(torch.zeros(2, 8)).shape
        torch.Size([2, 3])
        >>> narrow = Classifier(backbones.get("tiny", (8,)), AnchoredHead(5, 3), nn.Linear(32, 5))
        >>> narrow.features(torch.zeros(2, 8)).shape
        torch.Size([2, 5])
    """

    def __init__(self, backbone: nn.Module, head: nn.Module, projection: nn.Module | None = None) -> None:
        super().__init__()
        self.input_shape = tuple(backbone.input_shape)  # type: ignore[arg-type]  # every backbone says its shape
        self.backbone = backbone
        self.head = head
        self.projection = projection

    def features(self, inputs: Tensor) -> Tensor:
        """Compute the features ``(n, d)`` that the head sees."""
        features: Tensor = self.backbone(inputs)
        return features if self.projection is None else self.projection(features)


class Objective(Protocol):
    """What a stage minimises: a loss, or anything else that gives one value per sample."""

    def pointwise(self, outputs: Outputs, labels: Tensor, /) -> Tensor:
        """Compute the values ``(n,)`` of what the network answered in training mode.

        Args:
            outputs: The network's answer: logits, or a named tuple of the method's own.
            labels: ``(n,)`` int64, or ``(n, k)`` probabilities if labels are blended.

        Returns:
            One value per sample, ``(n,)``.
        """
        ...


class StageData(Protocol):
    """The data that a stage may look at when it computes what its new parts hold."""

    def features(self, part: Literal["train", "held-out"]) -> tuple[Tensor, Tensor] | None:
        """Return features ``(n, d)`` in evaluation mode and labels ``(n,)``; None if nothing is held out."""
        ...

    def samples(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return the normalised training inputs ``(n, …)`` in float64, labels ``(n,)`` and weights ``(n,)`` or None."""
        ...


@dataclass(frozen=True)
class Group:
    """Parameters that share a factor on the learning rate."""

    parameters: Iterable[nn.Parameter]
    factor: float = 1.0


def everything(network: Network) -> list[Group]:
    """Return all parameters as one group at the full learning rate."""
    return [Group(list(network.parameters()))]


def freeze_(network: Network, *, statistics: bool) -> None:
    """Freeze everything but the head; to be called when an epoch begins, with the network in training mode.

    Args:
        network: The network, changed in place.
        statistics: Whether the running means and variances of BatchNorm go on following the batches.

    Example:
        >>> from anchored import LinearHead, backbones
        >>> network = Classifier(backbones.get("tiny", (8,)), LinearHead(32, 3))
        >>> freeze_(network, statistics=True)
        >>> [name for name, parameter in network.named_parameters() if parameter.requires_grad]
        ['head.weight', 'head.bias']
    """
    for name, part in network.named_children():
        if name != "head":
            part.train(statistics)
            part.requires_grad_(False)


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One stage of a method.

    A stage without training only changes the network, from what was learnt and from the data.

    Attributes:
        name: One word for the log.
        loss: What is minimised.
        score: Loss that scores held-out logits. By default the loss itself if it is one of logits, else cross entropy.
        settings: Which settings of the run hold, for epochs and learning rate: those of the first or the second stage.
        trained: Whether anything is trained; if not, the stage only changes the network.
        every_step: Whether the learning rate moves with every step and not with every epoch.
        sampling: How an epoch is drawn; see :func:`anchored.imbalance.epoch_order`.
        companion: How a second batch for each step is drawn, or None for no second batch. The network gets both,
            one after the other along the first axis, and answers for the pairs.
        share: Maps the finished part of the stage, in [0, 1), to the weight of the first batch's labels; the
            companion's labels have the rest.
        mixup: Whether pairs of samples and of labels are blended.
        deferred: Whether class-balanced weights begin late in the stage.
        weighted: Whether class-balanced weights hold from the start.
        enter: Changes the structure of the network; must not depend on the values of weights or data.
        fill: Computes what the new parts hold, from the data.
        begin_epoch: Called when an epoch begins, with the network in training mode and the finished part of the stage.
        groups: Returns what is trained, with factors on the learning rate.
    """

    name: str
    loss: Objective
    score: Loss | None = None
    settings: Literal["first", "second"] = "first"
    trained: bool = True
    every_step: bool = False
    sampling: Sampling = "instance"
    companion: Sampling | None = None
    share: Callable[[float], float] = lambda done: 0.5
    mixup: bool = False
    deferred: bool = False
    weighted: bool = False
    enter: Callable[[Network], None] = lambda network: None
    fill: Callable[[Network, StageData], None] = lambda network, data: None
    begin_epoch: Callable[[Network, float], None] = lambda network, done: None
    groups: Callable[[Network], list[Group]] = everything

    @property
    def scored_by(self) -> Loss:
        """The loss that scores held-out logits."""
        if self.score is not None:
            return self.score
        return self.loss if isinstance(self.loss, Loss) else CrossEntropy()


@dataclass(frozen=True, kw_only=True)
class BuildContext:
    """What a procedure builds from, once data and settings are known.

    Attributes:
        method: The method, as :func:`anchored.methods.parse` describes it.
        backbone: Makes the run's backbone, the same at every call. Called with the name of a random stream, it makes
            another one that differs in its first weights only (a copy, if the user gave a module).
        counts: Training samples per class, ``(k,)``.
        shape: Shape of one input.
        seed: Seed of the head's random streams.
        noise_rate: Share of wrong labels, for scales that depend on it.
        scale: A scale to use instead of the method's own.
        anchors: Which prototypes an anchored head gets.
        loss: Settings of the loss.
        options: Settings of the method itself, complete; see ``Procedure.Options``.
        blank: Whether values will be loaded afterwards, so that expensive ones need not be computed.

    Example:
        >>> from anchored import backbones
        >>> from anchored.methods import parse
        >>> context = BuildContext(
        ...     method=parse("ce+pal"),
        ...     backbone=lambda stream_name="init": backbones.get("tiny", (8,)),
        ...     counts=torch.tensor([30, 20, 10]),
        ... )
        >>> context.k, Procedure(context).network()(torch.zeros(2, 8)).shape
        (3, torch.Size([2, 3]))
    """

    method: Method
    backbone: Callable[..., Backbone]
    counts: Tensor
    shape: tuple[int, ...] = ()
    seed: int = 0
    noise_rate: float | None = None
    scale: float | None = None
    anchors: Anchors = "auto"
    loss: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    blank: bool = False

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.counts)

    def head(
        self,
        in_features: int,
        *,
        signed_features: bool = True,
        stream_name: str = "head",
        prototypes: Callable[[], Tensor] | None = None,
    ) -> AnchoredHead | CosineHead | LinearHead:
        """Make the method's head.

        Args:
            in_features: Length d of a feature vector.
            signed_features: Whether features can be negative; decides which anchors they can reach.
            stream_name: Name of the random stream that weights or anchors are drawn from.
            prototypes: Makes unit rows ``(k, d)`` to use as anchors instead of the configured ones.

        Returns:
            The head, with blank anchors if the context is blank.

        Example:
            >>> from anchored.methods import parse
            >>> context = BuildContext(method=parse("ce+pal"), backbone=lambda: None, counts=torch.tensor([9, 5, 2]))
            >>> context.head(8).prototypes.shape
            torch.Size([3, 8])
        """
        rows = None if prototypes is None or self.blank else prototypes()
        if self.blank and self.method.anchored:
            rows = torch.zeros(self.k, in_features)
            rows[:, 0] = 1.0
        return make_head(
            self.method,
            in_features,
            self.k,
            signed_features=signed_features,
            noise_rate=self.noise_rate,
            scale=self.scale,
            anchors=self.anchors,
            rows=rows,
            generator=self.generator(stream_name),
        )

    def generator(self, name: str) -> torch.Generator:
        """Return the run's random stream called ``name``."""
        return stream(self.seed, name)


class Procedure:
    """One stage on a backbone and a head; a method that does more overrides what differs.

    Class attributes say what the parser and the tables need to know of a method with a file of its own.

    Args:
        context: What network and stages are built from.
    """

    title: ClassVar[str] = ""
    """The name that tables print."""
    aliases: ClassVar[tuple[str, ...]] = ()
    """Other spellings that the parser accepts."""
    about: ClassVar[str] = ""
    """What the method does beyond one stage on a backbone and a head, in a few words."""
    loss: ClassVar[str] = "ce"
    """The loss of the first stage, a name of :func:`anchored.losses.get`."""
    first_stage: ClassVar[str | None] = None
    """The method whose whole training is the first stage; None if there is no such method."""
    head: ClassVar[Mapping[str, object]] = {"head": "linear"}
    """The head without anchors, as fields of :class:`anchored.methods.Method`."""
    goes_with: ClassVar[tuple[str, ...]] = ("mixup", "pal")
    """The modifiers that may follow the name."""
    refused: ClassVar[Mapping[str, str]] = {}
    """Why another modifier may not follow."""
    corrects_imbalance: ClassVar[bool] = False
    """Whether the code of the method corrects for the class frequencies of the training data."""
    computed: ClassVar[bool] = False
    """Whether the classifier is computed at once, so that there are no epochs and nothing has to be held out."""
    second_epochs: ClassVar[int | None] = None
    """Epochs of the second stage if the user names none; None if the method trains in one stage only."""

    @dataclass(frozen=True)
    class Options:
        """Settings of the method, with their defaults; this one has none."""

    def __init__(self, context: BuildContext) -> None:
        self.context = context
        self.method = context.method
        self.options: Any = self.Options(**context.options)

    @classmethod
    def published_options(cls, source: str, counts: Tensor) -> dict[str, Any]:
        """Return the options that the reference sets for this data; options not named keep their defaults.

        Args:
            source: Name or path of the data.
            counts: Training samples per class, ``(k,)``, e.g. for settings by imbalance ratio.

        Returns:
            Names of options and their values.
        """
        return {}

    @classmethod
    def resolve(cls, method: Method, source: str, counts: Tensor, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Decide all options: defaults, over them what the reference sets for this data, over that what was asked.

        Args:
            method: The method that the options belong to.
            source: Name or path of the data.
            counts: Training samples per class, ``(k,)``.
            asked: Options that the user set.

        Returns:
            The value of every option.

        Raises:
            InputError: If an option is unknown or has a value that makes no sense.

        Example:
            >>> from anchored.methods import parse, procedure_type
            >>> method = parse("post-hoc")
            >>> procedure_type(method).resolve(method, "digits", torch.tensor([9, 3]), {"tau": 1.5})
            {'tau': 1.5}
        """
        known = {entry.name: entry for entry in dataclasses.fields(cls.Options)}
        for name in asked:
            if name not in known:
                rule = suggest(name, list(known)) if known else "it has none"
                raise InputError(f"unknown option {name!r} of method {method.name!r}; {rule}")
        merged = cls.Options(**{**cls.published_options(source, counts), **asked})
        return dataclasses.asdict(merged)

    def network(self) -> Network:
        """Build what is trained, as it is in the first stage."""
        backbone = self.context.backbone()
        return Classifier(backbone, self.context.head(backbone.feature_dim, signed_features=backbone.signed_features))

    def stages(self) -> tuple[Stage, ...]:
        """Return the stages in order."""
        return (self.representation(),)

    def representation(self) -> Stage:
        """Return the first stage: the method's loss, batches and weights."""
        method = self.method
        return Stage(
            name="training" if self.second_epochs is None else "representation",
            loss=make_loss(method, counts=self.context.counts.tolist(), settings=self.context.loss),
            sampling=method.sampling,
            mixup=method.mixup,
            deferred=method.deferred,
            weighted=method.weighting != "none",
        )
