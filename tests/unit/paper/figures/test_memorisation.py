"""Mirror of src/anchored/paper/figures/memorisation.py: which curve is whose, and where it was at its best."""

import pytest

from anchored.paper import TABLES
from anchored.paper.figures.memorisation import FIGURE, PANELS, draw
from anchored.paper.figures.style import styled


def test_every_curve_is_the_history_of_its_run(digits_runs):
    runs = digits_runs(FIGURE)
    numbers = FIGURE.read(runs)
    assert list(numbers) == list(PANELS)
    assert [list(curves) for curves in numbers.values()] == [
        ["CE", "GCE", "SCE", "NCE+RCE"],
        ["CE", "GCE", "SCE", "NCE+RCE", "NSL"],
        ["CE", "GCE", "SCE", "NCE+RCE"],
    ]
    curves = [curve for panel in numbers.values() for curve in panel.values()]
    for job, curve in zip(runs.jobs, curves, strict=True):
        assert curve == [line["test_accuracy"] for line in runs.folder(job).read_lines("history.jsonl")]


def test_the_runs_are_those_of_the_table():
    assert {job.key for job in FIGURE.jobs()} < {job.key for job in TABLES["noise_symmetric"].jobs(seeds=[0])}
    assert {job.cell for job in FIGURE.jobs()} == {"mnist/0.8"}


def test_a_dot_stands_at_the_best_epoch_and_a_name_at_the_end():
    with styled():
        picture = draw({"one": {"CE": [0.5, 0.9, 0.2]}, "two": {"GCE": [0.1, 0.2, 0.3], "NSL": [0.6, 0.5, 0.4]}})
    first, second = picture.axes
    curve, dot = first.lines
    assert curve.get_ydata() == pytest.approx([50, 90, 20])
    assert (dot.get_xdata()[0], dot.get_ydata()[0]) == (2, pytest.approx(90))
    assert {text.get_text() for text in second.texts} == {"GCE", "NSL"}
    assert first.get_title(loc="left") == "one"


def test_no_curve_leaves_the_panels():
    with styled():
        picture = draw({"low": {"CE": [0.2, 0.3]}, "high": {"CE": [0.9, 0.95]}})
    low, high = picture.axes[0].get_ylim()
    assert low < 20
    assert high > 95
