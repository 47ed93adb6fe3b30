"""Mirror of src/anchored/paper/figures/angles.py: an angle per epoch, also of a run that was broken."""

import pytest

from anchored import metrics
from anchored._errors import InputError
from anchored.data import load_digits
from anchored.paper.figures.angles import AngleWatch, read_angles
from anchored.runs import RunFolder, TrainedModel, fit
from anchored.training import Progress

SETTINGS = {
    "data": {"hold_out": 0.0, "corrupt": ["longtail=1:30"]},
    "method": {"name": "norm"},
    "backbone": {"name": "mlp", "options": {"hidden": [8]}},
    "train": {"epochs": 3},
}


class Broken(Exception):
    pass


class Breaks(Progress):
    """Ends the process, as it were, at the report of an epoch."""

    def __init__(self, at):
        self.at = at

    def epoch(self, record, **_):
        if record["epoch"] == self.at:
            raise Broken


def watched(path, inner=None):
    run = RunFolder(path)
    fit(
        load_digits(),
        SETTINGS,
        folder=run if run.started else path,
        progress=AngleWatch(inner or Progress(), run),
    )
    return run


def test_the_last_angle_is_that_of_the_trained_model(tmp_path):
    run = watched(tmp_path / "run")
    angles = read_angles(run, epochs=3)
    rows = TrainedModel.load(run.path).classifier.rows()
    assert angles[-1] == pytest.approx(metrics.minimal_angle(rows), abs=1e-4)
    assert len(set(angles)) == 3


def test_a_run_broken_before_its_report_ends_with_the_same_angles(tmp_path):
    with pytest.raises(Broken):
        watched(tmp_path / "broken", Breaks(at=2))
    assert len(RunFolder(tmp_path / "broken").read_lines("angles.jsonl")) == 1
    broken = watched(tmp_path / "broken")
    assert read_angles(broken, epochs=3) == read_angles(watched(tmp_path / "straight"), epochs=3)


def test_everything_is_passed_on(tmp_path):
    heard = []

    class Hears(Progress):
        def start(self, **_):
            heard.append("start")

        def step(self, **_):
            heard.append("step")

        def epoch(self, record, **_):
            heard.append("epoch")

        def say(self, line):
            heard.append(line)

        def stop(self):
            heard.append("stop")

    watch = AngleWatch(Hears(), RunFolder(tmp_path))
    watch.start(epochs=1, epoch=0, batches=1, samples=1)
    watch.step(batch=1, samples=1, loss=0.0)
    watch.epoch({"epoch": 1}, seconds=1.0, samples=1)
    watch.say("a line")
    watch.stop()
    assert heard == ["start", "step", "epoch", "a line", "stop"]
    assert not (tmp_path / "angles.jsonl").exists()


def test_refuses_a_run_whose_angles_were_not_kept(tmp_path):
    fit(load_digits(), SETTINGS, folder=tmp_path / "run")
    with pytest.raises(InputError, match=r"has kept the angles of 0 of its 3 epochs.*remove the folder"):
        read_angles(RunFolder(tmp_path / "run"), epochs=3)
