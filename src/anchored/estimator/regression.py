"""Any regressor becomes a classifier that resists label noise: it regresses onto the anchors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored._random import stream
from anchored.audit import Suspects
from anchored.estimator.answers import AnswersByLogits
from anchored.estimator.judged import JudgedLabels
from anchored.estimator.rows import TakesTables
from anchored.prototypes import simplex
from anchored.ridge import as_targets, fit_sharpness, log_likelihood

__all__ = ["AnchoredRegression"]


class AnchoredRegression(AnswersByLogits, TakesTables, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""A classifier made of a regressor: :math:`\hat w(x) \approx E[w_y \mid x]`, logits :math:`W \hat w(x) / T`.

    The targets are the anchors :math:`w_1, \dots, w_k` in :math:`k - 1` coordinates. Under symmetric noise of rate
    :math:`\eta` the regression function only shrinks by :math:`1 - \eta k/(k-1)`, so predictions stay what they were;
    boosted trees with this squared loss do not chase single wrong labels as they do with the logarithmic one.

    Labels are judged, and the temperature is chosen, by out-of-fold predictions.

    Args:
        regressor: A scikit-learn regressor; None for ``HistGradientBoostingRegressor``, which suits tables. One that
            takes a single output is fitted once per coordinate.
        folds: Number of folds for the out-of-fold predictions.
        kinds: What columns of a table are, if you know better: column to ``number``, ``category``, ``date``,
            ``date:dmy``, ``date:mdy``, ``text`` or ``id`` (left out).
        random_state: Seed of the folds and of the default regressor, a ``RandomState``, or None.

    Attributes:
        classes_: The classes, sorted, ``(k,)``.
        n_features_in_: Columns of ``X``.
        feature_names_in_: Their names, if ``X`` was a data frame with string columns.
        regressor_: The regressor that was fitted on all rows.
        anchors_: The anchors ``(k, k-1)``.
        temperature_: What raw logits are divided by, so that probabilities are calibrated.
        oof_decision_function_: Calibrated out-of-fold logits ``(n, k)`` of the training samples.
        loo_decision_function_: The same, under the name that all estimators here have.
        oof_log_likelihood_: Mean log-probability of the given labels by those logits.
        noise_rate_: Estimated share of wrong labels.
        noise_interval_: What that share may be, at 95 %.
        label_issues_: The rows of ``X`` whose label is probably wrong, the most suspicious first.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.neighbors import KNeighborsRegressor
        >>> X, y = load_iris(return_X_y=True)
        >>> model = AnchoredRegression(KNeighborsRegressor(10), random_state=0).fit(X, y)
        >>> bool(model.score(X, y) > 0.95), model.oof_decision_function_.shape
        (True, (150, 3))
    """

    classes_: npt.NDArray[Any]
    n_features_in_: int
    regressor_: Any
    anchors_: npt.NDArray[np.float64]
    temperature_: float
    oof_decision_function_: npt.NDArray[np.float64]
    oof_log_likelihood_: float

    def __init__(
        self,
        regressor: Any = None,  # noqa: ANN401 - scikit-learn has no types
        *,
        folds: int = 5,
        kinds: dict[str, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.regressor = regressor
        self.folds = folds
        self.kinds = kinds
        self.random_state = random_state

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> AnchoredRegression:
        """Fit on rows ``X`` with labels ``y``: once per fold to judge the labels, once on all rows for predictions.

        Args:
            X: ``(n, d)`` numbers, a sparse matrix, or a table with columns of any kind (``docs/tables.md``).
            y: ``(n,)`` class labels of any sortable kind.

        Returns:
            The estimator itself.

        Raises:
            InputError: If there are fewer than two classes, or the regressor is none.
        """
        rows, labels = self._rows_to_fit(X, y)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        k = len(self.classes_)
        if k < 2:
            only = self.classes_.tolist()[0]
            raise InputError(f"y must hold at least two classes, got one class only, {only!r}; add samples of another")
        folds = min(check_integer("folds", self.folds, low=2), len(rows))
        if len(rows) < 2 * k:
            folds = min(folds, 2)
        self.anchors_ = simplex(k, k - 1, dtype=torch.float64).numpy()
        source = check_random_state(self.random_state)
        seed = int(source.randint(2**31 - 1))
        regressor = self._make(k, seed)
        raw = np.empty((len(rows), k))
        for train, test in _split(codes, folds, seed):
            raw[test] = self._raw(clone(regressor).fit(rows[train], self._wanted(codes[train])), rows[test])
        targets = as_targets(codes.astype(np.int64), k)
        sharpness = fit_sharpness(raw, targets)
        self.temperature_ = 1.0 / sharpness
        self.oof_decision_function_ = raw * sharpness
        self.oof_log_likelihood_ = log_likelihood(self.oof_decision_function_, targets)
        self.regressor_ = clone(regressor).fit(rows, self._wanted(codes))
        judged = torch.from_numpy(self.oof_decision_function_), torch.from_numpy(codes.astype(np.int64))
        self._judged_labels = JudgedLabels(*judged, self.classes_)
        return self

    @property
    def loo_decision_function_(self) -> npt.NDArray[np.float64]:
        """Calibrated logits ``(n, k)`` of the training samples from models that did not see them."""
        check_is_fitted(self, "regressor_")
        return self.oof_decision_function_

    @property
    def noise_rate_(self) -> float:
        """Estimated share of wrong labels."""
        return self._judged().noise.rate

    @property
    def noise_interval_(self) -> tuple[float, float]:
        """What the share of wrong labels may be, at 95 %."""
        return self._judged().noise.interval

    @property
    def label_issues_(self) -> Suspects:
        """The rows whose label is probably wrong, the most suspicious first."""
        return self._judged().issues

    def _logits(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        check_is_fitted(self, "regressor_")
        rows = self._rows_to_predict(X)
        logits: npt.NDArray[np.float64] = self._raw(self.regressor_, rows) / self.temperature_
        return logits

    def _judged(self) -> JudgedLabels:
        check_is_fitted(self, "regressor_")
        return self._judged_labels

    def _make(self, k: int, seed: int) -> Any:  # noqa: ANN401 - scikit-learn has no types
        regressor = HistGradientBoostingRegressor(random_state=seed) if self.regressor is None else self.regressor
        if not (hasattr(regressor, "fit") and hasattr(regressor, "predict")):
            raise InputError(f"regressor must be a scikit-learn regressor, got {regressor!r}; pass an object of one")
        if k == 2 or get_tags(regressor).target_tags.multi_output:
            return regressor
        return MultiOutputRegressor(regressor)

    def _wanted(self, codes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        wanted: npt.NDArray[np.float64] = self.anchors_[codes]
        return wanted[:, 0] if wanted.shape[1] == 1 else wanted

    def _raw(self, regressor: Any, rows: npt.NDArray[Any]) -> npt.NDArray[np.float64]:  # noqa: ANN401 - as above
        predicted = np.asarray(regressor.predict(rows), dtype=np.float64).reshape(len(rows), -1)
        raw: npt.NDArray[np.float64] = predicted @ self.anchors_.T
        return raw


def _split(
    codes: npt.NDArray[np.int64], folds: int, seed: int
) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Deal each class out to the folds in turn; a class may have fewer samples than there are folds."""
    order = torch.randperm(len(codes), generator=stream(seed, "folds")).numpy()
    place = np.empty(len(codes), dtype=np.int64)
    place[order[np.argsort(codes[order], kind="stable")]] = np.arange(len(codes)) % folds
    return [(np.flatnonzero(place != fold), np.flatnonzero(place == fold)) for fold in range(folds)]
