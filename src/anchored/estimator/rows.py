"""The rows that estimators are given, as numbers: arrays as they are, tables by a fitted encoding.

Arrays of numbers go through unchanged. A sparse matrix is written out. Whatever holds categories, dates, texts or
missing cells (data frames of pandas, polars and pyarrow, object arrays, arrays with NaN) is encoded by a
:class:`~anchored.features.TableEncoder` that is fitted on the training rows and kept with the estimator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from anchored._errors import InputError
from anchored.data import MAX_DENSE_BYTES, NumberColumn, TableInputs, as_columns
from anchored.features import TableEncoder

__all__ = ["TakesTables"]

Array = npt.NDArray[Any]


class TakesTables:
    """Mixin of the one place in which an estimator checks and encodes its rows.

    Attributes:
        encoder_: The fitted encoding of the table; None if the rows were numbers without gaps.
    """

    encoder_: TableEncoder | None
    n_features_in_: int
    kinds: dict[str, str] | None

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn has no types
        """Say what the estimator takes: sparse matrices, missing cells and texts too."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = tags.input_tags.allow_nan = tags.input_tags.string = True
        return tags

    def _rows_to_fit(
        self,
        X: Any,  # noqa: ANN401 - whatever people have
        y: npt.ArrayLike,
        *,
        first: bool = True,
        types: Sequence[type] = (np.float64, np.float32),
        images: bool = False,
    ) -> tuple[Array, Array]:
        """Check training rows and labels, and encode the rows if they need it.

        Args:
            X: The rows.
            y: Their labels.
            first: Whether what was learnt of earlier rows is forgotten.
            types: Types that an array of numbers may keep.
            images: Whether arrays of four dimensions are taken.

        Returns:
            Rows ``(n, d)`` of finite numbers (or images), and labels ``(n,)``.
        """
        if not first:
            labels = _labels(y)
            rows = self._rows_to_predict(X, types=types, images=images)
            check_consistent_length(rows, labels)
            return rows, labels
        self.encoder_ = None
        _refuse_same_names(X)
        _refuse_missing_labels(y)
        if _is_table(X):
            validate_data(self, X, skip_check_array=True)
            labels = _labels(y)
            check_consistent_length(X, labels)
            return self._fit_encoder(X), labels
        rows, labels = validate_data(self, X, y, **_options(types, images=images))
        rows = _written_out(rows)
        if _has_gaps(rows):
            return self._fit_encoder(_checked_gaps(rows, getattr(self, "feature_names_in_", None))), labels
        self._means = rows.mean(axis=0, dtype=np.float64) if rows.ndim == 2 else None
        return rows, labels

    def _rows_to_predict(
        self,
        X: Any,  # noqa: ANN401
        *,
        types: Sequence[type] = (np.float64, np.float32),
        images: bool = False,
    ) -> Array:
        """Check rows to be predicted, and encode them as in training."""
        if type(X) is np.ndarray and X.ndim == 2 and self.encoder_ is None and not hasattr(self, "feature_names_in_"):
            # Nothing could be found or said about such rows, and one of them is predicted in half the time.
            plain = X.dtype in types and X.flags.c_contiguous and len(X) > 0 and X.shape[1] == self.n_features_in_
            if plain and np.isfinite(X.sum()):
                return X
        if self.encoder_ is not None:
            validate_data(self, X, skip_check_array=True, reset=False)
            return _encoded(self.encoder_, _columns(X, getattr(self, "feature_names_in_", None)))
        rows = _written_out(validate_data(self, X, reset=False, **_options(types, images=images)))
        if not _has_gaps(rows):
            return rows
        if self._means is None:
            raise InputError("images must not hold NaN; fill the gaps, or leave the images out")
        return np.where(np.isnan(rows), self._means.astype(rows.dtype), rows)  # as the encoding of a table fills a gap

    def _fit_encoder(self, X: Any) -> Array:  # noqa: ANN401
        if self.kinds is not None and not isinstance(self.kinds, dict):
            raise InputError(f"kinds must be a dictionary by column or None, got {type(self.kinds).__name__}")
        table = _columns(X, getattr(self, "feature_names_in_", None))
        self.encoder_ = TableEncoder(kinds=self.kinds).fit(table)
        return _encoded(self.encoder_, table)


def _options(types: Sequence[type], *, images: bool) -> dict[str, Any]:
    order = "C" if images else None
    return {
        "dtype": list(types),
        "order": order,
        "allow_nd": images,
        "accept_sparse": "csr",
        "ensure_all_finite": "allow-nan",
    }


def _is_table(X: Any) -> bool:  # noqa: ANN401
    """Whether rows hold something else than numbers, so that scikit-learn could not read them as an array."""
    if isinstance(X, TableInputs):
        return True
    if hasattr(X, "iloc") and hasattr(X, "dtypes"):
        return any(getattr(dtype, "kind", "O") not in "biuf" or str(dtype) == "category" for dtype in X.dtypes)
    package = type(X).__module__.split(".")[0]
    if package in ("polars", "pyarrow") and hasattr(X, "columns"):
        return not all(isinstance(column, NumberColumn) for column in as_columns(X).columns.values())
    if not isinstance(X, np.ndarray | list | tuple):
        return False
    try:
        array = np.asarray(X)
    except ValueError:
        return False  # ragged: refused by scikit-learn
    if array.ndim != 2 or array.dtype.kind not in "OUSM":
        return False
    if array.dtype.kind == "M":
        return True
    try:
        array.astype(np.float64)
    except (TypeError, ValueError):
        return not any(isinstance(cell, complex) for cell in array[:1].ravel())
    return False


def _columns(X: Any, names: Sequence[str] | None) -> TableInputs:  # noqa: ANN401
    if hasattr(X, "__array__") and not hasattr(X, "columns"):
        return as_columns(X, source="X", names=names)
    return as_columns(X, source="X", names=names if isinstance(X, list | tuple) else None)


def _encoded(encoder: TableEncoder, table: TableInputs) -> Array:
    rows: Array = encoder.transform(table).numpy()
    return rows


def _refuse_same_names(X: Any) -> None:  # noqa: ANN401
    names: Any = getattr(X, "column_names", None) or getattr(X, "columns", ())  # of pyarrow, else of pandas and polars
    if hasattr(X, "shape") and len(set(names)) < len(names):
        as_columns(X, source="X")  # refuses them by name


def _refuse_missing_labels(y: Any) -> None:  # noqa: ANN401
    """Refuse a series of pandas or polars with gaps, of which scikit-learn would say something else for each type."""
    find = getattr(y, "isna", None) or getattr(y, "is_null", None)
    if find is None or getattr(y, "ndim", 1) != 1:
        return
    gone = np.flatnonzero(np.asarray(find(), dtype=bool))
    if len(gone):
        rows = ", ".join(map(str, gone[:5])) + (", …" if len(gone) > 5 else "")
        raise InputError(f"y: the label is missing (NaN) in {len(gone)} of {len(y)} rows (row {rows}); drop these rows")


def _labels(y: npt.ArrayLike) -> Array:
    if y is None:
        raise ValueError("this estimator requires y to be passed, but the target y is None")
    labels: Array = column_or_1d(y, warn=True)
    check_array(labels, ensure_2d=False, dtype=None, input_name="y")
    return labels


def _written_out(rows: Any) -> Array:  # noqa: ANN401
    """Return a sparse matrix as an array, if it is not too large for that."""
    if isinstance(rows, np.ndarray):
        return rows
    n, d = rows.shape
    if 8 * n * d > MAX_DENSE_BYTES:
        raise InputError(
            f"a sparse matrix is written out, to at most {MAX_DENSE_BYTES // 2**30} GiB, got {n:,} x {d:,}; reduce it "
            "first, e.g. with sklearn.decomposition.TruncatedSVD"
        )
    dense: Array = rows.toarray()
    return dense


def _has_gaps(rows: Array) -> bool:
    if rows.dtype.kind != "f" or not np.isnan(rows.sum()):
        return False
    return bool(np.isnan(rows).any())


def _checked_gaps(rows: Array, names: Sequence[str] | None) -> TableInputs:
    if rows.ndim != 2:
        raise InputError("images must not hold NaN; fill the gaps, or leave the images out")
    return as_columns(rows, source="X", names=names)
