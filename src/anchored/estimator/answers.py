"""What every estimator here answers, once it can compute calibrated logits: classes, probabilities, log-odds."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

__all__ = ["AnswersByLogits"]


class AnswersByLogits:
    """Mixin of scikit-learn's prediction methods for a classifier with ``classes_`` and calibrated logits."""

    classes_: npt.NDArray[Any]

    @abstractmethod
    def _logits(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Compute calibrated logits ``(n, k)``."""

    def decision_function(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Compute calibrated logits ``(n, k)``; for two classes the log-odds ``(n,)`` of the second one."""
        logits = self._logits(X)
        return logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Compute calibrated probabilities ``(n, k)`` of the classes in ``classes_``."""
        probabilities: npt.NDArray[np.float64] = torch.from_numpy(self._logits(X)).softmax(dim=1).numpy()
        return probabilities

    def predict_log_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Compute the logarithms ``(n, k)`` of the probabilities, exact also for very small ones."""
        logs: npt.NDArray[np.float64] = torch.from_numpy(self._logits(X)).log_softmax(dim=1).numpy()
        return logs

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """Predict the likeliest class of each row, ``(n,)``."""
        best = self._logits(X).argmax(axis=1)  # before classes_, so that an unfitted model says so
        labels: npt.NDArray[Any] = self.classes_[best]
        return labels
