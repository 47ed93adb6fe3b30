"""``AnchoredClassifier`` beside scikit-learn's own classifiers, on clean and on noisy training labels.

Five folds each; the labels of the training part are flipped at random, those of the test part are left alone. All
three are used with their defaults (the two others behind a ``StandardScaler``). The MLP's 200 iterations do not always
converge, which helps it here: with more it only memorises more. A second table has the time of a fit on all digits, in
seconds of the processor, and of the prediction of one row by the clock; the classifiers take turns. It also has one
network alone, of ``AnchoredClassifier("ce+fnpal", noise_rate=None)``: nothing is judged, chosen or compared.
"""

from __future__ import annotations

import statistics
import time
import warnings
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anchored import noise
from anchored._random import stream
from anchored.bench._measure import Result
from anchored.estimator import AnchoredClassifier

__all__ = ["run"]

_CASES = (
    ("digits", load_digits, 0.0),
    ("digits", load_digits, 0.4),
    ("breast cancer", load_breast_cancer, 0.0),
    ("breast cancer", load_breast_cancer, 0.2),
)


_NAMES = ("AnchoredClassifier", "logistic regression", "MLP")


def run() -> Result:
    """Measure the mean accuracy over five folds, in percent, and the time of a fit and of one prediction."""
    rows: list[tuple[str | float | None, ...]] = []
    with warnings.catch_warnings(category=ConvergenceWarning, action="ignore"):
        rows += [(name, eta, *_accuracies(load, eta)) for name, load, eta in _CASES]
        speed = _speed()
    return Result(
        title="Accuracy on clean test folds, %",
        columns=("data", "noise", *_NAMES),
        rows=tuple(rows),
        note="Symmetric noise in the training folds; five folds, one seed, default settings.",
        more=(speed,),
    )


def _speed(fits: int = 5, predictions: int = 200) -> Result:
    """Measure the medians of fits on digits and of predictions of one row; the first fit of each does not count."""
    X, y = load_digits(return_X_y=True)
    names = ("one network alone", *_NAMES)
    fit: list[list[float]] = [[] for _ in names]
    one: list[list[float]] = [[] for _ in names]
    for turn in range(fits + 1):
        for place, model in enumerate((_network(), *_models())):
            start = time.process_time()
            model.fit(X, y)
            if turn:
                fit[place].append(time.process_time() - start)
    for place, model in enumerate((_network(), *_models())):
        model.fit(X, y)
        for _ in range(predictions):
            start = time.perf_counter()
            model.predict(X[:1])
            one[place].append(1000 * (time.perf_counter() - start))
    fits_of, rows_of = ([statistics.median(each) for each in times] for times in (fit, one))
    shown = zip(names, fits_of, [seconds / fits_of[-1] for seconds in fits_of], rows_of, strict=True)
    columns = ("classifier", "fit on digits, s", "in units of the MLP", "one row predicted, ms")
    return Result(title="Speed", columns=columns, rows=tuple(shown))


def _network() -> AnchoredClassifier:
    return AnchoredClassifier("ce+fnpal", noise_rate=None, random_state=0)


def _models() -> tuple[Any, ...]:
    return (
        AnchoredClassifier(random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        make_pipeline(StandardScaler(), MLPClassifier(random_state=0)),
    )


def _accuracies(load: Any, eta: float) -> list[float]:  # noqa: ANN401 - scikit-learn has no types
    X, y = load(return_X_y=True)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    right: list[list[float]] = [[] for _ in _models()]
    for number, (train, test) in enumerate(folds):
        labels = torch.from_numpy(y[train].astype(np.int64))
        noisy = noise.symmetric(labels, eta, int(y.max()) + 1, generator=stream(0, "noise", number)).labels.numpy()
        for model, record in zip(_models(), right, strict=True):
            record.append(float(model.fit(X[train], noisy).score(X[test], y[test])))
    return [100 * float(np.mean(record)) for record in right]
