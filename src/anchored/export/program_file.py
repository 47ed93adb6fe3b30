"""``.pt2``: the model as a graph of torch's own, for ``torch.export.load`` without this library.

It maps raw inputs to ``(logits, probabilities)``, as the ONNX file does, and needs nothing but torch on either side.
The facts beside it (class names …) are the extra file ``anchored.json``.
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
    """Write ``model`` as a ``.pt2`` file, atomically.

    Args:
        model: What :func:`anchored.load` gives.
        path: The file.
        input_type: As for :func:`~anchored.export.write_onnx`.
    """
    content = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns about its own inside
        program = trace(model, dtype=input_dtype(model, input_type))
        torch.export.save(program, content, extra_files={FACTS: json.dumps(about(model), ensure_ascii=False)})
    write_atomically(path, lambda temporary: temporary.write_bytes(content.getvalue()))
