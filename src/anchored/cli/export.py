"""``anchored export RUN FILE.onnx``: write the model as one file for other runtimes, and compare its answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from anchored._errors import InputError
from anchored.cli.output import print_json, print_table
from anchored.cli.prior import with_prior

InputType = Literal["auto", "uint8", "float32"]


def export(
    run: Path,
    out: Path,
    input_type: Annotated[InputType, typer.Option("--input")] = "auto",
    prior: str | None = None,
    json: bool = False,
) -> None:
    """Write a trained model for use elsewhere, with preprocessing, calibration and class names inside.

    Args:
        run: Folder of a finished run, or of a model alone.
        out: File to write: .onnx for ONNX, .pt2 for torch.export.
        input_type: Type of the inputs: uint8 or float32; auto takes what the model was trained on.
        prior: Frequencies of the classes in use: numbers a,b,c in their order, or a file of names and numbers.
        json: Print the result as one JSON object on stdout.
    """
    suffix = out.suffix.lower()
    if suffix not in (".onnx", ".pt2"):
        raise InputError(f"a model is exported to .onnx or .pt2, got {str(out)!r}; rename it")
    if out.is_dir() or not out.parent.is_dir():
        raise InputError(f"the export must go to a file in a folder that exists, got {str(out)!r}")

    from anchored.export import OPSET, largest_difference, load, write_onnx, write_program
    from anchored.export.deployed import INPUT, OUTPUTS, deployed_shape, input_dtype

    model = with_prior(load(run), prior)
    onnx = suffix == ".onnx"
    (write_onnx if onnx else write_program)(model, out, input_type=input_type)
    difference = largest_difference(model, out) if onnx else None
    outside = None if model.encoder is None or len(deployed_shape(model)) == 3 else model.encoder.name
    dtype = str(input_dtype(model, input_type)).removeprefix("torch.")
    kind = f"ONNX, opset {OPSET}" if onnx else "torch.export"
    size = out.stat().st_size
    if json:
        print_json(
            {
                "run": str(run),
                "out": str(out),
                "format": kind,
                "bytes": size,
                "input": {"name": INPUT, "type": dtype, "shape": ["batch", *deployed_shape(model)]},
                "outputs": list(OUTPUTS),
                "encoder_outside": outside,
                "class_names": list(model.class_names),
                "difference": difference,
            }
        )
        return
    shape = ", ".join(map(str, ("batch", *deployed_shape(model))))
    rows = [
        ["format", kind],
        ["size", f"{size / 1e6:.2f} MB"],
        ["input", f"{INPUT}: {dtype} ({shape})"],
        ["outputs", ", ".join(f"{name} (batch, {len(model.class_names)})" for name in OUTPUTS)],
        ["largest difference from our model", "onnxruntime is not installed" if onnx else "not compared"]
        if difference is None
        else ["largest difference from our model", f"{difference:.1e}"],
    ]
    note = f"written to {out}"
    columns = getattr(model.encoder, "columns", None)
    if columns is not None:
        listed = ", ".join(list(columns)[:20]) + (f" and {len(columns) - 20} more" if len(columns) > 20 else "")
        note += (
            f"; it takes the {model.input_shape[0]} numbers that the run makes of the columns {listed}: encode rows "
            "with anchored.load(RUN).encoder; the entry `encoded` of the file says what each number is"
        )
    elif outside is not None:
        note += (
            f"; it takes the {model.input_shape[0]} numbers that anchored embed --encoder {outside} makes of an input"
        )
    print_table(f"exported {run}", ["", "value"], rows, note)
