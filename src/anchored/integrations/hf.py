"""Hugging Face: a loss that ``Trainer`` takes as it is, metrics, and saved models that come back with their head."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from anchored._errors import InputError
from anchored.heads import AnchoredConv, AnchoredHead
from anchored.integrations.geometry import Geometry
from anchored.losses import Loss, get

__all__ = ["TrainerLoss", "compute_metrics", "from_pretrained", "loss"]

_PROTOTYPES = ".prototypes"


class TrainerLoss:
    r"""A loss in the form of ``Trainer(compute_loss_func=...)``.

    With gradient accumulation, ``Trainer`` counts the labels of all batches of a step and passes the count as
    ``num_items_in_batch`` = N. The loss of a batch is then its sum divided by N, so that accumulated batches of unequal
    size add up to the mean over all labels, :math:`\frac1N \sum_i \ell(\mathbf f_i, y_i)`; without a count it is the
    mean of the batch.

    Args:
        loss: Any loss of this library.
    """

    def __init__(self, loss: Loss) -> None:
        self.loss = loss

    def __call__(self, outputs: Any, labels: Tensor, num_items_in_batch: Tensor | int | None = None) -> Tensor:  # noqa: ANN401  # any model's
        """Return the loss of a batch.

        Args:
            outputs: What the model answered: an object or a dict with ``logits``, a tuple that begins with them, or the
                logits: ``(n, k)``, ``(n, length, k)`` for tokens, or ``(n, k, h, w)`` for pixels.
            labels: Labels ``(n,)``, ``(n, length)`` or ``(n, h, w)``; -100 is left out.
            num_items_in_batch: Number of labels in the whole step, if ``Trainer`` counted them.

        Returns:
            A scalar ``()``.
        """
        logits = _logits(outputs)
        if labels is None:
            raise InputError(
                "the batch has no labels, so there is no loss; name the column by TrainingArguments.label_names"
            )
        if logits.shape[:-1] == labels.shape:  # classes on the last axis, as for tokens
            logits, labels = logits.reshape(-1, logits.shape[-1]), labels.reshape(-1)
        if num_items_in_batch is None:
            return self.loss(logits, labels)  # type: ignore[no-any-return]  # torch leaves calls of modules untyped
        reduction, self.loss.reduction = self.loss.reduction, "sum"
        try:
            total: Tensor = self.loss(logits, labels)
        finally:
            self.loss.reduction = reduction
        return total / torch.as_tensor(num_items_in_batch, device=total.device).to(total.dtype)


def loss(name: str | Loss, **settings: object) -> TrainerLoss:
    """Return the loss called ``name``, ready to pass as ``Trainer(compute_loss_func=...)``.

    Args:
        name: A loss, or a name for :func:`anchored.losses.get`: ``"gce"``, ``"nce+rce"`` ...
        **settings: Settings of the loss, as for ``get``.

    Returns:
        A function of ``(outputs, labels, num_items_in_batch=None)``.

    Example:
        >>> trainer_loss = loss("ce")
        >>> trainer_loss({"logits": torch.zeros(2, 4)}, torch.tensor([0, 3]), num_items_in_batch=4)     # log(4) / 2
        tensor(0.6931)
    """
    return TrainerLoss(get(name, **settings) if isinstance(name, str) else name)


def compute_metrics(prediction: Any) -> dict[str, float]:  # noqa: ANN401  # transformers.EvalPrediction
    """Return accuracy, margins and estimated label noise of an evaluation, for ``Trainer(compute_metrics=...)``.

    The labels must be held out; the noise is theirs. It is left out if there are fewer than ten labels per class.

    Example:
        >>> from types import SimpleNamespace
        >>> import numpy as np
        >>> compute_metrics(SimpleNamespace(predictions=np.eye(3), label_ids=np.arange(3)))
        {'accuracy': 1.0, 'margin_mean': 1.0, 'margin_min': 1.0}
    """
    logits, labels = torch.as_tensor(_logits(prediction.predictions)), torch.as_tensor(prediction.label_ids)
    if logits.shape[:-1] == labels.shape:
        logits, labels = logits.reshape(-1, logits.shape[-1]), labels.reshape(-1)
    gathered = Geometry(most=max(len(labels), 1))
    gathered.add(logits, labels)
    return {name.replace("/", "_"): value for name, value in gathered.summary().items()}


def from_pretrained(cls: Any, folder: str | Path, **options: Any) -> Any:  # noqa: ANN401  # transformers is optional
    """Load what ``save_pretrained`` wrote of an anchored model, with its heads, through ``cls.from_pretrained``.

    ``from_pretrained`` builds the network of the configuration, which has a linear classifier; the weights of an
    anchored head then fit nowhere. Here the heads that the file holds are put in place first. Scale, normalisation and
    prototypes come from the file.

    Args:
        cls: A model class or an auto class, such as ``AutoModelForImageClassification``.
        folder: The folder that ``save_pretrained`` wrote, or a repository of the hub.
        **options: Passed on to ``cls.from_pretrained``.

    Returns:
        The model, in evaluation mode.

    Raises:
        InputError: If transformers is not installed, or the file holds no anchored head.

    Example:
        ``model = anchored.integrations.hf.from_pretrained(AutoModelForSequenceClassification, "folder")``
    """
    try:
        from transformers import AutoConfig
    except ImportError:
        raise InputError("transformers is not installed; pip install transformers") from None
    names = _tensor_names(str(folder))
    layers = [name.removesuffix(_PROTOTYPES) for name in names if name.endswith(_PROTOTYPES)]
    if not layers:
        raise InputError(
            f"{folder} holds no anchored head; use {getattr(cls, '__name__', 'the class')}.from_pretrained"
        )
    config = options.pop("config", None) or AutoConfig.from_pretrained(folder)
    concrete = cls._model_mapping[type(config)] if hasattr(cls, "_model_mapping") else cls
    concrete = concrete[0] if isinstance(concrete, tuple) else concrete

    def build(self: Any, *arguments: Any, **named: Any) -> None:  # noqa: ANN401  # as above
        concrete.__init__(self, *arguments, **named)
        for layer in layers:
            _put_blank_head(self, layer)

    # The class is needed only while its network is built; the model is of the class that was asked for.
    with_heads: Any = type(concrete.__name__, (concrete,), {"__init__": build, "__module__": concrete.__module__})
    model = with_heads.from_pretrained(folder, config=config, **options)
    model.__class__ = concrete
    return model


def _put_blank_head(model: nn.Module, layer: str) -> None:
    """Replace a layer by a head of its size, whose values a file will bring."""
    parent_name, _, name = layer.rpartition(".")
    parent = model.get_submodule(parent_name)
    old = parent.get_submodule(name)
    if isinstance(old, nn.Conv2d):
        head: AnchoredHead = AnchoredConv.blank(old.in_channels, old.out_channels)
    elif isinstance(old, nn.Linear):
        head = AnchoredHead.blank(old.in_features, old.out_features)
    else:
        raise InputError(f"the file has an anchored head {layer!r}, but the network has a {type(old).__name__} there")
    setattr(parent, name, head)


def _tensor_names(folder: str) -> list[str]:
    """Return the names of the tensors in the safetensors files of a folder, or of a repository of the hub."""
    from safetensors import safe_open
    from transformers.utils import cached_file

    def found(file: str) -> str | None:
        path: str | None = cached_file(folder, file, _raise_exceptions_for_missing_entries=False)
        return path

    index = found("model.safetensors.index.json")
    if index is not None:
        return list(json.loads(Path(index).read_text(encoding="utf-8"))["weight_map"])
    single = found("model.safetensors")
    if single is None:
        raise InputError(f"{folder} holds no model.safetensors; write it by model.save_pretrained(folder)")
    with safe_open(single, framework="pt") as file:
        return list(file.keys())


def _logits(outputs: Any) -> Any:  # noqa: ANN401  # any model's answer
    """Return the logits among what a model answered."""
    if hasattr(outputs, "logits"):
        return outputs.logits
    if hasattr(outputs, "keys") and "logits" in outputs:
        return outputs["logits"]
    return outputs[0] if isinstance(outputs, (tuple, list)) else outputs
