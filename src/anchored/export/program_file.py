"""``.pt2``: the model as a graph in torch's own format, for ``torch.export.load`` without this library.

It maps raw inputs to ``(logits, probabilities)``, as the ONNX file does, and needs torch only. Class names and other
facts are in the extra file ``anchored.json``.
"""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path

import torch

from anchored._files import write_atomically
from anchored.export.deployed import InputType, about, input_dtype, trace
from anchored.runs import TrainedModel

__all__ = ["FACTS", "write_program"]

FACTS = "anchored.json"
"""The name under which ``torch.export.load(file, extra_files={FACTS: ""})`` gives the facts."""


def write_program(model: TrainedModel, path: str | Path, *, input_type: InputType = "auto") -> None:
    """Write a model as a ``.pt2`` file, whole or not at all.

    Args:
        model: A trained model, e.g. from :func:`anchored.load`.
        path: The file.
        input_type: ``"uint8"`` or ``"float32"``; by default bytes for images that were bytes in training, else floats.

    Raises:
        InputError: The input type does not fit the model.

    Example:
        >>> import tempfile
        >>> from anchored import AnchoredHead, backbones
        >>> from anchored.data import Normalization
        >>> from anchored.methods import Classifier
        >>> classifier = Classifier(backbones.get("tiny", (4,)), AnchoredHead(32, 2))
        >>> model = TrainedModel(classifier, Normalization((0.0,) * 4, (1.0,) * 4, 1.0), ("no", "yes"))
        >>> file = Path(tempfile.mkdtemp(), "model.pt2")
        >>> write_program(model, file)
        >>> logits, probabilities = torch.export.load(file).module()(torch.zeros(5, 4))
        >>> probabilities.shape
        torch.Size([5, 2])
    """
    content = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns about its own inside
        program = trace(model, dtype=input_dtype(model, input_type))
        torch.export.save(program, content, extra_files={FACTS: json.dumps(about(model), ensure_ascii=False)})
    write_atomically(path, lambda temporary: temporary.write_bytes(content.getvalue()))
