"""The look at the labels before training: two short models judge the half of the labels that they did not see.

It costs about a third of one training, and is taken only if something was left to it: ``method.name`` or
``method.noise_rate`` is auto, or ``train.labels`` is cleaned. What the two models say is kept in the run under ``look``
while it is made, so that a run that was stopped during the look goes on.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from anchored._random import stream
from anchored.audit import CrossFit, LabelNoise, cross_fit, judge, look_model, look_settings
from anchored.data import Dataset
from anchored.runs.data import RunData
from anchored.runs.decide import complete, needs_look
from anchored.runs.folder import RunFolder
from anchored.training import LookConfig, Progress, RunConfig, check_possible

__all__ = ["Look", "look_at_labels", "make_look"]


@dataclass(frozen=True, eq=False)
class Look:
    """What a look at the labels has found.

    Attributes:
        base: The run's configuration as far as the data decides it; see :func:`anchored.runs.complete`.
        settings: How the two models were trained.
        logits: What they say, ``(n, k)``; no sample is judged by a model that saw it.
        noise: The estimated noise of the labels.
        posterior: Probabilities ``(n, k)`` of the true labels.
    """

    base: RunConfig
    settings: LookConfig
    logits: Tensor
    noise: LabelNoise
    posterior: Tensor


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
    chosen = settings.look if isinstance(settings.look, LookConfig) else look_settings(base, len(data.labelled))
    config = base.model_copy(update={"look": chosen})
    check_possible(look_model(config, chosen), data.labelled.counts, data.labelled.inputs.shape, module)
    answers = None
    if folder is not None:
        folder.begin(settings, data.corrections)
        answers = folder.read_look(len(data.labelled))
    if answers is None:
        if progress is not None:
            progress.say(
                "a look at the labels first: two short trainings, each on half of the data, judge the other half"
            )
        where = None if folder is None else folder.look_path
        answers = cross_fit(data.labelled, config, module=module, folder=where, progress=progress)
    return make_look(base, chosen, answers, data.labelled)


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
    return Look(base, settings, answers.logits, noise, posterior)
