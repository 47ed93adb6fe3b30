r"""Which columns of a row speak against its label.

The features of a run are mapped to logits by a linear map W: the model itself if it is linear, else anchored least
squares on the same features and labels, which stands in for it. With features of mean 0, the part of column C in the
lead of the suggested class s over the given one y is :math:`\sum_{j \in C} x_j (W_{js} - W_{jy})`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from anchored.data import Dataset, TableInputs, text_of_number
from anchored.features import Reason, TableEncoder, reasons
from anchored.ridge import fit_ridge
from anchored.runs.data import RunData
from anchored.runs.model import TrainedModel

__all__ = ["SpeakingColumns", "linear_map"]

_LINEAR = ("ridge",)
_MOST_ROWS = 20_000
_MOST_FEATURES = 1_024


def linear_map(model: TrainedModel | None, data: Dataset) -> Tensor:
    """Return a linear map from features to logits that says what the model goes by.

    Args:
        model: The model of the run; None if it is not at hand.
        data: The samples that it was trained on, as vectors.

    Returns:
        ``(d, k)``: of the model if its method is linear, else of the closed form on the same data.

    Example:
        >>> from anchored.data import TensorInputs
        >>> x = torch.linspace(-1, 1, 40)[:, None]
        >>> data = Dataset("toy", TensorInputs(x), (x[:, 0] > 0).long(), ("no", "yes"))
        >>> linear_map(None, data).sign().tolist()
        [[-1.0, 1.0]]
    """
    (d,) = data.inputs.shape
    probe = torch.cat([torch.zeros(1, d, dtype=torch.float64), torch.eye(d, dtype=torch.float64)])
    if model is not None and model.description.get("method") in _LINEAR:
        with torch.inference_mode():
            logits: Tensor = model(probe).to("cpu", torch.float64)
    else:
        rows = torch.arange(0, len(data), -(-len(data) // _MOST_ROWS))
        logits = fit_ridge(data.inputs.take(rows).double(), data.labels[rows], data.k).logits(probe)
    return logits[1:] - logits[0]


class SpeakingColumns:
    """Says of rows which of their cells speak against the label.

    Args:
        data: The data of the run: rows of a table, or vectors with named columns.
        model: The model of the run; None if it is not at hand.

    Example:
        >>> from anchored.data import Split, as_columns
        >>> from anchored.training import validate
        >>> rows = as_columns({"age": [20, 30, 70, 80] * 5, "town": ["Lima", "Rome", "Rome", "Lima"] * 5})
        >>> table = Dataset("toy", rows, torch.tensor([0, 0, 1, 1] * 5), ("young", "old"))
        >>> speaking = SpeakingColumns(RunData.open(Split(table), validate({})), None)
        >>> [(reason.column, reason.value) for reason in speaking.against([0], [1], [0], most=1)[0]]
        [('age', '20')]
    """

    def __init__(self, data: RunData, model: TrainedModel | None) -> None:
        self.data = data
        self.weights = linear_map(model, data.labelled)

    @classmethod
    def of(cls, data: RunData, model: TrainedModel | None) -> SpeakingColumns | None:
        """Return what speaks for this data; None if it has no columns, or too many.

        Args:
            data: The data of the run.
            model: The model of the run; None if it is not at hand.
        """
        kind, shape = data.raw.kind, data.labelled.inputs.shape
        if kind not in ("table", "vectors") or len(shape) != 1 or shape[0] > _MOST_FEATURES:
            return None
        return cls(data, model)

    def against(
        self, index: Sequence[int], given: Sequence[int], suggested: Sequence[int], *, most: int = 6
    ) -> list[list[Reason]]:
        """Name the cells that speak against labels.

        Args:
            index: Places of the rows in the data of the run.
            given: The label of each, as a number.
            suggested: The class that is held against it, as a number.
            most: How many cells to name per row.

        Returns:
            For each row its cells, those that speak most against the label first.
        """
        places, labels = torch.tensor(list(index), dtype=torch.int64), torch.tensor(list(given))
        others = torch.tensor(list(suggested))
        raw, encoder = self.data.raw.inputs, self.data.encoder
        if isinstance(raw, TableInputs) and isinstance(encoder, TableEncoder):
            return reasons(encoder, raw.subset(places), self.weights, labels, others, most=most)
        dataset = self.data.labelled
        values = dataset.inputs.take(places).double()
        away = values - dataset.inputs.take(torch.arange(len(dataset))).double().mean(dim=0)
        parts = away * (self.weights[:, others] - self.weights[:, labels]).T
        names = dataset.columns or tuple(f"feature {i}" for i in range(values.shape[1]))
        order = parts.argsort(dim=1, descending=True, stable=True)[:, :most]
        return [
            [Reason(names[c], _number(values[row, c]), float(parts[row, c])) for c in columns]
            for row, columns in enumerate(order.tolist())
        ]


def _number(value: Tensor) -> str:
    return text_of_number(float(np.format_float_positional(float(value), precision=6, fractional=False)))
