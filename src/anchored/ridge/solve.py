r"""One eigendecomposition gives the solution, and every leave-one-out prediction, for every strength.

Least squares onto the anchors :math:`w_1, \dots, w_k` (the simplex) with an unpenalised intercept,

.. math::  \min_{B, b} \; \tfrac12 \sum_i c_i \lVert B^\top \tilde x_i + b - w_{y_i} \rVert^2
           + \tfrac12 \alpha \lVert B \rVert^2, \qquad \tilde x = (x - \mu)/\sigma,

has :math:`B = (S + \alpha I)^{-1} T^\top W` and :math:`b = W^\top \pi`, where S and T are the scaled sums of
:mod:`anchored.ridge.sums` and :math:`\pi = n/N` the classes' shares. Since
:math:`W W^\top = \frac{k}{k-1}(I - \frac1k J)` and the classes' sums add up to zero, the logits need neither W nor its
:math:`k-1` coordinates:

.. math::  f(x) = W(B^\top \tilde x + b) = \tfrac{k}{k-1}\bigl(T (S + \alpha I)^{-1} \tilde x + \pi - \tfrac1k\bigr).

With :math:`S = V \operatorname{diag}(s) V^\top` and :math:`q = V^\top \tilde x`, a strength is a division by
:math:`s_j + \alpha`, and so is the leverage :math:`h_i = c_i \bigl(\frac1N + \sum_j q_{ij}^2/(s_j + \alpha)\bigr)`.
Without sample i the model would answer

.. math::  f_{-i}(x_i) = \frac{f(x_i) - h_i\, g_i}{1 - h_i}, \qquad
           g_i = W w_{y_i} = \tfrac{k}{k-1}\bigl(e_{y_i} - \tfrac1k\bigr),

exactly, for any weights (Sherman and Morrison); copies of a sample leave with it, with their weights and their mean
target in place of :math:`c_i` and :math:`g_i`. Mean, scale and strength stay as they are. With fewer samples than
features the eigenvectors come from the :math:`n \times n` matrix of inner products.

References:
    Mroueh, Poggio, Rosasco and Slotine, 2012. Multiclass Learning with Simplex Coding. NeurIPS.
    Allen, 1974. The Relationship between Variable Selection and Data Augmentation and a Method for Prediction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.linalg

from anchored.ridge.rows import Array
from anchored.ridge.sums import Sums, Targets, entries_of

__all__ = ["Spectrum", "deviations", "spectrum_of_rows", "spectrum_of_sums"]

_EPS = float(np.finfo(np.float64).eps)
_TINY = 1e-150  # below this a standard deviation has no square
_LEAST_REST = 1e-10  # of 1 - h: a sample that alone decides its own prediction has no other one


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The data in the coordinates in which a strength is a division.

    Attributes:
        mean: ``(d,)``, subtracted from features.
        rotation: ``(d, r)``, scaling and eigenvectors in one matrix; its rows of constant columns are zero.
        values: ``(r,)`` eigenvalues s of the scaled scatter, none negative.
        class_side: ``(r, k)``, the classes' sums in these coordinates.
        shares: ``(k,)``, the classes' shares of the weight.
        weight: Weight N of all samples.
        constant: Numbers of the columns that do not vary and are left out.
    """

    mean: Array
    rotation: Array
    values: Array
    class_side: Array
    shares: Array
    weight: float
    constant: tuple[int, ...]

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.shares)

    @property
    def unit(self) -> float:
        """Mean of the eigenvalues that are not zero: the natural unit of a strength."""
        top = float(self.values.max(initial=0.0))
        positive = self.values[self.values > top * len(self.values) * _EPS * 16]
        return float(positive.mean()) if len(positive) else 1.0

    def rotate(self, chunk: Array) -> Array:
        """Return features ``(n, d)`` in the coordinates of the spectrum, ``(n, r)``."""
        rotated: Array = (chunk - self.mean) @ self.rotation
        return rotated

    def weights_of(self, alpha: float) -> tuple[Array, Array]:
        r"""Return the linear map of strength ``alpha``, for logits ``(x - mean) @ slope + offset``.

        Args:
            alpha: Strength, positive.

        Returns:
            ``slope`` (d, k) and ``offset`` (k,).
        """
        k = self.k
        slope = self.rotation @ (self.class_side / (self.values + alpha)[:, None])
        return slope * (k / (k - 1)), (self.shares - 1 / k) * (k / (k - 1))

    def leave_one_out(
        self, rotated: Array, targets: Targets, weights: Array | None, alpha: float, *, squares: Array | None = None
    ) -> Array:
        r"""Return each sample's logits by the model that was fitted without it, :math:`(f - h g)/(1 - h)`.

        Args:
            rotated: Samples of the fit in the coordinates of :meth:`rotate`, ``(n, r)``.
            targets: Their class probabilities ``(n, k)``, CSR; for copies, the mean of all copies.
            weights: Their weights ``(n,)``, for copies the sum of all; None for one each.
            alpha: Strength, positive.
            squares: ``rotated**2``, if it was computed before for another strength.

        Returns:
            Logits ``(n, k)``.
        """
        k = self.k
        divided = 1.0 / (self.values + alpha)
        logits: Array = rotated @ (self.class_side * divided[:, None])
        logits += self.shares
        leverage = (rotated**2 if squares is None else squares) @ divided + 1.0 / self.weight
        if weights is not None:
            leverage *= weights
        rest = np.maximum(1.0 - leverage, _LEAST_REST)
        # In units of k/(k-1), and before 1/k is subtracted from both: f - 1/k - h (P - 1/k) = (f - h P) - (1 - h)/k.
        rows, classes, shares = entries_of(targets)
        logits[rows, classes] -= leverage[rows] * shares
        logits /= rest[:, None]
        logits -= ((1.0 - leverage) / (k * rest))[:, None]
        logits *= k / (k - 1)
        return logits


def spectrum_of_sums(sums: Sums, *, scale: bool = True) -> Spectrum:
    """Decompose the sums of the data.

    Args:
        sums: Sums of all samples.
        scale: Whether to divide each column by its standard deviation.

    Example:
        >>> from anchored.ridge.sums import as_targets
        >>> X = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0]])
        >>> found = spectrum_of_sums(Sums.of(X, as_targets(np.array([0, 0, 1]), 2)))
        >>> found.constant, found.values.round(6).tolist()
        ((1,), [3.0])
    """
    used, inverse, constant = _scaling(np.diagonal(sums.scatter), sums.mean, sums.weight, scale=scale)
    scaled = sums.scatter[np.ix_(used, used)] if len(constant) else sums.scatter
    scaled = scaled * inverse[:, None] * inverse
    values, vectors = scipy.linalg.eigh(scaled, driver="evd", overwrite_a=True, check_finite=False)
    values = np.maximum(values, 0.0)
    rotation = np.zeros((sums.d, len(values)))
    rotation[used] = vectors * inverse[:, None]
    class_side = vectors.T @ (sums.class_sums[:, used] * inverse).T
    shares = sums.class_weights / sums.weight
    return Spectrum(sums.mean, rotation, values, class_side, shares, sums.weight, constant)


def spectrum_of_rows(chunk: Array, targets: Targets, weights: Array | None = None, *, scale: bool = True) -> Spectrum:
    """Decompose few rows with many columns, from their inner products.

    Args:
        chunk: All features ``(n, d)``, n below d.
        targets: Class probabilities ``(n, k)``, CSR.
        weights: ``(n,)``; None for one each.
        scale: Whether to divide each column by its standard deviation.

    Returns:
        The same spectrum as :func:`spectrum_of_sums`, without the eigenvalues that are zero.

    Example:
        >>> from anchored.ridge.sums import as_targets
        >>> X, P = np.array([[0.0, 1.0, 5.0], [4.0, 1.0, 3.0]]), as_targets(np.array([0, 1]), 2)
        >>> spectrum_of_rows(X, P).values.round(6).tolist(), spectrum_of_sums(Sums.of(X, P)).values.max().round(6)
        ([4.0], np.float64(4.0))
    """
    each = np.ones(len(chunk)) if weights is None else weights
    weight = float(each.sum())
    mean = each @ chunk / weight
    centred = chunk - mean
    rest = each @ centred / weight
    mean, centred = mean + rest, centred - rest
    used, inverse, constant = _scaling(each @ centred**2, mean, weight, scale=scale)
    root = np.sqrt(each)[:, None]
    scaled = centred[:, used] * inverse * root
    values, vectors = scipy.linalg.eigh(scaled @ scaled.T, driver="evd", overwrite_a=True, check_finite=False)
    kept = values > max(float(values.max(initial=0.0)), 0.0) * max(chunk.shape) * _EPS * 16
    values, vectors = values[kept], vectors[:, kept]
    rotation = np.zeros((chunk.shape[1], len(values)))
    rotation[used] = (scaled.T @ (vectors / np.sqrt(values))) * inverse[:, None]
    class_side = np.asarray(targets.T @ (vectors * np.sqrt(values) * root)).T
    shares = np.asarray(targets.T @ each).ravel() / weight
    return Spectrum(mean, rotation, values, class_side, shares, weight, constant)


def deviations(squares: Array, mean: Array, weight: float) -> Array:
    """Return one over the standard deviation of each column, and zero for columns that do not vary beyond rounding.

    Args:
        squares: Weighted sums ``(d,)`` of squares about the mean.
        mean: ``(d,)``.
        weight: Weight of all samples.

    Example:
        >>> deviations(np.array([8.0, 0.0]), np.array([1.0, 5.0]), 2.0).tolist()
        [0.5, 0.0]
    """
    deviation = np.sqrt(np.maximum(squares, 0.0) / weight)
    varies = (deviation > 32 * _EPS * np.abs(mean)) & (deviation > _TINY)
    inverse: Array = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=varies)
    return inverse


def _scaling(
    squares: Array, mean: Array, weight: float, *, scale: bool
) -> tuple[npt.NDArray[np.int64], Array, tuple[int, ...]]:
    """Return which columns vary, one over their standard deviation (or ones), and the numbers of the others."""
    inverse = deviations(squares, mean, weight)
    used = np.flatnonzero(inverse)
    return used, inverse[used] if scale else np.ones(len(used)), tuple(np.flatnonzero(inverse == 0).tolist())
