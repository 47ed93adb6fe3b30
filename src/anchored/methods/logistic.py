r"""Logistic regression with an L2 penalty, for one strength after another.

.. math::  \min_{B, b} \sum_i c_i \Bigl(-\sum_j P_{ij} \log\operatorname{softmax}(B^\top x_i + b)_j\Bigr)
           + \tfrac12 \lambda N \lVert B \rVert^2

with N the weight of all samples, so that a strength means the same for few samples and many.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from scipy.optimize import minimize
from torch import Tensor

__all__ = ["STRENGTHS", "LogisticFit"]

STRENGTHS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
"""Penalties in units of the mean loss, from strong to weak."""
_MOST_STEPS = 40
_TOLERANCE = 1e-5


class LogisticFit:
    """One model, fitted with weaker and weaker penalties: each fit starts from the one before.

    Args:
        rows: Standardised features ``(n, d)``, float32.
        targets: Class probabilities ``(n, k)``.
        weights: ``(n,)``, how much each sample counts; samples of weight 0 are left out.

    Attributes:
        slope: ``(d, k)``, float32.
        offset: ``(k,)``, float32.

    Example:
        >>> fit = LogisticFit(torch.tensor([[-1.0], [1.0]]), torch.eye(2), torch.ones(2))
        >>> fit.solve(0.1)
        >>> fit.answer(torch.tensor([[2.0]])).argmax().item()
        1
    """

    def __init__(self, rows: Tensor, targets: Tensor, weights: Tensor) -> None:
        kept = weights > 0
        self._rows, self._targets = rows[kept], targets[kept].to(torch.float32)
        self._weight = (weights[kept] / weights.sum().clamp(min=1e-300)).to(torch.float32)
        self.slope = torch.zeros(rows.shape[1], targets.shape[1])
        self.offset = torch.zeros(targets.shape[1])

    def solve(self, strength: float) -> None:
        """Fit with one penalty, by L-BFGS from the last solution."""
        if not len(self._rows):
            return
        d, k = self.slope.shape

        def value(flat: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
            both = torch.from_numpy(flat).to(torch.float32).view(d + 1, k)
            slope, offset = both[:-1], both[-1]
            logs = (self._rows @ slope + offset).log_softmax(dim=1)
            left = (logs.exp() - self._targets) * self._weight[:, None]
            gradient = torch.cat([self._rows.T @ left + strength * slope, left.sum(dim=0, keepdim=True)])
            fit = -float((logs * self._targets).sum(dim=1) @ self._weight)
            return fit + 0.5 * strength * float(slope.square().sum()), gradient.flatten().double().numpy()

        found = minimize(
            value,
            torch.cat([self.slope, self.offset[None]]).flatten().double().numpy(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": _MOST_STEPS, "gtol": _TOLERANCE, "ftol": 0.1 * _TOLERANCE},
        )
        solution = torch.from_numpy(found.x).to(torch.float32).view(d + 1, k)
        self.slope, self.offset = solution[:-1].clone(), solution[-1].clone()

    def answer(self, rows: Tensor) -> Tensor:
        """Return logits ``(m, k)``, float64, of standardised rows ``(m, d)``."""
        return (rows @ self.slope + self.offset).to(torch.float64)
