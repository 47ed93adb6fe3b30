r"""The fitted model: features in, calibrated logits out, as a torch module that is plain data when it is saved.

.. math::  f(x) = \beta\,\bigl((\phi(x) - \mu)\,A + a\bigr) + \log\frac{\pi'}{\pi},

where :math:`\phi` is the identity or the kernel features, A and a are the closed form's slope and offset
(:mod:`anchored.ridge.solve`), :math:`\beta = 1/T` is the sharpness, and the last term is the logit adjustment for class
shares :math:`\pi'` that differ from those of the training data, :math:`\pi`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from anchored._errors import InputError
from anchored.ridge.kernel import Nystroem
from anchored.ridge.rows import Array

__all__ = ["Choice", "LeftOut", "Ridge"]

_TENSORS = ("mean", "slope", "offset", "shift", "shares")
_KERNEL_TENSORS = ("mean", "inverse", "landmarks", "mix")
_PREDICTION_NUMBERS = 2**23


@dataclass(frozen=True)
class Choice:
    """One candidate and how well it predicts labels that it did not see.

    Attributes:
        alpha: Strength of the penalty.
        gamma: Sharpness of the kernel, None for a linear model.
        temperature: Temperature that makes its leave-one-out logits likeliest.
        log_likelihood: Mean leave-one-out log-probability of the given labels after that temperature.
    """

    alpha: float
    gamma: float | None
    temperature: float
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What the model says of each training sample without having seen it.

    Attributes:
        logits: Calibrated leave-one-out logits ``(n, k)``; None if they were too many to keep.
        given: ``(n,)``, log-probability of the given label (of the target, if targets are probabilities).
        predicted: ``(n,)`` likeliest class.
        certainty: ``(n,)``, log-probability of the likeliest class.
    """

    logits: Array | None
    given: Array
    predicted: npt.NDArray[np.int64]
    certainty: Array


class Ridge(nn.Module):
    """Anchored least squares on fixed features: a linear map, or kernel features and a linear map.

    Made by :func:`anchored.ridge.fit_ridge`. As a module it maps features ``(n, d)`` to calibrated logits ``(n, k)``;
    it has buffers only, in float64, and can be exported like any network.

    Args:
        mean: ``(r,)``, subtracted from the (kernel) features.
        slope: ``(r, k)``.
        offset: ``(k,)``.
        shift: ``(k,)``, the logit adjustment, zero if the classes' shares stay as they are.
        shares: ``(k,)``, the classes' shares in the training data.
        choice: Strength, width and temperature.
        kernel: Map to the kernel features; None for a linear model.
        choices: All candidates that were compared.
        constant: Columns that did not vary and are not used.
        rows: Number of training samples.
        left_out: Leave-one-out answers for the training samples; None if they were not computed.
    """

    mean: Tensor
    slope: Tensor
    offset: Tensor
    shift: Tensor
    shares: Tensor

    def __init__(
        self,
        mean: Tensor,
        slope: Tensor,
        offset: Tensor,
        shift: Tensor,
        shares: Tensor,
        *,
        choice: Choice,
        kernel: Nystroem | None = None,
        choices: tuple[Choice, ...] = (),
        constant: tuple[int, ...] = (),
        rows: int = 0,
        left_out: LeftOut | None = None,
    ) -> None:
        super().__init__()
        for name, value in zip(_TENSORS, (mean, slope, offset, shift, shares), strict=True):
            self.register_buffer(name, value)
        self.kernel = kernel
        self.choice, self.choices = choice, choices
        self.constant, self.rows, self.left_out = constant, rows, left_out

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.offset)

    @property
    def d(self) -> int:
        """Number of input features."""
        return len(self.mean if self.kernel is None else self.kernel.mean)

    @property
    def alpha(self) -> float:
        """Strength of the penalty, in the units of standardised features (as for scikit-learn's ``Ridge``)."""
        return self.choice.alpha

    @property
    def gamma(self) -> float | None:
        """Sharpness of the kernel, None for a linear model."""
        return self.choice.gamma

    @property
    def temperature(self) -> float:
        """What raw logits are divided by."""
        return self.choice.temperature

    @property
    def loo_log_likelihood(self) -> float:
        """Mean log-probability of the given labels by models that did not see them."""
        return self.choice.log_likelihood

    @property
    def loo_logits(self) -> Tensor:
        """Calibrated leave-one-out logits ``(n, k)`` of the training samples, float64, without the logit adjustment.

        Raises:
            InputError: If they were not kept.
        """
        if self.left_out is None or self.left_out.logits is None:
            raise InputError("leave-one-out logits were not kept; fit on data in memory to have them")
        return torch.from_numpy(self.left_out.logits)

    def forward(self, rows: Tensor) -> Tensor:
        """Return calibrated logits ``(n, k)`` of features ``(n, d)``."""
        rows = rows.to(self.mean.dtype)
        if self.kernel is not None:
            rows = self.kernel(rows)
        return ((rows - self.mean) @ self.slope + self.offset) / self.temperature + self.shift

    def logits(self, rows: Tensor) -> Tensor:
        """Return calibrated logits ``(n, k)`` of features ``(n, d)``, in chunks of bounded memory and without a graph.

        Raises:
            InputError: If the number of features is not that of the fit.
        """
        if rows.ndim != 2 or rows.shape[1] != self.d:
            raise InputError(
                f"rows must be (n, {self.d}) as in the fit, got {tuple(rows.shape)}; give the same columns"
            )
        widest = max(self.d, self.k, 0 if self.kernel is None else len(self.kernel.landmarks))
        step = max(1, _PREDICTION_NUMBERS // widest)
        with torch.no_grad():
            parts = [self(rows[start : start + step]) for start in range(0, len(rows), step)]
        return torch.cat(parts) if parts else self.offset.new_zeros(0, self.k)

    def onto(self, prototypes: Tensor) -> tuple[Tensor, Tensor]:
        r"""Return the regression onto given anchors: B and b with :math:`B^\top(\phi(x) - \mu) + b \approx w_y`.

        Logits before temperature are :math:`W(B^\top(\phi(x) - \mu) + b)`. This starts a network's last layer from the
        closed form.

        Args:
            prototypes: A simplex ``(k, m)``, m at least k - 1, whose rows sum to zero.

        Returns:
            ``B`` (r, m) and ``b`` (m,).

        Raises:
            InputError: If the prototypes are not a simplex of k unit vectors.
        """
        w = prototypes.to(self.slope.dtype)
        k = self.k
        wanted = (torch.eye(k, dtype=w.dtype) - 1 / k) * (k / (k - 1))
        if w.ndim != 2 or len(w) != k or not torch.allclose(w @ w.T, wanted, atol=1e-5):
            raise InputError(f"prototypes must be a simplex of {k} unit vectors; use prototypes.simplex({k}, {k - 1})")
        return self.slope @ w * ((k - 1) / k), self.offset @ w * ((k - 1) / k)

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return everything that predictions need: plain JSON values, and tensors by name (no training data's logits).

        Kernel models keep their landmarks, which are standardised training rows.
        """
        about: dict[str, Any] = {
            "choice": asdict(self.choice),
            "choices": [asdict(each) for each in self.choices],
            "constant": list(self.constant),
            "rows": self.rows,
        }
        tensors = {name: getattr(self, name) for name in _TENSORS}
        if self.kernel is not None:
            tensors |= {f"kernel.{name}": getattr(self.kernel, name) for name in _KERNEL_TENSORS}
        return about, tensors

    @classmethod
    def from_state(cls, about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Ridge:
        """Make the model from what :meth:`state` returned.

        Args:
            about: Plain values.
            tensors: Tensors by name.

        Returns:
            A model that predicts the same; without leave-one-out answers.

        Raises:
            InputError: If something is missing or does not fit together.

        Example:
            >>> from anchored.ridge import fit_ridge
            >>> X = torch.arange(8.0)[:, None]
            >>> model = fit_ridge(X, torch.tensor([0, 0, 0, 0, 1, 1, 1, 1]), 2)
            >>> torch.equal(Ridge.from_state(*model.state()).logits(X), model.logits(X))
            True
        """
        try:
            choice = Choice(**about["choice"])
            choices = tuple(Choice(**each) for each in about["choices"])
            values = [tensors[name].to(torch.float64) for name in _TENSORS]
            kernel = None
            if choice.gamma is not None:
                centre, inverse, landmarks, mix = (
                    tensors[f"kernel.{each}"].to(torch.float64) for each in _KERNEL_TENSORS
                )
                kernel = Nystroem(centre, inverse, landmarks, mix, float(choice.gamma))
            mean, slope, offset, shift, shares = values
            fits = slope.shape == (len(mean), len(offset)) and offset.shape == shift.shape == shares.shape
            if kernel is not None:
                fits = fits and _fits(kernel, len(mean))
            numbers = [*values, *([] if kernel is None else kernel.buffers())]
            positive = float(choice.temperature) > 0 and float(choice.alpha) > 0
            if not (fits and positive and len(offset) >= 2 and all(bool(torch.isfinite(v).all()) for v in numbers)):
                raise ValueError("its parts do not fit together")
            constant = tuple(int(column) for column in about["constant"])
            return cls(
                *values, choice=choice, kernel=kernel, choices=choices, constant=constant, rows=int(about["rows"])
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"this is no saved ridge model ({error}); fit and save it again") from None


def _fits(kernel: Nystroem, features: int) -> bool:
    m, d = kernel.landmarks.shape
    return kernel.mean.shape == kernel.inverse.shape == (d,) and kernel.mix.shape == (m, features)
