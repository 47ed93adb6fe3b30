"""Mirror of src/anchored/paper/figures/mnist_features.py: areas by asking the head, anchors on a decagon."""

import pytest
import torch

from anchored import LinearHead, metrics
from anchored.paper.figures.mnist_features import FIGURE, answers, draw


def test_areas_are_the_answers_place_by_place():
    head = LinearHead(2, 4, generator=torch.Generator().manual_seed(3))
    areas = answers(head, reach=5.0, grid=7)
    for row in range(7):
        for column in range(7):
            x, y = (-5 + (column + 0.5) * 10 / 7), (-5 + (row + 0.5) * 10 / 7)
            assert areas[row, column] == head(torch.tensor([[x, y]])).argmax()
    assert len(areas.unique()) > 2


def test_the_panels_are_balanced_longtailed_normalised_and_anchored(digits_runs):
    runs = digits_runs(FIGURE)
    panels = FIGURE.read(runs)
    assert [panel.title[:3] for panel in panels] == ["(a)", "(b)", "(c)", "(d)"]
    counts = [runs.result(job)["class_counts"] for job in runs.jobs]
    assert counts[0] == [30] * 10
    assert counts[1] == counts[2] == counts[3]
    assert (counts[1][0], counts[1][9]) == (60, 6)
    normalised, anchored = panels[2:]
    assert metrics.norms(normalised.rows).tolist() == pytest.approx([30.0] * 10, rel=1e-5)
    assert metrics.minimal_angle(anchored.rows) == pytest.approx(36.0, abs=0.1)
    for panel, job in zip(panels, runs.jobs, strict=True):
        assert panel.accuracy == runs.result(job)["test"]["accuracy"]
        assert panel.labels.bincount().tolist() == [30] * 10
    picture = draw(panels)
    assert [text.get_text() for text in picture.axes[0].texts] == [str(digit) for digit in range(10)]


def test_only_the_first_full_run_is_balanced():
    corrupt = [job.settings["data"]["corrupt"] for job in FIGURE.jobs()]
    assert corrupt == [[], ["longtail=10"], ["longtail=10"], ["longtail=10"]]
    assert {job.epochs for job in FIGURE.jobs()} == {50}
