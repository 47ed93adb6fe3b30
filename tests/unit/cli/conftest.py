"""One small finished run on a table, shared by the tests of the commands that need a model."""

import numpy as np
import pytest

from anchored.data import open_source
from anchored.runs import RunFolder, fit


def write_table(path, *, n=200, d=8, seed=0, label="kind", names=("ä <b>", "no", "yes")):
    """A table of separable blobs."""
    rng = np.random.default_rng(seed)
    y = rng.integers(len(names), size=n)
    x = rng.normal(size=(n, d)) + 3 * np.eye(d)[y]
    heading = ",".join([*(f"f{i}" for i in range(d)), label])
    rows = [",".join([*(f"{v:.4f}" for v in row), names[c]]) for row, c in zip(x, y, strict=True)]
    path.write_text("\n".join([heading, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def table_run(tmp_path_factory):
    """A finished run on a table with the label column ``kind``."""
    folder = tmp_path_factory.mktemp("table")
    table = write_table(folder / "train.csv")
    settings = {
        "data": {"source": str(table), "label": "kind"},
        "method": {"name": "ce+fnpal"},
        "train": {"epochs": 4, "device": "cpu"},
    }
    fit(open_source(table, label="kind"), settings, folder=folder / "run")
    return RunFolder.open(folder / "run")
