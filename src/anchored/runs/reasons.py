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
from anchored.features import Reason, TableEncoder, parts_against
from anchored.ridge import fit_ridge
from anchored.runs.data import RunData
from anchored.runs.model import TrainedModel

__all__ = ["SpeakingColumns", "linear_map"]

_LINEAR = ("ridge",)
_MOST_ROWS = 20_000
_MOST_FEATURES = 1_024
_AT_ONCE = 4_096


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
        dataset = data.labelled
        self.middle = dataset.inputs.take(torch.arange(len(dataset))).double().mean(dim=0)

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
        parts = self._parts(index, given, suggested)
        order = parts.argsort(dim=1, descending=True, stable=True)[:, :most]
        return [
            [Reason(self.names[c], self._cell(index[row], c), float(parts[row, c])) for c in columns]
            for row, columns in enumerate(order.tolist())
        ]

    def order(
        self, index: Sequence[int], given: Sequence[int], suggested: Sequence[int], *, most: int = 12
    ) -> list[list[str]]:
        """Name the columns that speak against labels, without their cells; for many rows.

        Args:
            index: Places of the rows in the data of the run.
            given: The label of each, as a number.
            suggested: The class that is held against it, as a number.
            most: How many columns to name per row.

        Returns:
            For each row the columns that speak against its label, the most telling first.
        """
        named: list[list[str]] = []
        for start in range(0, len(index), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            parts = self._parts(index[some], given[some], suggested[some])
            found = parts.sort(dim=1, descending=True, stable=True)
            for values, columns in zip(found.values[:, :most].tolist(), found.indices[:, :most].tolist(), strict=True):
                named.append([self.names[c] for c, value in zip(columns, values, strict=True) if value > 0])
        return named

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that the features come from."""
        if isinstance(self.data.encoder, TableEncoder):
            return tuple(self.data.encoder.columns)
        dataset = self.data.labelled
        return dataset.columns or tuple(f"x{i}" for i in range(dataset.inputs.shape[0]))

    def _parts(self, index: Sequence[int], given: Sequence[int], suggested: Sequence[int]) -> Tensor:
        places, labels = torch.tensor(list(index), dtype=torch.int64), torch.tensor(list(given), dtype=torch.int64)
        others = torch.tensor(list(suggested), dtype=torch.int64)
        raw, encoder = self.data.raw.inputs, self.data.encoder
        if isinstance(raw, TableInputs) and isinstance(encoder, TableEncoder):
            return parts_against(encoder, raw.subset(places), self.weights, labels, others)
        away = self.data.labelled.inputs.take(places).double() - self.middle
        return away * (self.weights[:, others] - self.weights[:, labels]).T

    def _cell(self, row: int, column: int) -> str | None:
        raw = self.data.raw.inputs
        if isinstance(raw, TableInputs):
            return raw.columns[self.names[column]].take(np.array([row])).cells()[0]
        value = float(self.data.labelled.inputs.take(torch.tensor([row]))[0, column])
        return text_of_number(float(f"{value:.6g}"))
