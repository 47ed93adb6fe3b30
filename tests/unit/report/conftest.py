"""Small runs that all tests of the report share: corrupted labels, hostile names, labels that are in doubt."""

import csv
import json
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from anchored.data import load_digits, open_source
from anchored.report import gather
from anchored.runs import RunFolder, fit
from anchored.runs import fit as run_fit

HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "日本 $x^2$ & co")
COLUMNS = ("<b>a</b>", "b'\"", "c", "d")


def write_hostile_table(path, n=240):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    x = rng.normal(size=(n, 4)) + 3 * np.eye(4)[y]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*COLUMNS, "kind"])
        writer.writerows([*(f"{v:.4f}" for v in row), HOSTILE[c]] for row, c in zip(x, y, strict=True))
    return path


def write_audit(folder, data, *, suspects=30):
    """An audit as ``anchored audit`` leaves it: each sample is said to belong to the next class."""
    folder.mkdir(exist_ok=True)
    names, k = list(data.class_names), data.k
    matrix = [[0.7 if i == j else 0.3 / (k - 1) for j in range(k)] for i in range(k)]
    found = {
        "noise_rate": 0.3,
        "interval": [0.27, 0.33],
        "transition": matrix,
        "class_names": names,
        "samples": len(data),
        "expected_errors": 0.3 * len(data),
        "classes": [{"name": n, "count": int(c), "noise_rate": 0.3} for n, c in zip(names, data.counts, strict=True)],
        "pairs": [{"given": names[0], "suggested": names[1], "count": 12, "share": 0.2}],
        "duplicates": [{"indices": [1, 2], "ids": ["1", "2"], "labels": names[:2], "distance": 0.0}],
    }
    (folder / "audit.json").write_text(json.dumps(found), encoding="utf-8")
    columns = "rank,index,id,given,suggested,probability_wrong,margin,given_probability,suggested_probability,group"
    with (folder / "suspects.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns.split(","))
        for i in range(suspects):
            given = int(data.labels[i])
            suggested = names[(given + 1) % k]
            name = data.ids[i].removeprefix("row ")
            writer.writerow([i + 1, i, name, names[given], suggested, 0.99 - i / 100, -0.2, 0.01, 0.9, "many"])


class Page(HTMLParser):
    """The tags of a page, its attributes and its text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attributes]

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="session")
def parse():
    return Page


@pytest.fixture(scope="session")
def audit_writer():
    return write_audit


@pytest.fixture(scope="session")
def hostile_table(tmp_path_factory):
    return write_hostile_table(tmp_path_factory.mktemp("hostile") / "<i>table.csv")


@pytest.fixture(scope="session")
def hostile_run(hostile_table):
    """A run on a table whose classes, columns and file name are markup; audited."""
    path = hostile_table.parent / "run"
    settings = {
        "data": {"source": str(hostile_table), "label": "kind"},
        "method": {"name": "ce+fnpal"},
        "train": {"epochs": 2, "device": "cpu"},
        "look": None,
    }
    split = open_source(hostile_table, label="kind")
    fit(split, settings, folder=path)
    write_audit(path / "audit", split.train)
    return RunFolder.open(path)


@pytest.fixture(scope="session")
def digits_run(tmp_path_factory):
    """A run on digits with 30 % corrupted labels; not audited."""
    path = tmp_path_factory.mktemp("runs") / "digits"
    settings = {
        "data": {"source": "digits", "corrupt": ["symmetric=0.3"]},
        "method": {"name": "ce+fnpal"},
        "train": {"epochs": 3, "device": "cpu"},
    }
    fit(load_digits(), settings, folder=path)
    return RunFolder.open(path)


@pytest.fixture(scope="session")
def doubted_run(tmp_path_factory):
    """A run on blobs with a third of the labels wrong, nobody knows which; auto looked at them before training."""
    folder = tmp_path_factory.mktemp("doubted")
    rng = np.random.default_rng(0)
    y = np.arange(600) % 3
    x = rng.normal(size=(600, 4)) + 4 * np.eye(4)[y]
    given = np.where(rng.random(600) < 1 / 3, (y + rng.integers(1, 3, size=600)) % 3, y)
    np.savez(folder / "blobs.npz", X=x.astype(np.float32), y=given)
    settings = {"data": {"source": str(folder / "blobs.npz")}, "train": {"epochs": 8, "device": "cpu"}}
    run_fit(open_source(folder / "blobs.npz"), settings, folder=folder / "run")
    return RunFolder.open(folder / "run")


@pytest.fixture(scope="session")
def doubted(doubted_run):
    """What is known about the run whose held-out labels are in doubt."""
    return gather(doubted_run.path)


@pytest.fixture(scope="session")
def digits(digits_run):
    """What is known about the run on digits."""
    return gather(digits_run.path)


@pytest.fixture(scope="session")
def hostile(hostile_run):
    """What is known about the run on the hostile table."""
    return gather(hostile_run.path)


@pytest.fixture
def changed():
    """``changed(evidence, **parts)`` is the same evidence with other parts; ``result`` is laid over the old one."""

    def change(evidence, *, result=None, **parts):
        return replace(evidence, result={**evidence.result, **(result or {})}, **parts)

    return change
