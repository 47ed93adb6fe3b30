"""A run's configuration: a typed, frozen tree, the same in Python, in YAML and on the command line.

Unknown keys are refused with the nearest known ones. Values that say ``auto`` are decided when the
data is known; the configuration that is written to the run has none of them left.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from anchored._errors import InputError
from anchored._files import parse_yaml
from anchored._names import suggest

__all__ = [
    "BackboneConfig",
    "DataConfig",
    "FeaturesConfig",
    "LookConfig",
    "MethodConfig",
    "OptimizerConfig",
    "RunConfig",
    "ScheduleConfig",
    "SecondConfig",
    "TrainConfig",
    "TuneConfig",
    "merge",
    "parse_settings",
    "validate",
]


_KINDS = ("float", "int", "bool", "constrained-float", "constrained-int")
_KINDS_OF = ("literal[", "tuple[", "list[", "dict[", "function-", "constrained-")
_LONGEST_PATH = 20
_Share = Annotated[float, Field(ge=0, lt=1)]
_Positive = Annotated[float, Field(gt=0)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class DataConfig(_Part):
    """Which data, and what is done to it before training."""

    source: str = ""
    root: str | None = None
    label: str | None = None
    image: str | None = None
    """The column of image paths in a table."""
    test: str | None = None
    """A second source of the same kind to test on, if the first has no test part."""
    side: int | None = Field(default=None, ge=1)
    """Square images of this side; by default their own size decides."""
    below_label: int | None = Field(default=None, ge=2)
    """Keep only the samples of a list file whose label is below this number."""
    corrupt: tuple[str, ...] = ()
    corrections: str | None = None
    """A reviewer's decisions on labels, applied after the corruption: a file as ``anchored review`` writes it."""
    corrections_digest: str | None = None
    """In which state the file was read; written by the run, so that decisions made later do not change it."""
    hold_out: Annotated[float, Field(ge=0, le=0.9)] | Literal["auto"] = "auto"
    """Share of the training samples kept aside for the temperature; auto is a tenth, at most 5,000."""
    augment: tuple[str, ...] | Literal["auto"] = "auto"
    normalize: str = "auto"
    """Published constants by name; ``fit`` takes the data's own, ``none`` only brings pixels between 0 and 1."""


class FeaturesConfig(_Part):
    """How photos, texts and rows become vectors, before anything is learnt from their labels."""

    encoder: str | None = "auto"
    """Name of an encoder, see :func:`anchored.features.get`; None gives a network the inputs themselves."""
    weights: str | None = None
    """A file of weights for the encoder, if they are not those that come with it."""
    weights_digest: str | None = None
    """SHA-256 of that file; written by the run, so that other weights under the same name are noticed."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Settings of the encoder, e.g. ``{"resolution": 160}``."""
    drop: tuple[str, ...] = ()
    """Columns of a table to leave out."""
    kinds: dict[str, str] = Field(default_factory=dict)
    """What columns of a table are, if the user knows better: ``{"zip": "category"}``."""


class MethodConfig(_Part):
    """Which method, and what it needs to know."""

    name: str = "auto"
    noise_rate: _Share | Literal["auto"] = "auto"
    scale: _Positive | Literal["auto"] = "auto"
    anchors: Literal["auto", "aligned", "random", "paper", "paper-relu"] = "auto"
    """Which prototypes an anchored head gets; ``paper-relu`` is the paper's generator with ``use_relu=True``."""
    loss: dict[str, float | str | bool | list[float]] = Field(default_factory=dict)
    """Settings of the loss, e.g. ``{"alpha": 1.0, "beta": 10.0}``."""
    mixup_alpha: float = Field(default=1.0, gt=0)
    options: dict[str, Any] = Field(default_factory=dict)
    """Settings of the method itself, e.g. MiSLAS's ``{"smooth_head": 0.3}``; the others follow its reference."""


class BackboneConfig(_Part):
    """Which network makes the features."""

    name: str = "auto"
    last_relu: bool = True
    options: dict[str, Any] = Field(default_factory=dict)


class OptimizerConfig(_Part):
    """How a gradient becomes a step."""

    name: Literal["sgd", "adamw"] = "sgd"
    lr: float = Field(default=0.01, gt=0)
    momentum: float = Field(default=0.9, ge=0, lt=1)
    nesterov: bool = False
    weight_decay: float = Field(default=1e-4, ge=0)
    clip: float | None = Field(default=5.0, gt=0)
    """Largest global norm of the gradient; None leaves it alone."""


class ScheduleConfig(_Part):
    """How the learning rate moves over the epochs."""

    name: str = "cosine"
    options: dict[str, Any] = Field(default_factory=dict)


class SecondConfig(_Part):
    """The second stage of methods that have one: a classifier on features that are learnt."""

    epochs: Annotated[int, Field(ge=1)] | Literal["auto"] = Field(default="auto")
    """By default those of the method's reference, but never more than the first stage has."""
    lr: _Positive | Literal["auto"] = Field(default="auto")
    """By default the first stage's."""
    schedule: str = "cosine"


class TrainConfig(_Part):
    """How long, in which portions, and from which seed."""

    epochs: int = Field(default=30, ge=1)
    batch_size: int = Field(default=128, ge=1)
    """Samples per step over all processes together."""
    samples: int | None = Field(default=None, ge=1)
    """Samples per epoch, drawn in passes that go on from one epoch to the next; None for the whole data set."""
    labels: Literal["auto", "given", "cleaned", "sure", "replaced"] = "auto"
    """``cleaned`` counts each label as far as the look at all of them trusts it, ``sure`` only those that are more
    probably right than wrong, ``replaced`` puts the likeliest class in a label's place; see
    :mod:`anchored.audit.trust`."""
    seed: int = Field(default=0, ge=0)
    precision: Literal["32", "64", "bf16"] = "32"
    device: str = "auto"
    ema: float | None = Field(default=None, gt=0, lt=1)
    early_stop: int | None = Field(default=None, ge=1)
    """Stop after so many epochs in which held-out labels are predicted worse than at best, and go back to the best."""
    class_run: int = Field(default=1, ge=1)
    """Samples of one class in a row under balanced sampling; the class-aware sampler of the references takes 4."""
    drw_start: float = Field(default=0.8, ge=0, le=1)
    """Share of the epochs after which deferred weights set in: 160 of 200."""
    class_weight_beta: float = Field(default=0.9999, ge=0, lt=1)
    checkpoint_seconds: float = Field(default=60.0, ge=0)
    """A checkpoint is written at the end of every epoch, and within one after so many seconds."""
    evaluate: bool | Annotated[int, Field(ge=2)] = True
    """Whether the test set, if there is one, is scored after every epoch; N scores it after every N-th and the last."""
    workers: int = Field(default=2, ge=0)
    compile: bool = False
    """Compile the network for the training steps: about a minute once, then faster if layers are many and small."""


class TuneConfig(_Part):
    """How a pretrained network is fine-tuned on photos, after the answer on its frozen features."""

    what: Literal["auto", "none", "head", "all"] = "auto"
    """``none`` stays with the frozen features, ``head`` trains a network on them, ``all`` fine-tunes the encoder; auto
    is ``all`` if ``minutes`` are given, else ``none``."""
    minutes: float | None = Field(default=None, ge=0)
    """Time for the whole run, from its start; decides ``epochs`` and ``samples`` if they are open, and nothing else."""
    epochs: int | None = Field(default=None, ge=1)
    """Parts of fine-tuning after each of which held-out labels are scored; planned from the measured speed."""
    samples: int | None = Field(default=None, ge=1)
    """Photos per epoch; planned likewise."""
    hold_out: _Share | Literal["auto"] = "auto"
    """Share of the photos by whose labels the frozen and the fine-tuned answer are compared."""
    labels: Literal["auto", "given", "cleaned", "sure", "replaced"] = "auto"
    """The labels to learn, as for ``train.labels``; auto is ``replaced`` if labels look noisy, else ``given``."""
    lr: float = Field(default=3e-4, gt=0)
    map_factor: float = Field(default=1.0, gt=0)
    """The learning rate of the map to the anchors, as a multiple of the network's."""
    batch_size: int = Field(default=64, ge=1)
    weight_decay: float = Field(default=0.01, ge=0)
    ema: float | None = Field(default=None, gt=0, lt=1)
    augment: tuple[str, ...] | Literal["auto"] = "auto"


class LookConfig(_Part):
    """Who judges the labels before training, and how the two short models are trained if ``network`` is among them.

    Each model is ``ce+fnpal`` with the run's backbone, optimizer and seed, trained on half of the data to judge the
    other half.
    """

    judges: tuple[str, ...] = ("network",)
    """Names of :data:`anchored.audit.judges.JUDGES`, and ``network``."""

    epochs: int = Field(ge=1)
    """Length of each training."""
    batch_size: int = Field(ge=1)
    lr: float = Field(gt=0)
    augment: tuple[str, ...] = ()
    decided: tuple[str, ...] = ()
    """The settings that were left to the look, such as ``method.name``; they explain the run and decide nothing."""


class RunConfig(_Part):
    """Everything that decides a run's result."""

    data: DataConfig = DataConfig()
    features: FeaturesConfig = FeaturesConfig()
    method: MethodConfig = MethodConfig()
    backbone: BackboneConfig = BackboneConfig()
    optimizer: OptimizerConfig = OptimizerConfig()
    schedule: ScheduleConfig = ScheduleConfig()
    second: SecondConfig | None = None
    train: TrainConfig = TrainConfig()
    tune: TuneConfig = TuneConfig()
    look: LookConfig | Literal["auto"] | None = "auto"
    """How the labels are looked at before training; ``auto`` looks if something depends on it, None never looks."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, ready for YAML and JSON."""
        return self.model_dump(mode="json")

    def to_yaml(self) -> str:
        """Write the configuration as YAML, in the order of the classes."""
        return yaml.safe_dump(self.as_dict(), sort_keys=False, allow_unicode=True)

    @property
    def content_hash(self) -> str:
        """Twelve hexadecimal digits that name this configuration, whatever the order of its keys.

        Where data lies and how often a checkpoint is written decide nothing, so they do not count. The content of
        corrections counts, not the name of their file.
        """
        content = self.as_dict()
        for name in ("root", "corrections"):
            content["data"].pop(name)
        if self.data.corrections_digest is None:
            content["data"].pop("corrections_digest")
        if self.features.encoder is None or self.features == FeaturesConfig():
            content.pop("features")
        else:
            content["features"].pop("weights")
        for name in ("checkpoint_seconds", "workers", "device"):
            content["train"].pop(name)
        if self.train.labels in ("auto", "given"):
            content["train"].pop("labels")
        if isinstance(self.look, LookConfig):
            content["look"].pop("decided")
            if self.look.judges == ("network",):
                content["look"].pop("judges")
        else:
            content.pop("look")
        if self.train.class_run == 1:
            content["train"].pop("class_run")
        if self.train.samples is None:
            content["train"].pop("samples")
        if self.tune.what in ("auto", "none"):
            content.pop("tune")
        elif self.tune.what == "head":
            content["tune"] = {"what": "head"}
        else:
            content["tune"].pop("minutes")
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]

    def change(self, changes: Mapping[str, Any]) -> RunConfig:
        """Return a copy with the nested ``changes`` applied and checked.

        Example:
            >>> RunConfig().change({"train": {"epochs": 3}}).train.epochs
            3
        """
        return validate(merge(self.as_dict(), changes))


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one tree of settings over another; neither is changed.

    Args:
        base: The tree below.
        over: The tree on top; its values win.

    Returns:
        A new tree with all keys of both.

    Example:
        >>> merge({"a": {"b": 1, "c": 2}}, {"a": {"b": 5}})
        {'a': {'b': 5, 'c': 2}}
    """
    result = dict(base)
    for key, value in over.items():
        known = result.get(key)
        result[key] = merge(known, value) if isinstance(known, Mapping) and isinstance(value, Mapping) else value
    return result


def validate(values: Mapping[str, Any] | RunConfig, *, where: str = "the configuration") -> RunConfig:
    """Check settings and return them as a :class:`RunConfig`.

    Args:
        values: A nested dictionary of settings; a :class:`RunConfig` is returned as it is.
        where: What the settings are called in a message.

    Returns:
        The settings; those that ``values`` does not name have their defaults and are not in ``model_fields_set``.

    Raises:
        InputError: One line that names the first thing wrong.

    Example:
        >>> validate({"train": {"epoch": 3}})
        Traceback (most recent call last):
        ...
        anchored._errors.InputError: unknown setting 'train.epoch' in the configuration; did you mean 'epochs'?
    """
    if isinstance(values, RunConfig):
        return values
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        path = [str(part) for part in first["loc"]]
        if first["type"] == "extra_forbidden":
            raise InputError(
                f"unknown setting {'.'.join(path)!r} in {where}; {suggest(path[-1], _known_settings(path[:-1]))}"
            ) from None
        said = first["msg"][0].lower() + first["msg"][1:]
        # Of a value that may be of several kinds, the last part of the place is the kind.
        name = ".".join(part for part in path if part not in _KINDS and not part.startswith(_KINDS_OF))
        raise InputError(f"setting {name!r} in {where}: {said}, got {repr(first['input'])[:200]}") from None


def parse_settings(settings: list[str]) -> dict[str, Any]:
    """Read lines such as ``train.epochs=3`` and ``method.loss.q=0.5`` as a tree; the values are YAML.

    Example:
        >>> parse_settings(["train.epochs=3", "optimizer.clip=null"])
        {'train': {'epochs': 3}, 'optimizer': {'clip': None}}
    """
    tree: dict[str, Any] = {}
    for setting in settings:
        path, equals, text = setting.partition("=")
        if not equals or not path or "" in path.split(".") or path.count(".") >= _LONGEST_PATH:
            raise InputError(f"--set takes path=value, for instance optimizer.lr=0.1, got {setting!r:.200}")
        value: Any = parse_yaml(text, where=f"--set {path}: the value {text!r:.60}", way_out="quote it")
        for part in reversed(path.split(".")):
            value = {part: value}
        tree = merge(tree, value)
    return tree


def _known_settings(path: list[str]) -> list[str]:
    model: type[BaseModel] = RunConfig
    for part in path:
        annotation = model.model_fields[part].annotation if part in model.model_fields else None
        parts = [kind for kind in (annotation, *get_args(annotation)) if isinstance(kind, type)]
        nested = next((kind for kind in parts if issubclass(kind, BaseModel)), None)
        if nested is None:
            return []
        model = nested
    return list(model.model_fields)
