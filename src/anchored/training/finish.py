"""The end of a run: a temperature for its logits, the final numbers, and the model that stands on its own."""

from __future__ import annotations

import copy
import platform
from typing import Any

import torch
from torch import Tensor

from anchored import __version__
from anchored.methods import Network
from anchored.metrics import cosine_margins, fit_noise_and_temperature, fit_temperature, least_temperature, scores
from anchored.training.evaluate import collect, logits_of
from anchored.training.prepare import Prepared
from anchored.training.state import Record
from anchored.training.trained import OWN, TrainedModel
from anchored.training.work import Work

__all__ = ["finish"]


def finish(work: Work, prepared: Prepared) -> tuple[TrainedModel, dict[str, Any]]:
    """The model with its temperature, and the final numbers; ``prepared`` says what was done to the data."""
    config, history = work.config, work.state.history
    network = work.state.scored
    assert isinstance(network, Network)
    temperature, about = _calibrate(work, network)
    method = work.procedure.method
    result: dict[str, Any] = {
        "config_hash": config.content_hash,
        "method": method.name,
        "description": method.describe(),
        "epochs": len(history),
        "kept_epoch": len(history) if work.state.better is None else work.state.better.epoch,
        "samples": len(work.train_set),
        "class_counts": work.counts.tolist(),
        "corruption": prepared.corruption,
        "corrections": prepared.corrections,
        "temperature": temperature,
        "calibration": about,
        "history_best": _best(history, work.state.stage),
        "versions": {"anchored": __version__, "torch": torch.__version__, "python": platform.python_version()},
    }
    for name, dataset, batches in (
        ("held_out", work.held_out, work.held_batches),
        ("test", work.test, work.test_batches),
    ):
        if dataset is not None and batches is not None and dataset.labelled:
            logits, features = collect(network, batches, work.runtime, features=True)
            labels = dataset.labels if dataset.clean_labels is None else dataset.clean_labels
            result[name] = scores(logits, labels, temperature=temperature, counts=work.counts.tolist())
            rows = network.rows()
            if rows is not None:
                result[name] |= cosine_margins(features, rows.detach().cpu(), labels)
            if name == "held_out" and work.truth is not None and dataset.clean_labels is None:
                result["estimated"] = scores(logits, work.truth, temperature=temperature, counts=work.counts.tolist())
    plain = copy.deepcopy(network).to("cpu").requires_grad_(False)
    description = _description(work)
    return TrainedModel(plain, work.normalization, work.train_set.class_names, temperature, description), result


def _description(work: Work) -> dict[str, Any]:
    """How the network was made, as plain values: enough to make it again."""
    config, made = work.config, work.config.backbone
    return {
        "method": work.procedure.method.name,
        "noise_rate": config.method.noise_rate,
        "scale": config.method.scale,
        "options": config.method.options,
        "backbone": {"name": OWN} if work.own_module else made.model_dump(mode="json"),
        "columns": None if work.train_set.columns is None else list(work.train_set.columns),
        "config_hash": config.content_hash,
        "training_counts": work.counts.tolist(),
    }


def _calibrate(work: Work, network: Network) -> tuple[float, dict[str, Any]]:
    """The temperature, fitted on what was held out; on the training data only where nothing was."""
    dataset = work.train_set if work.held_out is None else work.held_out
    logits = logits_of(network, work.batches(dataset), work.runtime)
    weights: Tensor | None = dataset.weights
    about: dict[str, Any] = {"on": "training data" if work.held_out is None else "held-out data", "n": len(dataset)}
    if work.truth is not None:
        rate = float(1 - work.truth.gather(1, dataset.labels[:, None]).mean())
        temperature = fit_temperature(logits, work.truth, weights=weights)
    elif dataset.clean_labels is not None:
        # The rate that was really drawn; the labels themselves stay unseen.
        rate = float(dataset.clean_labels.ne(dataset.labels).double().mean())
        temperature = fit_temperature(logits, dataset.labels, noise_rate=rate, weights=weights)
    else:
        rate, temperature = fit_noise_and_temperature(logits, dataset.labels, weights=weights)
    about["noise_rate"] = rate
    return max(temperature, least_temperature(logits, weights=weights)), about


def _best(history: list[Record], stage: int) -> dict[str, float | int | None]:
    """The best test epoch of the last stage, which is reported beside the last one and never chosen by.

    What an earlier stage reached is another network's; a last stage without epochs has no best one.
    """
    own = [record for record in history if record.get("stage", 1) == stage + 1]
    scored = [record for record in own if record.get("test_accuracy") is not None]
    if not scored:
        return {}
    best = max(scored, key=lambda record: record["test_accuracy"] or 0.0)
    return {"epoch": best["epoch"], "test_accuracy": best["test_accuracy"]}
