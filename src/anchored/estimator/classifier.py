"""The library as a scikit-learn estimator: arrays in, calibrated probabilities out.

Training is :func:`anchored.runs.fit`: a model fitted here and one fitted from the command line with the same settings
and seed have the same weights.
"""

from __future__ import annotations

import copy
import numbers
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted
from torch import Tensor, nn

from anchored import methods, runs
from anchored._checks import check_integer, check_real
from anchored._errors import InputError
from anchored.audit import Suspects
from anchored.data import Dataset, Split, TensorInputs
from anchored.estimator.answers import AnswersByLogits
from anchored.estimator.judged import JudgedLabels
from anchored.estimator.rows import TakesTables
from anchored.estimator.verbose import PrintedProgress
from anchored.features import written_uses
from anchored.runs import Fitted, TrainedModel
from anchored.training import RunConfig, merge

__all__ = ["AnchoredClassifier"]

_PREDICTION_BATCH = 1_024
_COLOURS = (1, 3, 4)


class AnchoredClassifier(AnswersByLogits, TakesTables, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""A classifier with anchored prototypes, for labels that are noisy and classes that are unbalanced.

    Features are standardised, so no scaler is needed before it. Rows of ``X`` are vectors ``(n, d)``,
    images ``(n, c, h, w)``, a sparse matrix, or a table: a data frame of pandas, polars or pyarrow, or an array, with
    categories, dates, texts and missing cells, see ``docs/tables.md``. For vectors and tables, closed forms, boosted
    trees, a linear probe and, if there are not too many numbers, a network are compared by the likelihood of labels
    that they did not see, and the best of them or an average is taken. Images, and vectors with settings that only a
    network has (``epochs``, ``lr``, ``backbone`` …), get a network that is chosen by their shape.

    Args:
        method: Training method, such as ``"ce+fnpal"``, see :func:`anchored.methods.parse`. ``"auto"`` decides after a
            look at the labels, see :func:`anchored.runs.decide`; with a number or None for ``noise_rate`` it is
            ``ce+fnpal``, or ``balanced-softmax+pal`` if one class has ten times the samples of another and there is no
            ``class_weight``.
        noise_rate: Share of wrong labels. ``"auto"`` estimates it first, by judges that did not see the label;
            with ``method="auto"``, each label then counts only as far as it can be trusted, and probabilities are
            calibrated by what the labels probably are. A number is taken as it is, and a network is trained. None
            assumes 0.2, which suits rates up to about 0.4. Up to 200 samples, which are too few for a look, ``"auto"``
            takes the closed form.
        epochs: Passes over the data, if a network is trained. ``"auto"`` is 100 up to 200 samples, because an epoch is
            one step there; then 20, and fewer for more than 50,000 samples, down to 10.
        batch_size: Samples per step. ``"auto"`` is all of them up to 200, then 64, and 128 from 10,000 on.
        lr: First learning rate. ``"auto"`` is 0.002 for vectors, 0.01 for up to 200 of them, and the recipe's for
            images.
        backbone: Name of the network that computes the features, see :func:`anchored.backbones.get`.
        module: A network of your own instead, from inputs to features ``(n, d)``. Each fit trains a copy of it.
        class_weight: Weight of each class: None for one each, ``"balanced"``, or a dictionary by class.
        precision: ``"64"``, ``"32"`` or ``"bf16"``. ``"auto"`` keeps the precision of ``X``, as scikit-learn does:
            double for doubles and whole numbers, single for float32 and for images.
        device: Device to train on. ``"auto"`` is an accelerator if there is one, except for doubles, which stay on the
            CPU.
        settings: Any other setting of a :class:`~anchored.training.RunConfig` as a nested dictionary, for instance
            ``{"backbone": {"options": {"hidden": (64,)}}}``; the parameters above win. A search can set one of them by
            ``settings__backbone__options__hidden``.
        kinds: What columns of a table are, if you know better: column to ``number``, ``category``, ``date``,
            ``date:dmy``, ``date:mdy``, ``text`` or ``id`` (left out).
        early_stopping: Epochs in which held-out labels are predicted worse than at best, after which a network's
            training stops and goes back to the best; False never stops, ``"auto"`` stops if labels look wrong.
        warm_start: Whether a network begins with the weights that the last fit has learnt. Whatever is computed in
            closed form has no weights to begin with.
        verbose: Whether to print what happens: what is done with each column, what was chosen, each epoch.
        random_state: A seed, a ``RandomState``, or None for a different fit each time. Torch's global generator
            is never touched.

    Attributes:
        classes_: The classes, sorted, ``(k,)``.
        n_features_in_: Number of columns of ``X`` in fit; for images, of channels.
        feature_names_in_: Names of the columns, if ``X`` was a data frame with string columns.
        n_iter_: Number of epochs trained.
        history_: One record per epoch: learning rate, loss, accuracy, and the same on held-out data.
        noise_rate_: Share of wrong labels: estimated, given, or assumed; NaN if nothing can be known about them.
        label_issues_: Rows of ``X`` whose label is probably wrong, the most suspicious first, as a table
            (:class:`anchored.audit.Suspects`) with ``index``, ``given``, ``suggested`` and ``probability_wrong``. With
            ``noise_rate="auto"`` no row is judged by a model that saw its label; otherwise the fitted model judges.
        config_: Every setting of the fit; none of them is ``auto`` any more.
        encoder_: How rows of a table become vectors (:class:`anchored.features.TableEncoder`); None for numbers.
        model_: The trained model as a torch module: raw inputs (of a table, encoded ones) in, calibrated logits out.

    A sample of weight w counts as w copies of it, and one of weight 0 as if it were not there. This is exact up to 200
    samples, because every step sees all of them. A tenth of larger sets is held out for calibration.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = AnchoredClassifier(random_state=0).fit(X, y)
        >>> bool(model.score(X, y) > 0.95), model.predict_proba(X[:2]).shape
        (True, (2, 3))
    """

    classes_: npt.NDArray[Any]
    n_features_in_: int
    n_iter_: int
    history_: list[dict[str, Any]]
    noise_rate_: float
    config_: RunConfig
    model_: TrainedModel

    def __init__(
        self,
        method: str | methods.Method = "auto",
        *,
        noise_rate: float | str | None = "auto",
        epochs: int | str = "auto",
        batch_size: int | str = "auto",
        lr: float | str = "auto",
        backbone: str = "auto",
        module: nn.Module | None = None,
        class_weight: dict[Any, float] | str | None = None,
        precision: str = "auto",
        device: str = "auto",
        settings: dict[str, Any] | None = None,
        kinds: dict[str, str] | None = None,
        early_stopping: int | bool | str = "auto",
        warm_start: bool = False,
        verbose: bool | int = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.method = method
        self.noise_rate = noise_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.lr = lr
        self.backbone = backbone
        self.module = module
        self.class_weight = class_weight
        self.precision = precision
        self.device = device
        self.settings = settings
        self.kinds = kinds
        self.early_stopping = early_stopping
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> AnchoredClassifier:
        """Train on rows ``X`` with labels ``y``.

        Args:
            X: Numbers ``(n, d)``, images ``(n, c, h, w)``, a sparse matrix, or a table with columns of any kind.
            y: Class labels ``(n,)`` of any sortable kind.
            sample_weight: Weight ``(n,)`` of each sample; None for one each.

        Returns:
            The fitted estimator itself.

        Raises:
            InputError: The rows, labels, weights or a parameter cannot be used.

        Example:
            >>> X, y = np.repeat(np.eye(3), 20, axis=0), np.repeat(["a", "b", "c"], 20)
            >>> AnchoredClassifier(epochs=30, random_state=0).fit(X, y).predict(np.eye(3)).tolist()
            ['a', 'b', 'c']
        """
        rows, labels = self._rows_to_fit(X, y, types=_input_types(X), images=True)
        _check_layout(rows)
        check_classification_targets(labels)
        weights = None if sample_weight is None else _sample_weights(sample_weight, len(rows))
        self._rows = np.arange(len(rows))
        if weights is not None and not weights.all():
            self._rows = self._rows[weights > 0]
            rows, labels, weights = rows[weights > 0], labels[weights > 0], weights[weights > 0]
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            only = self.classes_.tolist()[0]
            raise InputError(f"y must hold at least two classes, got one class only, {only!r}; add samples of another")
        weights = self._with_class_weights(labels, codes, weights)
        names = getattr(self, "feature_names_in_", None)
        data = Dataset(
            "the training data",
            TensorInputs(_tensor(rows)),
            torch.from_numpy(codes.astype(np.int64)),
            tuple(str(name) for name in self.classes_.tolist()),
            weights=None if weights is None else torch.from_numpy(weights),
            columns=None if names is None else tuple(names),
        )
        fitted = self._train(data, double=rows.ndim == 2 and rows.dtype == np.float64)
        self.model_, self.config_ = fitted.model, fitted.config
        self.history_, self.n_iter_ = fitted.history, len(fitted.history)
        return self

    @property
    def label_issues_(self) -> Suspects:
        """Rows whose label is probably wrong, the most suspicious first."""
        check_is_fitted(self, "model_")
        return self._judged_labels.issues

    def _logits(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        check_is_fitted(self, "model_")
        array = self._rows_to_predict(X, types=_input_types(X), images=True)
        _check_layout(array)
        if array.shape[1:] != self.model_.input_shape:
            raise InputError(
                f"X must hold rows of shape {self.model_.input_shape} as in fit, got {array.shape[1:]}; resize them"
            )
        rows = _tensor(array)
        with torch.inference_mode():
            parts = [self.model_(rows[i : i + _PREDICTION_BATCH]) for i in range(0, len(rows), _PREDICTION_BATCH)]
            logits: npt.NDArray[np.float64] = torch.cat(parts).to(torch.float64).numpy()
        return logits

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also each value in ``settings``, as ``settings__train__epochs``."""
        found: dict[str, Any] = super().get_params(deep=deep)
        if deep and isinstance(self.settings, dict):
            found |= _flat(self.settings, "settings")
        return found

    def set_params(self, **params: Any) -> AnchoredClassifier:  # noqa: ANN401
        """Set parameters; ``settings__train__epochs=5`` sets one value of ``settings`` and leaves the others.

        Example:
            >>> AnchoredClassifier(settings={"train": {"ema": 0.9}}).set_params(settings__train__epochs=5).settings
            {'train': {'ema': 0.9, 'epochs': 5}}
        """
        nested = {name: value for name, value in params.items() if name.startswith("settings__")}
        super().set_params(**{name: value for name, value in params.items() if name not in nested})
        for name, value in nested.items():
            for part in reversed(name.split("__")[1:]):
                value = {part: value}
            self.settings = merge(self.settings or {}, value)
        return self

    def _learnt_backbone(self, data: Dataset) -> nn.Module | None:
        """Return the network of the last fit, to begin with, if that is asked for and it takes such rows."""
        last: TrainedModel | None = getattr(self, "model_", None)
        backbone = None if last is None else getattr(last.classifier, "backbone", None)
        if not self.warm_start or last is None or backbone is None or last.input_shape != data.inputs.shape:
            return None
        return copy.deepcopy(backbone) if any(True for _ in backbone.parameters()) else None

    def _train(self, data: Dataset, *, double: bool) -> Fitted:
        learnt = self._learnt_backbone(data)
        settings = self._settings(data, double=double, learnt=learnt is not None)
        progress = PrintedProgress() if self.verbose else None
        if progress is not None and self.encoder_ is not None:
            progress.say(written_uses(self.encoder_.uses))
        module = copy.deepcopy(self.module) if learnt is None else learnt
        fitted = runs.fit(Split(data), settings, module=module, progress=progress)
        look = fitted.look
        unseen = fitted.left_out if look is None else look.logits
        judged_by = fitted.model.raw_logits(data) if unseen is None else unseen
        known = look is None or look.knowable
        self._judged_labels = JudgedLabels(judged_by, data.labels, self.classes_, rows=self._rows, knowable=known)
        if look is not None:
            self.noise_rate_ = look.noise.rate if known else float("nan")
        else:
            told = float(fitted.config.method.noise_rate)
            self.noise_rate_ = told if unseen is None else self._judged_labels.noise.rate
        return fitted

    def _settings(self, data: Dataset, *, double: bool, learnt: bool = False) -> dict[str, Any]:
        """Write the parameters as settings for :func:`anchored.runs.fit`."""
        # Rows of an array may be anything, so none is mirrored or shifted unless the user says so.
        base: dict[str, Any] = {"data": {"augment": ()}} if data.is_image else {}
        precision = ("64" if double else "32") if self.precision == "auto" else self.precision
        chosen: dict[str, Any] = {
            "method": {"name": self._method_name()},
            "backbone": {},
            "optimizer": {},
            "train": {
                "seed": _seed(self.random_state),
                "precision": precision,
                "device": "cpu" if precision == "64" and self.device == "auto" else self.device,
            },
        }
        if self.module is not None or learnt:
            chosen["backbone"]["name"] = runs.OWN_BACKBONE
        elif self.backbone != "auto":
            chosen["backbone"]["name"] = self.backbone
        for name, value in (("epochs", self.epochs), ("batch_size", self.batch_size)):
            if not (isinstance(value, str) and value == "auto"):
                chosen["train"][name] = check_integer(name, value, low=1, way_out="or pass 'auto'")
        if self.early_stopping is not True and self.early_stopping != "auto":
            patience = self.early_stopping or None
            if patience is not None:
                check_integer("early_stopping", patience, low=1, way_out="or pass 'auto' or False")
            chosen["train"]["early_stop"] = patience
        if self.noise_rate == "auto":
            chosen["method"]["noise_rate"] = "auto"
        else:
            chosen["look"] = None
        if self.noise_rate not in ("auto", None):
            chosen["method"]["noise_rate"] = check_real(
                "noise_rate", self.noise_rate, low=0, high=1, closed="left", way_out="or pass None or 'auto'"
            )
        if self.lr != "auto":
            chosen["optimizer"]["lr"] = check_real("lr", self.lr, low=0, closed="neither", way_out="or pass 'auto'")
        if self.settings is not None and not isinstance(self.settings, dict):
            raise InputError(f"settings must be a nested dictionary or None, got {type(self.settings).__name__}")
        return merge(merge(base, self.settings or {}), chosen)

    def _method_name(self) -> str:
        if isinstance(self.method, str) and self.method == "auto":
            return "auto" if self.class_weight is None else "ce+fnpal"
        return methods.parse(self.method).name

    def _with_class_weights(
        self, y: npt.NDArray[Any], codes: npt.NDArray[np.int64], weights: npt.NDArray[np.float64] | None
    ) -> npt.NDArray[np.float64] | None:
        """Multiply ``weights`` by the weight of each sample's class."""
        if self.class_weight is None:
            return weights
        each = np.ones(len(y)) if weights is None else weights
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            sizes = np.bincount(codes, weights=each)
            by_class = sizes.sum() / (len(sizes) * sizes)
        elif isinstance(self.class_weight, dict):
            by_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        else:
            raise InputError(
                f"class_weight must be None, 'balanced' or a dictionary by class, got {self.class_weight!r}"
            )
        if not (np.isfinite(by_class).all() and (by_class > 0).all()):
            worst = int(np.argmin(np.where(np.isfinite(by_class), by_class, -np.inf)))
            raise InputError(
                f"class_weight must be positive, got {by_class[worst]} for class {self.classes_.tolist()[worst]!r}; "
                f"leave its samples out instead"
            )
        product: npt.NDArray[np.float64] = each * by_class[codes]
        return product


def _flat(tree: dict[str, Any], name: str) -> dict[str, Any]:
    """Write a tree of settings as one level: ``{"settings__train__epochs": 5}``."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        flat |= _flat(value, f"{name}__{key}") if isinstance(value, dict) and value else {f"{name}__{key}": value}
    return flat


def _seed(random_state: object) -> int:
    """Return the seed: a whole number is the seed itself, as ``--seed``; anything else draws one."""
    source = check_random_state(random_state)
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(source.randint(2**31 - 1))


def _input_types(X: npt.ArrayLike) -> list[type]:
    """List the types that ``X`` may keep: bytes only for images, because they mean pixels."""
    return [np.uint8, np.float32] if getattr(X, "ndim", None) == 4 else [np.float64, np.float32]


def _check_layout(X: npt.NDArray[Any]) -> None:
    if X.ndim == 3:
        raise InputError(
            f"X must be (n, d) or images (n, c, h, w), got {X.shape}; pass X[:, None] for grey images, "
            f"X.reshape(len(X), -1) for vectors"
        )
    if X.ndim > 4:
        raise InputError(f"X must be (n, d) or images (n, c, h, w), got {X.shape}; reshape it")
    if X.ndim == 4 and X.shape[3] in _COLOURS and X.shape[1] not in _COLOURS:
        raise InputError(
            f"images must have their channels first, (n, c, h, w), got {X.shape}; pass X.transpose(0, 3, 1, 2)"
        )


def _sample_weights(sample_weight: npt.ArrayLike, n: int) -> npt.NDArray[np.float64]:
    given = [sample_weight] * n if np.isscalar(sample_weight) else sample_weight
    weights: npt.NDArray[np.float64] = check_array(given, dtype=np.float64, ensure_2d=False, input_name="sample_weight")
    if weights.shape != (n,):
        raise InputError(f"sample_weight must be ({n},), one weight per row of X, got {weights.shape}")
    if (weights < 0).any():
        raise InputError(f"sample_weight must not be negative, got {weights.min()} for row {int(weights.argmin())}")
    if not weights.any():
        raise InputError("every sample_weight is zero, so there is nothing to learn from; give some rows a weight")
    return weights


def _tensor(X: npt.NDArray[Any]) -> Tensor:
    """Make a tensor that shares the memory of ``X``; read-only memory is copied, because torch does not know it."""
    return torch.from_numpy(X if X.flags.writeable else X.copy())
