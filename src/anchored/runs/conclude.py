"""The end of a run: a temperature for its logits, the final numbers, the audit of its labels, and the model."""

from __future__ import annotations

import copy
import platform
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from anchored import __version__
from anchored._random import stream
from anchored.audit import audit
from anchored.metrics import cosine_margins, fit_noise_and_temperature, fit_temperature, least_temperature, scores
from anchored.runs.data import RunData
from anchored.runs.decide import Decision
from anchored.runs.folder import RunFolder
from anchored.runs.look import Look
from anchored.runs.model import OWN_BACKBONE, TrainedModel
from anchored.training import EpochRecord, TrainingSetup, is_main_process

__all__ = ["conclude"]

_MOST_NUMBERS = 2**23
"""Logits that a temperature is fitted to: 8,000 samples of a thousand classes."""


def conclude(
    setup: TrainingSetup,
    decision: Decision,
    data: RunData,
    look: Look | None,
    run: RunFolder | None,
    *,
    tuning: Mapping[str, Any] | None = None,
) -> tuple[TrainedModel, dict[str, Any]]:
    """Calibrate and score the network, audit the labels that were looked at, and keep all of it; the result last.

    Args:
        setup: The finished training.
        decision: What was decided, and why.
        data: The data of the run.
        look: What the look at the labels has found, or None.
        run: The folder of the run, or None to keep nothing.
        tuning: What there is to say about fine-tuning, or None.

    Returns:
        The model that stands on its own, and the final numbers as in ``result.json``.
    """
    posterior = None if look is None or not look.knowable else look.posterior
    held = data.held_index(setup.config)
    if posterior is not None and held is not None:
        posterior = posterior[held]  # of the samples that the model is judged by: what is held out, else all
    temperature, calibration = _calibrate(setup, posterior)
    config_hash = decision.config.content_hash
    result = {"config_hash": config_hash, **_result(setup, data, temperature, calibration, posterior)}
    if tuning is not None:
        result["tuning"] = dict(tuning)
    reasons = decision.reasons if run is None else run.read_earlier_reasons() or decision.reasons
    if reasons is not None:
        result["auto"] = reasons
    network = copy.deepcopy(setup.scored).to("cpu").requires_grad_(False)
    names = setup.train_set.class_names
    model = TrainedModel(
        network,
        setup.normalization,
        names,
        temperature,
        _description(setup, config_hash, data.raw.columns),
        encoder=data.encoder,
    )
    if run is not None and is_main_process():
        model.save(run.path)
        if look is not None and look.knowable:
            # Near-duplicates are looked for among inputs; if those lie on the disk, that is one more pass through them.
            found = audit(
                None,
                data.labelled,
                logits=look.logits,
                duplicates=data.labelled.inputs.in_memory,
                generator=stream(setup.config.train.seed, "noise rate"),
            )
            found.save(run.path / "audit")
        run.write_result(result)
    return model, result


def _result(
    setup: TrainingSetup, data: RunData, temperature: float, calibration: dict[str, Any], posterior: Tensor | None
) -> dict[str, Any]:
    history, method = setup.state.history, setup.procedure.method
    counts = setup.counts.tolist()
    result: dict[str, Any] = {
        "method": method.name,
        "description": method.describe(),
        "epochs": len(history),
        "kept_epoch": len(history) if setup.state.better is None else setup.state.better.epoch,
        "samples": len(setup.train_set),
        "class_counts": counts,
        "corruption": data.corruption,
        "corrections": data.corrections,
        "temperature": temperature,
        "calibration": calibration,
        "history_best": _best(history, setup.state.stage),
        "threads": torch.get_num_threads(),
        "versions": {"anchored": __version__, "torch": torch.__version__, "python": platform.python_version()},
    }
    said, there = torch.zeros(2, len(counts), dtype=torch.int64)
    unseen = data.labelled if setup.left_out is not None else setup.held_out  # under the labels given, not as learnt
    for name, dataset in (("held_out", unseen), ("test", setup.test)):
        if dataset is not None and dataset.labelled:
            if name == "held_out" and setup.left_out is not None:
                logits, features = setup.left_out, None
            else:
                logits, features = setup.answers(dataset, features=True)
            labels = dataset.labels if dataset.clean_labels is None else dataset.clean_labels
            result[name] = scores(logits, labels, temperature=temperature, counts=counts)
            said += logits.argmax(dim=1).cpu().bincount(minlength=len(counts))
            there += labels.bincount(minlength=len(counts))
            rows = setup.scored.rows()
            if rows is not None and features is not None:
                result[name] |= cosine_margins(features, rows.detach().cpu(), labels)
            if name == "held_out" and posterior is not None and dataset.clean_labels is None:
                result["estimated"] = scores(logits, posterior, temperature=temperature, counts=counts)
    names = setup.train_set.class_names
    result["never_predicted"] = [names[j] for j in ((said == 0) & (there > 0)).nonzero()[:, 0].tolist()]
    return result


def _description(setup: TrainingSetup, config_hash: str, columns: tuple[str, ...] | None) -> dict[str, Any]:
    """How the network was made, as plain values: enough to make it again."""
    config = setup.config
    return {
        "method": setup.procedure.method.name,
        "noise_rate": config.method.noise_rate,
        "scale": config.method.scale,
        "options": config.method.options,
        "backbone": {"name": OWN_BACKBONE} if setup.own_module else config.backbone.model_dump(mode="json"),
        "columns": None if columns is None else list(columns),
        "config_hash": config_hash,
        "training_counts": setup.counts.tolist(),
    }


def _calibrate(setup: TrainingSetup, posterior: Tensor | None) -> tuple[float, dict[str, Any]]:
    """The temperature, fitted on what was held out; on the training data only if nothing was."""
    dataset = setup.train_set if setup.held_out is None else setup.held_out
    left_out = setup.left_out
    logits = setup.answers(dataset).logits if left_out is None else left_out
    weights: Tensor | None = dataset.weights
    on = "training data" if setup.held_out is None else "held-out data"
    about: dict[str, Any] = {"on": on if left_out is None else "training data, each left out", "n": len(dataset)}
    step = -(-logits.numel() // _MOST_NUMBERS)
    if step > 1:  # one temperature needs no more; the part stands for all
        part = torch.arange(0, len(dataset), step)
        each = torch.ones(len(dataset), dtype=torch.float64) if weights is None else weights.to(torch.float64)
        dataset, logits, weights = dataset.subset(part), logits[part], step * each[part]
        posterior = None if posterior is None else posterior[part]
    if posterior is not None:
        rate = float(1 - posterior.gather(1, dataset.labels[:, None]).mean())
        temperature = fit_temperature(logits, posterior, weights=weights)
    elif dataset.clean_labels is not None:
        # The rate that was really drawn; the labels themselves stay unseen.
        rate = float(dataset.clean_labels.ne(dataset.labels).double().mean())
        temperature = fit_temperature(logits, dataset.labels, noise_rate=rate, weights=weights)
    else:
        rate, temperature = fit_noise_and_temperature(logits, dataset.labels, weights=weights)
    about["noise_rate"] = rate
    return max(temperature, least_temperature(logits, weights=weights)), about


def _best(history: list[EpochRecord], stage: int) -> dict[str, float | int | None]:
    """The best test epoch of the last stage, which is reported beside the last one and never chosen by.

    What an earlier stage reached is another network's; a last stage without epochs has no best one.
    """
    own = [record for record in history if record.get("stage", 1) == stage + 1]
    scored = [record for record in own if record.get("test_accuracy") is not None]
    if not scored:
        return {}
    best = max(scored, key=lambda record: record["test_accuracy"] or 0.0)
    return {"epoch": best["epoch"], "test_accuracy": best["test_accuracy"]}
