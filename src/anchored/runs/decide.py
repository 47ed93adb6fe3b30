"""From what a user asked for to what a run does: the only place that knows the word ``auto``.

:func:`complete` lays the user's settings over the recipe for this kind of data. :func:`decide` settles the rest, from
the estimated noise and the class sizes if the labels were looked at:

==========================  ==================================================================================
what is found               what is chosen
==========================  ==================================================================================
labels are clean            cross entropy on the labels as given: there is nothing to hold against
labels are noisy            anchors with normalised features, the scale from the noise that is left, a learning rate
                            that suits it; images shifted a little if nothing else varies them; weights
                            averaged (EMA); stop once held-out noisy labels are predicted worse. Each label counts
                            as far as it can be trusted; of vectors, the way to treat labels is the one that makes
                            unseen labels likeliest (:mod:`anchored.audit.treatments`)
a class is a tenth of one   Balanced Softmax, anchored if labels are noisy, for class sizes as they are learnt
==========================  ==================================================================================

Whatever the user has set stays as it is; of a method that the user names, only the noise rate is decided here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored.audit import FEWEST_PER_CLASS, LEAST_LR, Evidence, TrustedLabels, compare_treatments, trust_labels
from anchored.audit.judges import Vectors, combine, likelihood_under_law
from anchored.audit.treatments import USUAL
from anchored.backbones import auto as auto_backbone
from anchored.data import NORMALIZATIONS, CorruptionPlan, Dataset
from anchored.losses import published_settings
from anchored.methods import MEMBERS, MOST_KEPT, Method, parse, procedure_type
from anchored.runs import recipes
from anchored.runs.features import NOT_ENCODED
from anchored.runs.recipes import recipe_name, vectors_by_size
from anchored.training import BackboneConfig, LookConfig, RunConfig, SecondConfig, merge, validate

if TYPE_CHECKING:
    from anchored.runs.data import RunData
    from anchored.runs.look import Look

__all__ = [
    "ASSUMED_NOISE_RATE",
    "Decision",
    "asks_for_network",
    "auto_method",
    "complete",
    "decide",
    "hold_out_share",
    "needs_look",
]

ASSUMED_NOISE_RATE = 0.2
"""The noise rate that a noise-aware method assumes if nobody knows it: scale 1, which suits rates from 0.1 to 0.4."""

_MOST_HELD_OUT = 5_000
_SMALL = 200
_CLEAN = 0.02
_LEAST_BLAME = 1 / 3
"""The share of the contradictions that must be put down to the labels for them to be called noisy."""
_UNBALANCED = 10.0
_EMA = 0.995
_LEAST_RESIDUAL = 0.1
"""The least noise rate that the scale goes by if labels were doubted: trust is not certainty."""
_SHIFT = 14
"""Images are shifted by up to this part of their side, if the recipe leaves them as they are."""
_PATIENCE = 0.2
_LEAST_PATIENCE = 5
_LEAST_SHARE = 0.05
"""The least weight of a member of an average."""


@dataclass(frozen=True, eq=False)
class Decision:
    """What a run does, and why.

    Attributes:
        config: The resolved configuration; nothing in it is ``auto``.
        trusted: The labels to train on, weighted by trust; None for the labels as given.
        reasons: What was found and chosen, as plain values with a paragraph under ``"text"``; None without a look.
    """

    config: RunConfig
    trusted: TrustedLabels | None = None
    reasons: dict[str, Any] | None = None


def complete(settings: Mapping[str, Any] | RunConfig, dataset: Dataset) -> RunConfig:
    """Fill in what follows from the data alone: the recipe, the backbone, the normalisation, what is held out.

    Args:
        settings: The user's settings, see :class:`~anchored.training.RunConfig`.
        dataset: The training data as it will be trained on, corrupted if that was asked for.

    Returns:
        A configuration in which only ``method``, ``second``, ``train.labels`` and ``look`` may wait for
        :func:`decide`.

    Example:
        >>> from anchored.data import load_digits
        >>> config = complete({"data": {"source": "digits"}}, load_digits().train)
        >>> config.backbone.name, config.train.epochs, config.method.name
        ('cnn4', 40, 'auto')
    """
    settings = validate(settings)
    source = _source(settings, dataset)
    name = recipe_name(source, dataset.inputs.shape, settings.data.corrupt)
    base = recipes.get(name)
    if name == "vectors":
        base = merge(base, vectors_by_size(len(dataset)))
    said = settings.model_dump(exclude_unset=True)
    if (said.get("schedule") or {}).get("name", base["schedule"]["name"]) != base["schedule"]["name"]:
        base = {**base, "schedule": {}}  # the options of one schedule mean nothing to another
    values = merge(base, said)
    # Copies, because the recipe itself must not change.
    data = values["data"] = dict(values.get("data", {}))
    backbone = values["backbone"] = dict(values.get("backbone", {}))
    if backbone.get("name", "auto") == "auto":
        backbone["name"] = auto_backbone(dataset.inputs.shape, dataset.k)
    if data.get("normalize", "auto") == "auto":
        data["normalize"] = source if source in NORMALIZATIONS else "fit"
    if data["normalize"] not in ("fit", "none", *NORMALIZATIONS):
        known = ", ".join(["fit", "none", *NORMALIZATIONS])
        raise InputError(f"unknown normalisation {data['normalize']!r}; choose from {known}")
    if data.get("augment", "auto") == "auto":
        data["augment"] = ()
    if data.get("hold_out", "auto") == "auto":
        data["hold_out"] = hold_out_share(len(dataset))
    return RunConfig.model_validate(values)


def needs_look(settings: RunConfig, dataset: Dataset) -> bool:
    """Tell whether something in ``settings`` waits for a look at the labels, and ``dataset`` is large enough for one.

    Args:
        settings: The user's settings.
        dataset: The training data.

    Returns:
        Whether :func:`anchored.runs.look_at_labels` looks.

    Example:
        >>> from anchored.data import load_digits
        >>> digits = load_digits().train
        >>> needs_look(validate({}), digits), needs_look(validate({"method": {"name": "ce"}}), digits)
        (True, False)
    """
    if settings.look is None or not dataset.labelled:
        return False
    if isinstance(settings.look, LookConfig):
        return True
    if len(dataset) <= _SMALL or len(dataset) < FEWEST_PER_CLASS * dataset.k:
        return False
    method = settings.method
    if method.name == "auto" or settings.train.labels not in ("auto", "given"):
        return True
    if method.noise_rate != "auto" or method.scale != "auto" or not parse(method.name).noise_aware:
        return False
    # A run that adds the noise itself knows the rate, as the published experiments do; unless it asks not to be told.
    told = CorruptionPlan.parse(settings.data.corrupt).noise is not None
    return not told or "noise_rate" in method.model_fields_set


def asks_for_network(settings: RunConfig) -> bool:
    """Tell whether the user has set something that only a network has: then a network is trained.

    Example:
        >>> asks_for_network(validate({"train": {"epochs": 3}})), asks_for_network(validate({"train": {"seed": 3}}))
        (True, False)
    """
    said = settings.model_fields_set
    if settings.tune.what == "head":
        return True
    if settings.tune.what == "all":  # epochs and learning rates are those of fine-tuning, after the closed form
        return False
    train = settings.train.model_fields_set & {"epochs", "batch_size", "ema", "early_stop", "compile"}
    named = settings.backbone.name != "auto" or bool(settings.backbone.options)
    return named or bool(train) or bool(settings.optimizer.model_fields_set) or "schedule" in said or "second" in said


def decide(settings: RunConfig, data: RunData, look: Look | None) -> Decision:
    """Settle everything that is still open.

    Args:
        settings: The user's settings.
        data: The data of the run.
        look: What a look at the labels has found, or None if there was none.

    Returns:
        The configuration, the labels to train on, and the reasons.

    Example:
        >>> from anchored.data import load_digits
        >>> from anchored.runs import RunData
        >>> settings = validate({"data": {"source": "digits"}, "method": {"name": "ce"}})
        >>> config = decide(settings, RunData.open(load_digits(), settings), None).config
        >>> config.backbone.name, config.train.epochs, config.method.noise_rate, config.look
        ('cnn4', 40, 0.0, None)
    """
    dataset = data.labelled
    if look is None:
        base = complete(settings, dataset)
        if base.train.labels not in ("auto", "given"):
            raise InputError(
                f"{dataset.name}: train.labels = {base.train.labels} needs a look at the labels, and {len(dataset)} "
                f"samples of {dataset.k} classes are too few for one, or look is null; use train.labels = given"
            )
        name = base.method.name
        if name == "auto":
            # A handful of vectors is too small for a look, but not for the closed form, which needs nothing held out.
            small = settings.look == "auto" and not dataset.is_image and not asks_for_network(settings)
            name = "kernel-ridge" if small else auto_method(dataset)
        return Decision(_settled(base, dataset, data, {"method": {"name": name}, "train": {"labels": "given"}}, None))
    trusted = evidence = None
    if isinstance(settings.look, LookConfig):  # decided before: the configuration of a run
        changes: dict[str, Any] = {}
        if settings.train.labels not in ("auto", "given"):
            trusted = trust_labels(dataset, look.posterior, settings.train.labels)
        decided = settings.look
        if "train.labels" in decided.decided:
            evidence = _evidence(settings, look, dataset)
    else:
        evidence = _evidence(settings, look, dataset) if settings.train.labels == "auto" else None
        changes, trusted = _follow_look(settings, look, dataset, evidence)
        paths = (f"{part}.{name}" for part, tree in changes.items() for name in tree)
        decided = look.settings.model_copy(update={"decided": tuple(paths)})
    config = _settled(look.base, dataset, data, changes, decided)
    return Decision(config, trusted, _reasons(config, look, trusted, evidence))


def _evidence(settings: RunConfig, look: Look, dataset: Dataset) -> Evidence | None:
    """Compare what can be done with labels that look wrong; None if they do not, or networks alone have judged them."""
    if not look.opinions or not _is_noisy(look):
        return None
    rows = dataset.inputs.take(torch.arange(len(dataset))).flatten(1)
    vectors = Vectors.check(rows, dataset.labels, dataset.k, weights=dataset.weights, seed=settings.train.seed)
    return compare_treatments(vectors)


def _follow_look(
    settings: RunConfig, look: Look, dataset: Dataset, evidence: Evidence | None
) -> tuple[dict[str, Any], TrustedLabels | None]:
    """What the look speaks for, laid over the user's settings, which it never contradicts; and the labels to learn."""
    noise, base = look.noise, look.base
    noisy = _is_noisy(look)
    named = settings.method.name != "auto"
    treatment: str = settings.train.labels
    if treatment == "auto":
        # Who names a method wants to see that method, on the labels as they are.
        treatment = "given" if named or not noisy else USUAL if evidence is None else evidence.chosen
    trusted = None if treatment == "given" else trust_labels(dataset, look.posterior, treatment)
    unbalanced = _imbalance(look.posterior) >= _UNBALANCED
    computed = None if named else _computed(look, dataset)
    trained = _trained(unbalanced=unbalanced, noisy=noisy)
    method = parse(settings.method.name if named else trained if computed is None else computed[0])
    rate = noise.rate if trusted is None else max(trusted.residual, _LEAST_RESIDUAL)
    changes: dict[str, Any] = {"method": {} if named else {"name": method.name}, "train": {}}
    if settings.train.labels == "auto":
        changes["train"]["labels"] = treatment
    if settings.method.noise_rate == "auto":
        changes["method"]["noise_rate"] = round(rate, 4) if noisy else 0.0
    if computed is not None and not settings.method.options:
        further: dict[str, Any] = {"balanced": True} if unbalanced else {}
        if trusted is None and not unbalanced and look.gamma is not None:
            further["gamma"] = look.gamma  # of the same model on the same labels
        knows = procedure_type(method).Options.__dataclass_fields__
        own = {name: value for name, value in further.items() if name in knows}
        changes["method"]["options"] = {**computed[1], **own}
    if named or computed is not None:
        return changes, trusted
    if unbalanced and trusted is not None and not settings.method.loss:
        # Wrong labels fill the rare classes up; the sizes that count are those of the labels as they are learnt.
        each = trusted.dataset
        assert each.weights is not None
        sizes = torch.zeros(each.k, dtype=each.weights.dtype).index_add_(0, each.labels, each.weights)
        changes["method"]["loss"] = {"counts": [round(size, 1) for size in sizes.clamp(min=1.0).tolist()]}
    if method.noise_aware and base.optimizer.name == "sgd" and "lr" not in settings.optimizer.model_fields_set:
        changes["optimizer"] = {"lr": max(base.optimizer.lr, LEAST_LR)}
    shift = min(dataset.inputs.shape[1:]) // _SHIFT if dataset.is_image else 0
    if noisy and shift and not base.data.augment and "augment" not in settings.data.model_fields_set:
        changes["data"] = {"augment": (f"crop={shift}",)}
    if noisy and "ema" not in settings.train.model_fields_set:
        changes["train"]["ema"] = _EMA
    if noisy and "early_stop" not in settings.train.model_fields_set:
        changes["train"]["early_stop"] = max(_LEAST_PATIENCE, round(_PATIENCE * base.train.epochs))
    return changes, trusted


def _trained(*, unbalanced: bool, noisy: bool) -> str:
    """The method of a network: Balanced Softmax for unbalanced classes; anchors if labels are noisy."""
    if unbalanced:
        return "balanced-softmax+pal" if noisy else "balanced-softmax"
    return "ce+fnpal" if noisy else "ce"


def _computed(look: Look, dataset: Dataset) -> tuple[str, dict[str, Any]] | None:
    """The computed method that predicts unseen labels best, or an average of several; None if the network does.

    Labels may be wrong, so what is compared is how likely they are under the noise law of each. An average has the
    weights under which they are likeliest. It is taken if it gains more than one nat in all for each weight that it has
    more than the best member alone.
    """
    most = {"neighbours": MOST_KEPT}
    members = [each for each in look.opinions if each.name in MEMBERS and len(dataset) <= most.get(each.name, math.inf)]
    if not members:
        return None

    def likely(logits: Tensor) -> float:
        return likelihood_under_law(logits, dataset.labels, dataset.weights)

    alone = {each.name: likely(each.logits) for each in members}
    name, options = max(alone, key=lambda name: alone[name]), dict[str, Any]()
    worth = alone[name]
    logits, weighted = combine(members, dataset.labels, dataset.weights)
    kept = [each for each in weighted if (each.weight or 0.0) >= _LEAST_SHARE]
    together = likely(logits)
    if len(kept) > 1 and len(dataset) * (together - worth) > len(kept) - 1:
        shares = ",".join(f"{each.weight:.3f}" for each in kept)
        name, options, worth = "average", {"members": ",".join(each.name for each in kept), "weights": shares}, together
    rival = next((each for each in look.opinions if each.name == "network"), None)
    return None if rival is not None and likely(rival.logits) > worth else (name, options)


def _settled(
    base: RunConfig, dataset: Dataset, data: RunData, changes: Mapping[str, Mapping[str, Any]], look: LookConfig | None
) -> RunConfig:
    """``base`` with ``changes``, and with what follows from its method: options, second stage, loss, noise rate."""
    parts = {part: getattr(base, part).model_copy(update=dict(tree)) for part, tree in changes.items()}
    config = base.model_copy(update={**parts, "look": look})
    method, source = parse(config.method.name), _source(base, dataset)
    chosen: dict[str, Any] = {"name": method.name}
    if config.method.noise_rate == "auto":
        plan = CorruptionPlan.parse(config.data.corrupt)
        unknown = ASSUMED_NOISE_RATE if method.noise_aware and not config.data.corrupt else 0.0
        chosen["noise_rate"] = plan.eta if plan.noise is not None else unknown
    kind = procedure_type(method)
    if kind.computed:
        config = config.model_copy(
            update={
                "data": config.data.model_copy(update={"normalize": "none", "augment": (), "hold_out": 0.0}),
                "backbone": BackboneConfig(name="none"),
            }
        )
    chosen["options"] = kind.resolve(method, source, dataset.counts, config.method.options)
    chosen["loss"] = {
        **published_settings(method.loss, source, dataset.counts.tolist()),
        **config.method.loss,
    }
    features = NOT_ENCODED if config.features.encoder == "auto" else config.features
    pinned = {"corrections_digest": data.corrections["digest"]} if data.corrections else {}
    return config.model_copy(
        update={
            "data": config.data.model_copy(update=pinned),
            "features": features,
            "method": config.method.model_copy(update=chosen),
            "second": _second(method, config),
        }
    )


def _second(method: Method, config: RunConfig) -> SecondConfig | None:
    """The settings of the second stage; None if the method has none."""
    default = procedure_type(method).second_epochs
    if default is None:
        if config.second is not None:
            raise InputError(f"method {method.name!r} has one stage only; leave out the settings called second")
        return None
    second = SecondConfig() if config.second is None else config.second
    return SecondConfig(
        epochs=min(default, config.train.epochs) if second.epochs == "auto" else second.epochs,
        lr=config.optimizer.lr if second.lr == "auto" else second.lr,
        schedule=second.schedule,
    )


def _source(config: RunConfig, dataset: Dataset) -> str:
    """The source that recipes and published settings go by; encoded data has none: its vectors are no one's pixels."""
    if config.features.encoder not in (None, "auto"):
        return "features"
    return config.data.source or dataset.name  # called from Python, the data itself says what it is


def hold_out_share(n: int) -> float:
    """Choose the share of ``n`` samples kept aside: a tenth, at most 5,000; none of a set that needs each of them.

    Example:
        >>> hold_out_share(1_000), hold_out_share(100_000), hold_out_share(150)
        (0.1, 0.05, 0.0)
    """
    return 0.0 if n <= _SMALL else min(0.1, _MOST_HELD_OUT / n)


def auto_method(dataset: Dataset) -> str:
    """Choose a method without a look: anchored; for balanced answers if a class is a tenth of another.

    Example:
        >>> from anchored.data import load_digits
        >>> auto_method(load_digits().train)
        'ce+fnpal'
    """
    counts = dataset.counts[dataset.counts > 0]
    if len(counts) == 0:
        raise InputError(f"{dataset.name}: there is no labelled sample to train on; give labels")
    return _trained(unbalanced=int(counts.max()) >= _UNBALANCED * int(counts.min()), noisy=True)


def _is_noisy(look: Look) -> bool:
    """Whether labels are treated as noisy: some are wrong, and they are a good part of what contradicts the judges.

    The interval of the rate says what can be known, and reaches down to zero whenever all contradictions could be the
    judges' own mistakes. Doubting labels needlessly costs little and trusting wrong ones much, so the estimate decides.
    """
    return look.knowable and look.noise.rate >= max(_CLEAN, _LEAST_BLAME * look.contradicted)


def _imbalance(posterior: Tensor) -> float:
    """How many times the largest class is the smallest, by the sizes that the posterior sees."""
    sizes = posterior.sum(dim=0)
    return float(sizes.max() / sizes.min().clamp(min=1.0))


def _reasons(config: RunConfig, look: Look, trusted: TrustedLabels | None, evidence: Evidence | None) -> dict[str, Any]:
    """What was found and chosen, for people and for programs; a function of the configuration and the look alone."""
    assert isinstance(config.look, LookConfig), "only called after a look"
    chosen: dict[str, Any] = {}
    values = config.as_dict()
    for path in config.look.decided:
        part, name = path.split(".")
        chosen.setdefault(part, {})[name] = values[part][name]
    low, high = look.noise.interval
    opinions = [each.as_dict() for each in look.opinions]
    return {
        "text": _text(config, look, trusted, evidence, chosen),
        **({"judges": opinions, "knowable": look.knowable} if opinions else {}),
        "noise_rate": look.noise.rate,
        "interval": [low, high],
        "transition": look.noise.transition.tolist(),
        "imbalance": _imbalance(look.posterior),
        "labels": config.train.labels,
        "labels_doubted": 0 if trusted is None else trusted.doubted,
        "residual_noise_rate": None if trusted is None else trusted.residual,
        **({} if evidence is None else {"treatments": dict(evidence.log_likelihood)}),
        "chosen": chosen,
    }


_TREATED = {
    "cleaned": "each label counts as far as it can be trusted",
    "sure": "only labels that are more probably right than wrong count",
    "replaced": "the likeliest class takes the place of each label, and counts as far as it is probable",
}


def _text(
    config: RunConfig,
    look: Look,
    trusted: TrustedLabels | None,
    evidence: Evidence | None,
    chosen: Mapping[str, Any],
) -> str:
    noise, noisy = look.noise, _is_noisy(look)
    low, high = noise.interval
    if not look.knowable:
        return f"{look.text} The method is {config.method.name}, on the labels as they are."
    said = [f"About {noise.rate:.1%} of the labels look wrong (between {low:.1%} and {high:.1%})"]
    few = "too few to matter" if noise.rate < _CLEAN else "perhaps none"
    said[0] += "." if noisy else f", {few}, so they are trained on as they are."
    if trusted is not None:
        judges = "Two models, each asked about the half of the data that it did not see,"
        if look.opinions:
            judges = "The judges, none of which saw the label that it judges,"
        said.append(
            f"{judges} doubt {trusted.doubted:,} of {len(trusted.dataset):,}; {_TREATED[config.train.labels]}, which "
            f"leaves some {trusted.residual:.1%} wrong."
        )
    if evidence is not None:
        told = ", ".join(f"{name} {value:.3f}" for name, value in evidence.log_likelihood.items())
        as_given = "They are trained on as they are given, which" if trusted is None else "This way"
        clearly = "makes unseen labels clearly likelier"
        if evidence.chosen == USUAL:
            clearly = "is the usual one, and no other makes unseen labels clearly likelier"
        said.append(f"{as_given} {clearly} (mean log-probability: {told}).")
    method, rho = parse(config.method.name), _imbalance(look.posterior)
    if "name" not in chosen.get("method", {}):
        why = "as asked"
    elif rho >= _UNBALANCED:
        why = f"because the largest class is some {rho:.0f} times the smallest, wrong labels allowed for"
    elif procedure_type(method).computed:
        told = ", ".join(f"{each.name} {each.log_likelihood:.3f}" for each in look.opinions)
        why = f"because it makes labels that it did not see likeliest (mean log-probability: {told})"
    else:
        why = "fixed class directions, which hold against wrong labels" if noisy else "plain training, which is enough"
    described = f"The method is {method.name}, {why}"
    if "noise_rate" in chosen.get("method", {}) and method.noise_aware:
        least = ", the least that is assumed" if trusted is not None and trusted.residual < _LEAST_RESIDUAL else ""
        described += f", its scale set for {config.method.noise_rate:.1%} wrong labels{least}"
    if "data" in chosen:
        described += f"; images are shifted by up to {config.data.augment[0].partition('=')[2]} pixels"
    said.append(described + ".")
    if "early_stop" in chosen.get("train", {}):
        said.append(
            f"Training stops after {config.train.early_stop} epochs in which held-out labels, as noisy as the "
            f"others, are predicted worse than before, and goes back to the best; weights are averaged on the way."
        )
    return " ".join(said)
