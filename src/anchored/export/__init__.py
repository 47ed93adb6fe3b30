"""Export: load a trained model anywhere, write it for other runtimes, and write predictions to a file."""

from anchored.export.onnx_file import OPSET, largest_difference, write_onnx
from anchored.export.prediction_file import PredictionFile
from anchored.export.predictions import Predictions, predictions
from anchored.export.program_file import write_program
from anchored.runs import load

__all__ = [
    "OPSET",
    "PredictionFile",
    "Predictions",
    "largest_difference",
    "load",
    "predictions",
    "write_onnx",
    "write_program",
]
