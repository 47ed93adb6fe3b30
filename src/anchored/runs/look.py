"""The look at the labels before training: judges say which class each sample looks like, without having seen its label.

Vectors are judged by closed forms, neighbours and their like in seconds, and by a network too if the data is small.
Images are judged by two short networks, each trained on one half of the data and asked about the other, for about a
third of the price of one training. The look is taken only if something was left to it: ``method.name`` or
``method.noise_rate`` is auto, or ``train.labels`` is cleaned. What the judges say is kept in the run under ``look``
while it is made, so that a run that was stopped during the look goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from anchored._files import write_json
from anchored._random import stream
from anchored.audit import CrossFit, LabelNoise, cross_fit, judge, look_model, look_settings
from anchored.audit.judges import Opinion, Vectors, Verdict, choose_judges, judge_vectors, knowable, network
from anchored.data import Dataset
from anchored.runs.data import RunData
from anchored.runs.decide import asks_for_network, complete, needs_look
from anchored.runs.folder import RunFolder
from anchored.training import LookConfig, Progress, RunConfig, check_possible, is_main_process

__all__ = ["Look", "look_at_labels", "make_look"]

NETWORK = "network"
_NETWORK_WORK = 2e6
"""Numbers of a table up to which a network judges beside the closed forms."""
_ENOUGH = 0.97
"""Share of the labels that the other judges must predict for the network not to be asked: it could add little."""
_OPINIONS = "opinions.json"


@dataclass(frozen=True, eq=False)
class Look:
    """What a look at the labels has found.

    Attributes:
        base: The run's configuration as far as the data decides it; see :func:`anchored.runs.complete`.
        settings: Who judged, and how the two short models were trained.
        logits: What the judges say together, ``(n, k)``; no sample is judged by a model that saw it.
        noise: The estimated noise of the labels.
        posterior: Probabilities ``(n, k)`` of the true labels.
        opinions: How well each judge predicts labels that it did not see; empty if one judge spoke alone.
        knowable: Whether labels are predicted better than by always naming the largest class. If not, nothing is
            known about them, and the posterior is the labels as they are given.
        contradicted: Share of the labels that are not the likeliest class.
        text: What the judges found, in a few sentences; empty if one judge spoke alone.
        gamma: Sharpness of the kernel that a judge has chosen; None if none has.
    """

    base: RunConfig
    settings: LookConfig
    logits: Tensor
    noise: LabelNoise
    posterior: Tensor
    opinions: tuple[Opinion, ...] = ()
    knowable: bool = True
    contradicted: float = 0.0
    text: str = ""
    gamma: float | None = None


def look_at_labels(
    data: RunData,
    settings: RunConfig,
    folder: RunFolder | None = None,
    *,
    module: nn.Module | None = None,
    progress: Progress | None = None,
) -> Look | None:
    """Look at the labels, if something in ``settings`` depends on it.

    Args:
        data: The data of the run.
        settings: The user's settings.
        folder: The run's folder, in which the look is kept as it is made; None keeps nothing.
        module: A backbone of your own; every model trains a copy.
        progress: Is told what happens.

    Returns:
        What was found, or None if nothing depends on it or the data is too small.

    Example:
        >>> from anchored.data import load_digits
        >>> from anchored.training import validate
        >>> settings = validate({"data": {"corrupt": ["symmetric=0.3"]}, "train": {"epochs": 8}})
        >>> look = look_at_labels(RunData.open(load_digits(), settings), settings)
        >>> abs(look.noise.rate - 0.3) < 0.08, look.posterior.shape
        (True, torch.Size([1437, 10]))
    """
    if not (needs_look(settings, data.labelled) or (folder is not None and folder.has_earlier_look)):
        return None
    base = complete(settings, data.labelled)
    chosen = settings.look if isinstance(settings.look, LookConfig) else _judges_for(settings, base, data)
    config = base.model_copy(update={"look": chosen})
    if NETWORK in chosen.judges:
        check_possible(look_model(config, chosen), data.labelled.counts, data.labelled.inputs.shape, module)
    if folder is not None:
        folder.begin(settings, data.corrections)
    where = None if folder is None else folder.look_path
    if chosen.judges != (NETWORK,):
        optional = not isinstance(settings.look, LookConfig)
        return _judged(data.labelled, config, chosen, where, optional=optional, module=module, progress=progress)
    answers = None if folder is None else folder.read_look(len(data.labelled))
    if answers is None:
        if progress is not None:
            progress.say(
                "a look at the labels first: two short trainings, each on half of the data, judge the other half"
            )
        answers = cross_fit(data.labelled, config, module=module, folder=where, progress=progress)
    return make_look(base, chosen, answers, data.labelled)


def _judges_for(settings: RunConfig, base: RunConfig, data: RunData) -> LookConfig:
    """Who judges: closed forms and neighbours for vectors, networks for images or if network settings were given.

    Features that an encoder has made are made for closed forms, which take seconds; no network is trained on them
    unless it is asked for.
    """
    dataset = data.labelled
    alone = look_settings(base, len(dataset))
    if dataset.is_image or asks_for_network(settings) or settings.method.name != "auto":
        return alone
    n, (d,) = len(dataset), dataset.inputs.shape
    names = choose_judges("auto", Vectors.check(_rows(dataset), dataset.labels, dataset.k))
    network = n * d <= _NETWORK_WORK and data.encoder is None
    return alone.model_copy(update={"judges": (*names, *((NETWORK,) if network else ()))})


def _rows(dataset: Dataset) -> Tensor:
    return dataset.inputs.take(torch.arange(len(dataset))).flatten(1)


def _judged(
    dataset: Dataset,
    config: RunConfig,
    chosen: LookConfig,
    folder: Path | None,
    *,
    optional: bool,
    module: nn.Module | None,
    progress: Progress | None,
) -> Look:
    """The verdict of several judges; the network's part is kept as it is made, the others take seconds.

    If the network is optional, it is asked only if the others leave something to explain.
    """

    def judged(names: Sequence[str], others: Sequence[Opinion] = ()) -> Verdict:
        return judge_vectors(
            _rows(dataset),
            dataset.labels,
            dataset.k,
            weights=dataset.weights,
            confirmed=dataset.confirmed,
            given=dataset.original_labels,
            judges=names,
            others=others,
            seed=config.train.seed,
            progress=progress,
        )

    verdict = judged(tuple(name for name in chosen.judges if name != NETWORK))
    gamma = verdict.gamma
    if NETWORK in chosen.judges and (not optional or verdict.accuracy < _ENOUGH):
        own = None if folder is None else folder / NETWORK
        said = network(dataset, config, module=module, folder=own, progress=progress)
        # Answers by leaving out agree by chance too often. If they failed the exact test, the network, each of whose
        # halves is judged by the labels of the other alone, must pass it by itself.
        if verdict.knowable or knowable(said.logits, dataset.labels):
            verdict = judged((), (said, *verdict.opinions))
    else:
        chosen = chosen.model_copy(update={"judges": tuple(name for name in chosen.judges if name != NETWORK)})
    if folder is not None and is_main_process():
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / _OPINIONS, _told(verdict))
        half = torch.zeros(len(dataset), dtype=torch.int64)
        CrossFit(verdict.logits.float(), half, chosen.epochs).save(folder)
    opinions, noise, posterior = verdict.opinions, verdict.noise, verdict.posterior
    found = (opinions, verdict.knowable, 1 - verdict.accuracy, verdict.text, gamma)
    return Look(config, chosen, verdict.logits, noise, posterior, *found)


def _told(verdict: Verdict) -> dict[str, Any]:
    """What each judge was worth, for people: it decides nothing any more."""
    opinions = [each.as_dict() for each in verdict.opinions]
    return {"text": verdict.text, "knowable": verdict.knowable, "opinions": opinions}


def make_look(base: RunConfig, settings: LookConfig, answers: CrossFit, dataset: Dataset) -> Look:
    """Judge the labels of ``dataset`` by what two models said of them; the same each time.

    Args:
        base: The run's configuration.
        settings: How the two models were trained.
        answers: What they said, each of the half that it did not see.
        dataset: The training data with the labels given.

    Returns:
        The look.

    Example:
        >>> import torch
        >>> from anchored.data import load_digits
        >>> digits = load_digits().test
        >>> logits = 5.0 * torch.nn.functional.one_hot(digits.labels, 10)  # two models that never err
        >>> answers = CrossFit(logits, torch.arange(360) % 2, epochs=1)
        >>> settings = LookConfig(epochs=1, batch_size=64, lr=0.1)
        >>> round(make_look(complete({}, digits), settings, answers, digits).noise.rate, 2)
        0.0
    """
    noise, posterior = judge(dataset, answers.logits, generator=stream(base.train.seed, "noise rate"))
    contradicted = float((answers.logits.argmax(dim=1) != dataset.labels).double().mean())
    return Look(base, settings, answers.logits, noise, posterior, contradicted=contradicted)
