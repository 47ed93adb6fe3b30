"""ONNX: the model as one file for runtimes such as onnxruntime, with preprocessing, temperature and class names.

========================  =====================================================================
input ``inputs``          ``(batch, c, h, w)`` bytes, or ``(batch, d)`` floats, as they came
output ``logits``         ``(batch, k)`` float, calibrated
output ``probabilities``  ``(batch, k)`` float, their softmax
metadata                  ``class_names``, ``columns`` … see :func:`anchored.export.deployed.about`
========================  =====================================================================

The batch is of any size. The graph uses opset :data:`OPSET`, which onnxruntime knows since version 1.14.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from anchored._errors import InputError
from anchored._files import write_atomically
from anchored.export.deployed import INPUT, OUTPUTS, Deployed, InputType, about, input_dtype, probe, trace
from anchored.runs import TrainedModel

__all__ = ["OPSET", "largest_difference", "write_onnx"]

OPSET = 18
"""Version of ONNX's operators that the graph is written in."""
_LARGEST_FILE = 2**31 - 1


def write_onnx(model: TrainedModel, path: str | Path, *, input_type: InputType = "auto") -> None:
    """Write a model as an ONNX file, whole or not at all.

    Args:
        model: A trained model, e.g. from :func:`anchored.load`.
        path: The file.
        input_type: ``"uint8"`` or ``"float32"``; by default bytes for images that were bytes in training, else floats.

    Raises:
        InputError: A package is missing, the input type does not fit, or the file would be larger than 2 GiB.
    """
    onnx = _needed("onnx", path)
    _needed("onnxscript", path)
    dtype = input_dtype(model, input_type)
    with _quietly():
        program = torch.onnx.export(
            trace(model, dtype=dtype),
            dynamo=True,
            input_names=[INPUT],
            output_names=OUTPUTS,
            opset_version=OPSET,
            external_data=False,
            verbose=False,
        )
    if program is None:  # cannot be: only the older exporter returns nothing
        raise TypeError("torch.onnx.export returned no program")
    graph = program.model_proto
    _tidy(graph, about(model))
    onnx.checker.check_model(graph, full_check=True)
    content = graph.SerializeToString()
    if len(content) > _LARGEST_FILE:
        raise InputError(f"cannot write {path}: an ONNX file has at most 2 GiB, got {len(content)} bytes; use .pt2")
    write_atomically(path, lambda temporary: temporary.write_bytes(content))


def largest_difference(model: TrainedModel, path: str | Path, *, n: int = 64) -> float | None:
    """Measure the largest difference between the probabilities of a file and those of its model.

    Args:
        model: The model that the file was made from.
        path: The file.
        n: Number of made-up inputs to compare on.

    Returns:
        The largest absolute difference; None if onnxruntime is not installed.
    """
    try:
        runtime = import_module("onnxruntime")
    except ImportError:
        return None
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    dtype = torch.uint8 if session.get_inputs()[0].type == "tensor(uint8)" else torch.float32
    inputs = probe(model, n, dtype=dtype, seed=1)
    (theirs,) = session.run(["probabilities"], {INPUT: inputs.numpy()})
    if model.encoder is None:
        ours = model.predict_proba(inputs).cpu()
    else:  # its encoder may compute in half precision, which the file does not
        with torch.inference_mode():
            ours = Deployed(model)(inputs)[1]
    return float((torch.from_numpy(theirs) - ours).abs().max())


def _needed(name: str, path: str | Path) -> Any:  # noqa: ANN401 - a module without types
    try:
        return import_module(name)
    except ImportError:
        raise InputError(f"writing {path} needs {name}; pip install 'anchored[onnx]', or write .pt2") from None


def _tidy(graph: Any, facts: dict[str, str]) -> None:  # noqa: ANN401 - onnx has no types
    """Name the batch axis, add the facts, and remove what the exporter says about files of this machine."""
    for value in (*graph.graph.input, *graph.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
        del value.metadata_props[:]
    del graph.graph.value_info[:]
    for node in graph.graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
    del graph.graph.metadata_props[:]
    del graph.metadata_props[:]
    graph.producer_name, graph.producer_version = "anchored", facts["anchored"]
    for name, text in facts.items():
        entry = graph.metadata_props.add()
        entry.key, entry.value = name, text


@contextmanager
def _quietly() -> Iterator[None]:
    """Silence the exporter's warnings and logs within the ``with`` block: they are about its own code."""
    logger = logging.getLogger("torch.onnx")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)
