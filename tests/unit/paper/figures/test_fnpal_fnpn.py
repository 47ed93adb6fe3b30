"""Mirror of src/anchored/paper/figures/fnpal_fnpn.py: anchors do not move, trained prototypes do."""

import math

import pytest

from anchored.paper.figures.fnpal_fnpn import FIGURE, Numbers, draw
from anchored.paper.figures.scale import SCALES


def test_anchors_stay_at_the_angle_of_the_simplex_and_trained_ones_below_it(digits_runs):
    runs = digits_runs(FIGURE)
    numbers = FIGURE.read(runs)
    simplex = math.degrees(math.acos(-1 / 9))
    assert numbers.anchored_angle == pytest.approx(simplex, abs=1e-3)
    assert list(numbers.angles) == list(numbers.fnpn) == list(numbers.fnpal) == list(SCALES)
    for angles in numbers.angles.values():
        assert len(angles) == 2
        assert angles[0] != angles[1]
        assert max(angles) < simplex
    job = runs.job("ce+fnpn (s=5)", runs.jobs[0].cell)
    assert runs.folder(job).read_config().method.scale == 5
    assert numbers.fnpn[5.0] == runs.accuracies(job)


def test_both_heads_have_the_same_scales_and_data():
    jobs = FIGURE.jobs()
    for scale in SCALES:
        pair = [job.settings for job in jobs if job.settings["method"]["scale"] == scale]
        assert [each["method"]["name"] for each in pair] == ["ce+fnpal", "ce+fnpn"]
        assert pair[0]["data"] == pair[1]["data"]
        assert pair[0]["optimizer"] == pair[1]["optimizer"]


def test_anchored_curves_are_solid_and_trained_ones_dashed():
    curves = {s: [0.5, 0.6] for s in SCALES}
    picture = draw(Numbers(curves, curves, {s: [80.0, 70.0] for s in SCALES}, 96.38))
    accuracy, angle = picture.axes
    assert [line.get_linestyle() for line in accuracy.lines] == ["-", "--"] * 4
    assert [line.get_linestyle() for line in angle.lines] == ["--"] * 4 + ["-"]
    assert angle.lines[-1].get_ydata()[0] == 96.38
