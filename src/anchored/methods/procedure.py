"""How a method trains: its network and its stages. This one is the usual: a backbone, a head, one stage.

A method that does more has a file of its own beside this one, with a subclass that overrides what is its own,
and an entry in :mod:`anchored.methods.procedures`. The loop and the rest of the engine know this class only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._names import suggest
from anchored._random import stream
from anchored.backbones import Backbone
from anchored.heads import AnchoredHead, CosineHead, LinearHead
from anchored.methods.build import Anchors, make_head, make_loss
from anchored.methods.classifier import Classifier
from anchored.methods.method import Method
from anchored.methods.network import Network
from anchored.methods.stage import Stage

__all__ = ["Given", "MakesBackbone", "Procedure", "SecondStage"]


class MakesBackbone(Protocol):
    """What makes the backbones of a run."""

    def __call__(self, stream_name: str = "init", /) -> Backbone:
        """The same backbone at every call; under another ``stream_name``, one with weights of its own.

        Of a module of the user's own the others are copies: nothing is known of how its weights came about.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Given:
    """What a method's pieces are made from, once the data and the settings are known.

    Attributes:
        method: What :func:`anchored.methods.parse` gave.
        backbone: Makes the backbone, or several that differ in their weights only.
        counts: Training samples per class, ``(k,)``.
        seed: Of the head's streams.
        noise_rate: The share of wrong labels, for scales that depend on it.
        scale: A scale to use instead of the method's own.
        anchors: Which prototypes an anchored head gets.
        loss: Settings of the loss.
        options: Settings of the method itself, complete; see ``Procedure.Options``.
        blank: Whether values are going to be loaded, so that expensive ones need not be made.
    """

    method: Method
    backbone: MakesBackbone
    counts: Tensor
    seed: int = 0
    noise_rate: float | None = None
    scale: float | None = None
    anchors: Anchors = "auto"
    loss: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    blank: bool = False

    @property
    def k(self) -> int:
        """How many classes there are."""
        return len(self.counts)

    def head(
        self,
        in_features: int,
        *,
        signed_features: bool = True,
        stream_name: str = "head",
        prototypes: Callable[[], Tensor] | None = None,
    ) -> AnchoredHead | CosineHead | LinearHead:
        """The method's head for features of dimension ``in_features``; ``prototypes`` makes unit rows of its own."""
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
        """The stream called ``name`` of this run."""
        return stream(self.seed, name)


@dataclass(frozen=True)
class SecondStage:
    """What a second stage takes where the user says nothing: epochs, and its learning rate relative to the first's."""

    epochs: int = 10
    lr_factor: float = 1.0


class Procedure:
    """One stage on a backbone and a head; methods that do more override what is theirs.

    Args:
        given: What the pieces are made from.
    """

    @dataclass(frozen=True)
    class Options:
        """Settings of the method, with their defaults; this one has none."""

    second: ClassVar[SecondStage | None] = None
    """The defaults of the second stage, or None where there is one stage only."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.method = given.method
        self.options: Any = self.Options(**given.options)

    @classmethod
    def published(cls, source: str, counts: Tensor) -> dict[str, Any]:
        """Options that the reference sets for this data, e.g. by its imbalance ratio; those not named keep defaults."""
        return {}

    @classmethod
    def resolve(cls, method: Method, source: str, counts: Tensor, asked: Mapping[str, Any]) -> dict[str, Any]:
        """All options: the defaults, what the reference sets for this data, and on top what was asked."""
        known = {entry.name: entry for entry in dataclasses.fields(cls.Options)}
        for name in asked:
            if name not in known:
                rule = suggest(name, list(known)) if known else "it has none"
                raise InputError(f"unknown option {name!r} of method {method.name!r}; {rule}")
        merged = cls.Options(**{**cls.published(source, counts), **asked})
        return dataclasses.asdict(merged)

    @classmethod
    def check(cls, method: Method, counts: Tensor) -> None:
        """Refuse data that the method cannot use."""

    def network(self) -> Network:
        """What is trained."""
        backbone = self.given.backbone()
        return Classifier(backbone, self.given.head(backbone.feature_dim, signed_features=backbone.signed_features))

    def stages(self) -> tuple[Stage, ...]:
        """What happens to it, in order."""
        return (self.representation(),)

    def representation(self) -> Stage:
        """The first stage: the method's loss, batches and weights."""
        method = self.method
        return Stage(
            name="representation" if self.second is not None else "training",
            loss=make_loss(method, counts=self.given.counts.tolist(), settings=self.given.loss),
            sampling=method.sampling,
            mixup=method.mixup,
            deferred=method.deferred,
            weighted=method.weighting != "none",
        )
