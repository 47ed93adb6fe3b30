"""What an estimator says of its own training labels: how many are wrong, and which ones.

Labels are judged by logits of models that did not see the label they judge: leave-one-out or out-of-fold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from anchored.audit import LabelNoise, Suspects, audit, fit_label_noise
from anchored.data import Dataset, TensorInputs

__all__ = ["JudgedLabels"]


class JudgedLabels:
    """The training labels with the logits of models that did not see them; everything else is computed when asked for.

    Args:
        logits: ``(n, k)`` leave-one-out or out-of-fold logits.
        labels: ``(n,)`` given classes in 0..k-1.
        classes: ``(k,)`` names of the classes.
        weights: ``(n,)`` positive weights; None for one each.
        rows: ``(n,)``, the place of each sample in the data that the user gave.
        knowable: Whether labels are predicted better than by always naming the largest class; if not, none is an issue.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> truth = torch.randint(3, (900,), generator=generator)
        >>> logits = 4.0 * torch.nn.functional.one_hot(truth, 3) + torch.randn(900, 3, generator=generator)
        >>> given = torch.where(torch.arange(900) % 5 == 0, (truth + 1) % 3, truth)
        >>> judged = JudgedLabels(logits, given, np.array(["a", "b", "c"]))
        >>> abs(judged.noise.rate - 0.2) < 0.05, judged.issues[0].index % 5
        (True, 0)
    """

    def __init__(
        self,
        logits: Tensor,
        labels: Tensor,
        classes: npt.NDArray[Any],
        *,
        weights: Tensor | None = None,
        rows: npt.NDArray[np.int64] | None = None,
        knowable: bool = True,
    ) -> None:
        self.logits, self.labels, self.classes = logits, labels, classes
        self.weights, self.rows = weights, np.arange(len(labels)) if rows is None else rows
        self.knowable = knowable
        self._noise: LabelNoise | None = None
        self._issues: Suspects | None = None

    @property
    def noise(self) -> LabelNoise:
        """Estimated noise model of the labels."""
        if self._noise is None:
            self._noise = fit_label_noise(self.logits, self.labels, weights=self.weights)
        return self._noise

    @property
    def issues(self) -> Suspects:
        """Samples whose label is probably wrong, the most suspicious first."""
        if self._issues is None:
            names = tuple(str(name) for name in self.classes.tolist())
            inputs = TensorInputs(torch.zeros(len(self.labels), 1))
            data = Dataset("the training data", inputs, self.labels, names, weights=self.weights)
            found = audit(None, data, logits=self.logits, duplicates=False).suspects.as_dict()
            differs = [i for i, given in enumerate(found["given"]) if given != found["suggested"][i]]
            wrong = differs if self.knowable else []
            table = {name: [values[i] for i in wrong] for name, values in found.items()}
            table["index"] = self.rows[table["index"]].tolist()
            table["id"] = [f"row {i}" for i in table["index"]]
            table["rank"] = list(range(1, len(wrong) + 1))
            self._issues = Suspects(table)
        return self._issues
