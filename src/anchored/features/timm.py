"""``timm:NAME``: any network of the timm library as an encoder of photos; timm is imported on use only.

The weights come from the user's cache, from the hub, or from a file; they are read without running code from them.
Models are built without a classifier, so that features are what timm itself gives to one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn

from anchored._errors import InputError
from anchored._names import suggest
from anchored.features.hub import download, needed
from anchored.features.photos import PhotoEncoder, PhotoView, known_precision
from anchored.features.weights import load_into, read_weights

__all__ = ["TimmEncoder", "make", "restore"]


class TimmEncoder(PhotoEncoder):
    """A network of timm, frozen, with the size and normalisation that it was trained with.

    Args:
        model: timm's name, for instance ``"resnet18.a1_in1k"``.
        weights: A file of weights (safetensors, or ``.pth`` of tensors); a classifier in it is left out. By default the
            published ones.
        precision: ``"auto"``, ``"float32"`` or ``"bfloat16"``.

    Raises:
        InputError: If timm is missing or broken, the model unknown, or the weights missing or of another model.
    """

    def __init__(self, model: str, weights: str | Path | None = None, *, precision: str = "auto") -> None:
        self.name = f"timm:{model}"
        network = _built(model, self.name)
        path = _published(network, self.name) if weights is None else Path(weights)
        load_into(network, read_weights(path), where=str(path), what=self.name)
        super().__init__(network, _view(network), precision=precision)
        self._model = model

    @cached_property
    def dim(self) -> int:
        """Number of features, found by one pass of zeros."""
        shape = (1, 3, self.view.height or 224, self.view.width or 224)
        like = next(self._runner.parameters())
        with torch.inference_mode():
            out: Tensor = self._runner(torch.zeros(shape, dtype=like.dtype, device=like.device))
        return out.shape[1]

    def _about(self) -> dict[str, Any]:
        return {"model": self._model}

    @classmethod
    def from_state(cls, about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Self:
        """Make the encoder from what :meth:`state` returned; timm must be installed.

        Args:
            about: Model, view and precision.
            tensors: The weights.

        Raises:
            InputError: If the model is unknown or the weights do not fit it.
        """
        model = str(about.get("model", ""))
        made = cls.__new__(cls)
        made.name = f"timm:{model}"
        made._model = model
        network = _built(model, made.name)
        load_into(network, tensors, where="the stored encoder", what=made.name)
        view = PhotoView.from_dict(about.get("view", {}))
        PhotoEncoder.__init__(made, network, view, precision=known_precision(about))
        return made


def make(name: str, **settings: Any) -> TimmEncoder:  # noqa: ANN401
    """Make the encoder ``timm:name``.

    Args:
        name: timm's name of the model.
        settings: Arguments of :class:`TimmEncoder`.
    """
    return TimmEncoder(name, **settings)


def restore(about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> TimmEncoder:
    """Make the encoder from its state, see :meth:`TimmEncoder.from_state`.

    Args:
        about: Plain values.
        tensors: The weights.

    Returns:
        The encoder.
    """
    return TimmEncoder.from_state(about, tensors)


def _built(model: str, encoder: str) -> nn.Module:
    timm = needed("timm", encoder=encoder, install="timm")
    known = timm.list_models()
    if model.partition(".")[0] not in known:
        near = suggest(model, known)
        raise InputError(
            f"unknown timm model {model!r}; {'see timm.list_models()' if near.startswith('choose') else near}"
        )
    with torch.random.fork_rng(devices=[]):  # timm draws weights, which are replaced at once
        try:
            network: nn.Module = timm.create_model(model, pretrained=False, num_classes=0)
        except (RuntimeError, ValueError) as error:
            raise InputError(f"encoder {encoder!r}: {str(error).partition(chr(10))[0]}") from None
    return network


def _published(network: nn.Module, encoder: str) -> Path:
    about: Mapping[str, Any] = getattr(network, "pretrained_cfg", None) or {}
    repository = about.get("hf_hub_id")
    if not repository:
        raise InputError(f"encoder {encoder!r}: timm knows no published weights of it; give --weights FILE")
    return download(str(repository), encoder=encoder)


def _view(network: nn.Module) -> PhotoView:
    about: Mapping[str, Any] = getattr(network, "pretrained_cfg", None) or {}
    mean = tuple(255.0 * float(v) for v in about.get("mean", (0.485, 0.456, 0.406)))
    std = tuple(255.0 * float(v) for v in about.get("std", (0.229, 0.224, 0.225)))
    _, height, width = about.get("input_size", (3, 224, 224))
    return PhotoView(int(height), int(width), (mean[0], mean[1], mean[2]), (std[0], std[1], std[2]))
