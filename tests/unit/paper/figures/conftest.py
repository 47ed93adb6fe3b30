"""The quick runs of a figure, on scikit-learn's digits and two epochs long."""

from dataclasses import replace

import pytest

from anchored.paper import Placement, Store
from anchored.paper.figures.runs import train
from anchored.training import Progress, merge

_SMALLER = {
    "longtail=1:500": "longtail=1:30",
    "longtail=1:1000": "longtail=1:30",
    "longtail=10:1000": "longtail=10:60",
    "longtail=100:1000": "longtail=100:100",
}


def on_digits(job, epochs=2):
    data = {
        "source": "digits",
        "normalize": "fit",
        "corrupt": [_SMALLER.get(each, each) for each in job.settings["data"]["corrupt"]],
    }
    hidden = [16, *job.settings["backbone"]["options"]["hidden"][2:]]
    changes = {"data": data, "backbone": {"options": {"hidden": hidden}}, "train": {"epochs": epochs}}
    return replace(job, settings=merge(job.settings, changes))


@pytest.fixture
def digits_runs(tmp_path):
    """Finished runs of a figure's quick version."""

    def run(figure, epochs=2):
        jobs = [on_digits(job, epochs) for job in figure.jobs(quick=True)]
        place = Placement(str(tmp_path / "store"), device="cpu")
        return train(jobs, place, progress=Progress(), watch=figure.watch)

    return run


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "store")
    store.make()
    return store
