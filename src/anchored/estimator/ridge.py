"""Anchored least squares as a scikit-learn classifier: no epochs, no seed, no learning rate, and nothing to tune."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted
from torch import Tensor

from anchored._errors import InputError
from anchored.audit import Suspects
from anchored.estimator.answers import AnswersByLogits
from anchored.estimator.judged import JudgedLabels
from anchored.estimator.rows import TakesTables
from anchored.features import written_uses
from anchored.ridge import (
    ArrayRows,
    Gathered,
    ParquetRows,
    Ridge,
    Sums,
    as_targets,
    fit_gathered,
    fit_rows,
    gather,
    gather_chunk,
    gather_stream,
    join,
    open_rows,
    with_class_weights,
)

__all__ = ["AnchoredRidge"]

_LOGITS_KEPT = 2**27
"""Leave-one-out logits of a file that are kept at most: a gigabyte."""


def _is_linear(estimator: AnchoredRidge) -> bool:
    if estimator.kernel is not None:
        raise AttributeError(f"partial_fit needs kernel=None, got {estimator.kernel!r}; use fit, or map X beforehand")
    return True


class AnchoredRidge(AnswersByLogits, TakesTables, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""Least squares onto the anchors, in closed form, for labels that may be wrong.

    .. math::  \min_{B, b} \tfrac12 \sum_i c_i \lVert B^\top \tilde x_i + b - w_{y_i} \rVert^2
               + \tfrac12 \alpha \lVert B \rVert^2

    The anchors :math:`w_1, \dots, w_k` are the corners of a simplex. Features are standardised in float64, so no scaler
    is needed. Strength, width of the kernel and temperature are chosen by exact leave-one-out predictions of the given
    labels: no folds, and no label is judged by a model that saw it. Symmetric label noise shrinks the regression but
    leaves its predictions (see ``docs/ridge.md``).

    Args:
        alpha: Strength of the penalty on standardised features: ``"loo"`` chooses among sixteen over seven decades; a
            positive number is taken as it is, a list is chosen from.
        kernel: None for a linear model; ``"rbf"`` for a Gaussian kernel whose width is chosen as alpha is; ``"auto"``
            for the better of the two.
        class_weight: How much each class counts: None for one each, ``"balanced"``, or a dictionary by class.
        prior: Class shares where the model will be used, for long tails: None if they are those of the training labels,
            ``"uniform"``, or a dictionary by class. Logits are adjusted by the logarithm of the ratio.
        landmarks: Most rows on which the kernel is built (Nyström).
        kinds: What columns of a table are, if you know better: column to ``number``, ``category``, ``date``,
            ``date:dmy``, ``date:mdy``, ``text`` or ``id`` (left out).
        verbose: Whether to print what is done with each column and what was chosen.

    Attributes:
        classes_: The classes, sorted, ``(k,)``.
        n_features_in_: Columns of ``X``.
        feature_names_in_: Their names, if ``X`` was a data frame with string columns.
        alpha_: The strength.
        gamma_: Sharpness of the kernel, None for a linear model.
        temperature_: What raw logits are divided by, so that probabilities are calibrated.
        loo_decision_function_: Calibrated logits ``(n, k)`` of the training samples, each by the model without it.
        loo_log_likelihood_: Mean log-probability of the given labels by those models.
        constant_columns_: Columns that do not vary and are left out.
        noise_rate_: Estimated share of wrong labels.
        noise_interval_: What that share may be, at 95 %.
        label_issues_: The rows of ``X`` whose label is probably wrong, the most suspicious first, as a table
            (:class:`anchored.audit.Suspects`) with ``index``, ``given``, ``suggested`` and ``probability_wrong``.
        encoder_: How rows of a table become vectors (:class:`anchored.features.TableEncoder`); None for numbers.
        model_: The fitted :class:`anchored.ridge.Ridge`, a torch module.

    A sample of weight w is the same as w copies of it; copies are left out together. After ``partial_fit`` and
    ``merge`` the choices rest on the exact leave-one-out predictions of a sample of up to 10,000 rows, which is all of
    the data up to that number.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = AnchoredRidge(kernel="auto").fit(X, y)
        >>> bool(model.score(X, y) > 0.95), model.loo_decision_function_.shape
        (True, (150, 3))
    """

    classes_: npt.NDArray[Any]
    n_features_in_: int

    def __init__(
        self,
        alpha: float | Sequence[float] | str = "loo",
        *,
        kernel: str | None = None,
        class_weight: dict[Any, float] | str | None = None,
        prior: dict[Any, float] | str | None = None,
        landmarks: int = 1_000,
        kinds: dict[str, str] | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.class_weight = class_weight
        self.prior = prior
        self.landmarks = landmarks
        self.kinds = kinds
        self.verbose = verbose

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> AnchoredRidge:
        """Fit on rows ``X`` with labels ``y``; what was fitted or added before is forgotten.

        Args:
            X: ``(n, d)`` numbers, a sparse matrix, or a table with columns of any kind (``docs/tables.md``).
            y: ``(n,)`` class labels of any sortable kind.
            sample_weight: ``(n,)``, how much each sample counts; None for one each.

        Returns:
            The estimator itself.

        Raises:
            InputError: If there are fewer than two classes or a setting is out of range.
        """
        rows, labels = self._rows_to_fit(X, y)
        check_classification_targets(labels)
        given = _sample_weights(sample_weight, len(rows))
        self._seen = np.arange(len(rows)) if given is None else np.flatnonzero(given)
        unseen = rows[:0] if given is None else rows[given == 0]
        if len(unseen):
            rows, labels, given = rows[self._seen], labels[self._seen], _positive(given)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        targets = self._targets(codes)
        weights = with_class_weights(targets, given, self._class_weights())
        source = ArrayRows(rows)
        self._gathered = gather(source, targets, weights)
        self._model: Ridge | None = fit_rows(
            source,
            targets,
            weights,
            alpha=self.alpha,
            kernel=self.kernel,
            prior=self._prior(),
            landmarks=self.landmarks,
            gathered=self._gathered,
        )
        self._say_constant()
        self._keep_judged(self._model.loo_logits, torch.from_numpy(codes.astype(np.int64)), weights)
        self._left_out: npt.NDArray[np.float64] | None = self._model.loo_logits.numpy()
        if len(unseen):
            # A sample without weight was not seen by the model, so the model itself may judge it.
            every = np.empty((len(self._seen) + len(unseen), len(self.classes_)))
            every[self._seen] = self._left_out
            others = np.setdiff1d(np.arange(len(every)), self._seen)
            every[others] = (self._model.logits(_tensor(unseen)) - self._model.shift).numpy()
            self._left_out = every
        if self.verbose:
            self._print()
        return self

    def _print(self) -> None:
        if self.encoder_ is not None:
            print(written_uses(self.encoder_.uses))
        kernel = "linear" if self.gamma_ is None else f"Gaussian kernel, gamma {self.gamma_:.3g}"
        print(
            f"anchored least squares: {kernel}, alpha {self.alpha_:.3g}; mean log-probability of labels that were left "
            f"out {self.loo_log_likelihood_:.3f}; about {100 * self.noise_rate_:.1f} % of the labels look wrong"
        )

    @available_if(_is_linear)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def partial_fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        classes: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> AnchoredRidge:
        """Add rows to what was fitted before; the result is that of one fit on all rows, up to rounding.

        Args:
            X: ``(n, d)`` numbers, or a table; what its columns are is learnt from the first call.
            y: ``(n,)`` class labels.
            classes: All classes that may ever come; needed in the first call.
            sample_weight: ``(n,)``, how much each sample counts; None for one each.

        Returns:
            The estimator itself.

        Raises:
            InputError: If the chunk does not fit what was seen before.
            AttributeError: If a kernel is asked for.

        Example:
            >>> model = AnchoredRidge()
            >>> _ = model.partial_fit([[0.0], [1.0], [9.0]], ["low", "low", "high"], classes=["low", "high"])
            >>> model.partial_fit([[8.0], [7.0], [2.0]], ["high", "high", "low"]).predict([[0.5], [8.5]]).tolist()
            ['low', 'high']
        """
        first = not hasattr(self, "_gathered")
        rows, labels = self._rows_to_fit(X, y, first=first)
        check_classification_targets(labels)
        if isinstance(self.class_weight, str):
            raise InputError("class_weight='balanced' cannot be known from a part; give a dictionary by class")
        if first:
            if classes is None:
                raise InputError("classes must list all classes in the first call of partial_fit; pass classes=[...]")
            self.classes_ = np.unique(np.asarray(classes))
        elif classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise InputError("classes must be those of the first call of partial_fit; leave it out, or fit anew")
        codes = np.searchsorted(self.classes_, labels).clip(max=len(self.classes_) - 1)
        unknown = labels[self.classes_[codes] != labels]
        if len(unknown):
            raise InputError(f"y holds {unknown.tolist()[0]!r}, which is not among classes; list it in the first call")
        given = _sample_weights(sample_weight, len(rows))
        if given is not None:
            rows, codes, given = rows[given > 0], codes[given > 0], _positive(given)
        targets = as_targets(codes.astype(np.int64), len(self.classes_))
        weights = with_class_weights(targets, given, self._class_weights())
        part = gather_chunk(ArrayRows(rows).read(0, len(rows)), targets, weights)
        self._gathered = part if first else join([_with_sums(self._gathered), part])
        self._forget()
        return self

    def merge(self, other: AnchoredRidge) -> AnchoredRidge:
        """Add what another estimator has seen, e.g. on another machine; rows must not be in both.

        Args:
            other: A fitted estimator with the same classes and features.

        Returns:
            The estimator itself.

        Raises:
            InputError: If classes or features differ, or one has a kernel.
        """
        check_is_fitted(self, "classes_")
        check_is_fitted(other, "classes_")
        if self.kernel is not None or other.kernel is not None:
            raise InputError("merge needs kernel=None on both sides; fit all rows at once, or map X beforehand")
        if not np.array_equal(self.classes_, other.classes_):
            raise InputError(
                f"cannot merge models of different classes, {_some(self.classes_)} and {_some(other.classes_)}; "
                f"pass the same classes= to both"
            )
        if (self.encoder_ and self.encoder_.digest) != (other.encoder_ and other.encoder_.digest):
            raise InputError("cannot merge models whose tables are encoded differently; begin both with the same rows")
        if self.n_features_in_ != other.n_features_in_:
            raise InputError(
                f"cannot merge models of {self.n_features_in_} and of {other.n_features_in_} features; "
                f"give both the same columns"
            )
        self._gathered = join([_with_sums(self._gathered), _with_sums(other._gathered)])
        self._forget()
        return self

    def fit_file(self, path: str | Path, y: npt.ArrayLike | str | Path, *, on: str = "local") -> AnchoredRidge:
        """Fit on a file that may be larger than memory, in two passes over chunks.

        Args:
            path: ``.npy`` matrix, or ``.parquet`` with columns of numbers or one column of lists.
            y: Labels ``(n,)``, the path of a ``.npy`` file with them, or the name of the Parquet file's label column.
            on: ``"local"`` or ``"ray"``: where the sums are computed; the result is the same to the byte.

        Returns:
            The estimator itself; ``loo_decision_function_`` is kept up to a gigabyte, ``model_.left_out`` always has
            the probability of each given label and the class predicted without it.

        Raises:
            InputError: If the file cannot be read or the labels do not fit it.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     np.save(f"{folder}/X.npy", np.arange(8.0)[:, None])
            ...     model = AnchoredRidge().fit_file(f"{folder}/X.npy", [0, 0, 0, 0, 1, 1, 1, 1])
            >>> model.predict([[1.0], [6.0]]).tolist()
            [0, 1]
        """
        column = y if isinstance(y, str) and Path(path).suffix.lower() in (".parquet", ".pq") else None
        rows = open_rows(path, label=column)
        if column is not None and isinstance(rows, ParquetRows):
            labels = rows.labels(column)
        elif isinstance(y, str | Path):
            labels = _read_labels(Path(y))
        else:
            labels = np.asarray(y)
        if labels.shape != (rows.n,):
            raise InputError(f"y must hold one label per row of {path}, got shape {labels.shape} for {rows.n} rows")
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self.n_features_in_ = rows.d
        self.encoder_, self._means = None, None
        self.__dict__.pop("feature_names_in_", None)
        targets = self._targets(codes)
        weights = with_class_weights(targets, None, self._class_weights())
        keep = rows.n * len(self.classes_) <= _LOGITS_KEPT
        self._gathered = gather_stream(rows, targets, weights, on=on)
        self._model = fit_rows(
            rows,
            targets,
            weights,
            alpha=self.alpha,
            kernel=self.kernel,
            prior=self._prior(),
            landmarks=self.landmarks,
            keep=keep,
            gathered=self._gathered,
        )
        self._say_constant()
        self._seen = np.arange(rows.n)
        self._left_out = self._model.loo_logits.numpy() if keep else None
        if keep:
            self._keep_judged(self._model.loo_logits, torch.from_numpy(codes.astype(np.int64)), weights)
        else:
            self._judge_by_sample()
        return self

    @property
    def model_(self) -> Ridge:
        """The fitted model; after partial_fit or merge it is solved when it is first asked for."""
        check_is_fitted(self, "classes_")
        if self._model is None:
            self._model = fit_gathered(_with_sums(self._gathered), alpha=self.alpha, prior=self._prior())
            self._say_constant()
        return self._model

    @property
    def alpha_(self) -> float:
        """The strength of the penalty."""
        return self.model_.alpha

    @property
    def gamma_(self) -> float | None:
        """Sharpness of the kernel, None for a linear model."""
        return self.model_.gamma

    @property
    def temperature_(self) -> float:
        """What raw logits are divided by."""
        return self.model_.temperature

    @property
    def constant_columns_(self) -> tuple[int, ...]:
        """Columns that do not vary and are left out."""
        if self.encoder_ is None:
            return self.model_.constant
        return tuple(place for place, use in enumerate(self.encoder_.uses) if use.kind in ("constant", "empty"))

    @property
    def loo_log_likelihood_(self) -> float:
        """Mean log-probability of the given labels by models that did not see them."""
        return self.model_.loo_log_likelihood

    @property
    def loo_decision_function_(self) -> npt.NDArray[np.float64]:
        """Calibrated logits ``(n, k)`` of the training samples, each by the model without it, without the prior."""
        check_is_fitted(self, "classes_")
        if self._left_out is None:
            raise AttributeError("loo_decision_function_ is there after fit; partial_fit and merge keep no rows")
        return self._left_out

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
        if self._left_out is None:
            raise AttributeError("label_issues_ is there after fit; partial_fit and merge keep no rows")
        return self._judged().issues

    def _logits(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        check_is_fitted(self, "classes_")
        rows = self._rows_to_predict(X)
        logits: npt.NDArray[np.float64] = self.model_.logits(_tensor(rows)).numpy()
        return logits

    def _targets(self, codes: npt.NDArray[np.int64]) -> Any:  # noqa: ANN401 - a scipy matrix
        if len(self.classes_) < 2:
            only = self.classes_.tolist()[0]
            raise InputError(f"y must hold at least two classes, got one class only, {only!r}; add samples of another")
        return as_targets(codes.astype(np.int64), len(self.classes_))

    def _class_weights(self) -> Tensor | str | None:
        if self.class_weight is None or isinstance(self.class_weight, str):
            return self.class_weight
        return _by_class("class_weight", self.class_weight, self.classes_, missing=1.0)

    def _prior(self) -> Tensor | str | None:
        if self.prior is None or isinstance(self.prior, str):
            return self.prior
        return _by_class("prior", self.prior, self.classes_, missing=None)

    def _keep_judged(self, logits: Tensor, codes: Tensor, weights: npt.NDArray[np.float64] | None) -> None:
        each = None if weights is None else torch.from_numpy(weights)
        self._judged_labels: JudgedLabels | None = JudgedLabels(
            logits, codes, self.classes_, weights=each, rows=self._seen
        )

    def _judge_by_sample(self) -> None:
        """Judge the noise by the sample of rows, for which exact answers can be computed from the sums."""
        model = fit_gathered(_with_sums(self._gathered), alpha=self.model_.alpha)
        sample = self._gathered.sample
        codes = torch.from_numpy(np.asarray(sample.targets.argmax(axis=1)).ravel().astype(np.int64))
        self._judged_labels = JudgedLabels(
            model.loo_logits, codes, self.classes_, weights=torch.from_numpy(sample.weights)
        )

    def _judged(self) -> JudgedLabels:
        check_is_fitted(self, "classes_")
        if self._judged_labels is None:
            self._judge_by_sample()
        assert self._judged_labels is not None
        return self._judged_labels

    def _forget(self) -> None:
        """Drop what was computed from fewer rows."""
        self._model = self._left_out = self._judged_labels = None

    def _say_constant(self) -> None:
        constant = self.constant_columns_
        if constant:
            more = ", ..." if len(constant) > 5 else ""
            first: list[object] = list(constant[:5])
            if self.encoder_ is not None:
                first = [self.encoder_.uses[place].column for place in constant[:5]]
            warnings.warn(
                f"{len(constant)} of {self.n_features_in_} columns do not vary and are left out: "
                f"{', '.join(map(str, first))}{more}",
                UserWarning,
                stacklevel=3,
            )


def _with_sums(gathered: Gathered) -> Gathered:
    """Sum the rows if that was not done, for a fit with fewer rows than columns."""
    if gathered.sums is not None:
        return gathered
    sample = gathered.sample
    if len(np.unique(gathered.keys)) > len(sample.keys):
        raise InputError("rows cannot be added to a fit with fewer rows than columns; begin with partial_fit instead")
    return Gathered(Sums.of(sample.rows, sample.targets, sample.weights), sample, gathered.keys)


def _by_class(name: str, table: dict[Any, float], classes: npt.NDArray[Any], *, missing: float | None) -> Tensor:
    if not isinstance(table, dict):
        raise InputError(f"{name} must be None, a name or a dictionary by class, got {type(table).__name__}")
    values = []
    for label in classes.tolist():
        value = table.get(label, missing)
        if value is None or not value > 0:
            raise InputError(f"{name} must give a positive number for every class, got {value!r} for {label!r}")
        values.append(float(value))
    return torch.tensor(values, dtype=torch.float64)


def _sample_weights(sample_weight: npt.ArrayLike | None, n: int) -> npt.NDArray[np.float64] | None:
    if sample_weight is None:
        return None
    given = [sample_weight] * n if np.isscalar(sample_weight) else sample_weight
    weights: npt.NDArray[np.float64] = check_array(given, dtype=np.float64, ensure_2d=False, input_name="sample_weight")
    if weights.shape != (n,):
        raise InputError(f"sample_weight must be ({n},), one weight per row of X, got {weights.shape}")
    if (weights < 0).any():
        raise InputError(f"sample_weight must not be negative, got {weights.min()} for row {int(weights.argmin())}")
    if not weights.any():
        raise InputError("every sample_weight is zero, so there is nothing to learn from; give some rows a weight")
    return weights


def _positive(weights: npt.NDArray[np.float64] | None) -> npt.NDArray[np.float64] | None:
    return None if weights is None else weights[weights > 0]


def _tensor(rows: npt.NDArray[Any]) -> Tensor:
    """Return ``rows`` as a tensor that shares its memory, unless it is read-only, which torch has no notion of."""
    return torch.from_numpy(rows if rows.flags.writeable else rows.copy())


def _read_labels(path: Path) -> npt.NDArray[Any]:
    try:
        labels: npt.NDArray[Any] = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the labels in {path} ({error}); write them with numpy.save") from None
    return labels


def _some(classes: npt.NDArray[Any]) -> str:
    names = [str(name) for name in classes.tolist()]
    return f"({', '.join(names[:5])}{', ...' if len(names) > 5 else ''})"
