"""Load a trained model from its folder; it needs ``model.safetensors`` and ``model.json``, and its encoder's two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from anchored import backbones
from anchored._errors import InputError
from anchored._files import regular_size
from anchored.runs.model import DESCRIPTION, ENCODER_WEIGHTS, WEIGHTS, TrainedModel
from anchored.runs.untrusted import Allowance, read_description
from anchored.training import pick_device

__all__ = ["load"]


def load(path: str | Path, *, device: str | torch.device = "cpu", backbone: nn.Module | None = None) -> TrainedModel:
    """Load the trained model of a folder, ready for use: raw inputs in, calibrated logits out.

    It needs ``model.safetensors`` and ``model.json`` only, and ``encoder.safetensors`` and ``encoder.json`` if photos,
    texts or rows are encoded first, so these can be copied to a machine that has neither the training data nor the rest
    of the run. They may come from someone else: nothing in them is run, and a description
    that does not fit its weights is refused before memory is taken for it.

    Args:
        path: Folder of a finished run, or any folder with the two files.
        device: Device to put the model on: ``"cpu"``, ``"cuda"`` …, or ``"auto"``.
        backbone: The module of your own that training was given; needed for such a model only.

    Returns:
        A module in evaluation mode with ``class_names``, ``input_shape``, ``temperature`` and ``predict_proba``.

    Raises:
        InputError: There is no model, or its two files do not fit together.

    Example:
        >>> import tempfile
        >>> from anchored import data
        >>> from anchored.runs import fit
        >>> folder = tempfile.mkdtemp()
        >>> settings = {"method": {"name": "ridge"}}
        >>> _ = fit(data.open_source("digits"), settings, folder=folder)
        >>> model = load(folder)
        >>> model.class_names[3], model.training
        ('3', False)
        >>> model(torch.zeros(2, 1, 8, 8, dtype=torch.uint8)).shape
        torch.Size([2, 10])
    """
    folder = Path(path)
    if not folder.is_dir():
        kind = "is a file" if folder.exists() else "is not there"
        raise InputError(f"{folder} {kind}; give the folder of a finished run, or one with {DESCRIPTION} and {WEIGHTS}")
    if not (folder / DESCRIPTION).is_file() and not (folder / "config.yaml").is_file():
        raise InputError(f"{folder} holds no run and no model ({DESCRIPTION} is missing); train with: anchored fit")
    if (folder / DESCRIPTION).is_file() and (folder / WEIGHTS).is_file():
        about = read_description(folder / DESCRIPTION)
        allowance = _allowance(folder)
        try:
            with allowance:
                model = TrainedModel.load(folder, backbone=backbone or _without_download(about))
        except InputError as error:
            text = str(error)
            raise InputError(text if str(folder) in text else f"{folder / DESCRIPTION}: {text}") from None
        except Exception as error:  # odd values surface as almost anything once a network is built from them
            reason = str(error).splitlines()[0] if str(error) else "no reason given"
            raise InputError(
                f"{folder / DESCRIPTION} does not describe the weights beside it ({type(error).__name__}: {reason}); "
                "copy both files from the run again"
            ) from error
    else:
        model = TrainedModel.load(folder, backbone=backbone)  # says which file is missing, and the way out
    _check_finite(model, folder / WEIGHTS)
    return model.to(pick_device(device) if isinstance(device, str) else device)


def _check_finite(model: TrainedModel, weights: Path) -> None:
    """Refuse a model that can only answer NaN."""
    for name, value in model.classifier.state_dict().items():
        if value.is_floating_point() and not bool(torch.isfinite(value).all()):
            raise InputError(
                f"{weights}: the tensor {name!r} holds values that are not finite, so the model would answer nothing; "
                "train it again"
            )


def _allowance(folder: Path) -> Allowance:
    """Room for what the files of weights hold, and twice or four times that for values before they are overwritten."""
    entries, tensors = 2**20, 1000
    for weights in (folder / WEIGHTS, folder / ENCODER_WEIGHTS):
        if weights == folder / ENCODER_WEIGHTS and not weights.is_file():
            continue  # most models take their inputs as they are
        try:
            entries += regular_size(weights)
            with safe_open(weights, framework="pt") as file:
                tensors += 16 * len(file.keys())
        except (SafetensorError, OSError, ValueError) as error:
            raise InputError(f"{weights} cannot be read ({error}); copy it from the run again") from None
    return Allowance(entries=entries, tensors=tensors)


def _without_download(about: dict[str, Any]) -> nn.Module | None:
    """Make a timm backbone without its published weights, which those of the file replace anyway; else None."""
    made = about.get("backbone") or {}
    if not made.get("options", {}).get("pretrained"):
        return None
    options = {**made["options"], "pretrained": False}
    return backbones.get(made["name"], about["input_shape"], last_relu=made.get("last_relu", True), **options)
