"""Mirror of src/anchored/paper/figures/reliability.py: the table of each run, and boxes as high as it says."""

import pytest
import torch

from anchored import metrics
from anchored.paper.figures.reliability import FIGURE, Diagram, draw
from anchored.paper.figures.style import styled


def test_each_panel_has_the_uncalibrated_error_of_its_run(digits_runs):
    runs = digits_runs(FIGURE, epochs=1)
    diagrams = FIGURE.read(runs)
    assert [(each.method, each.weight_decay) for each in diagrams[:2]] == [("ce", "0"), ("ce", "1e-3")]
    assert len(diagrams) == 12
    for each in diagrams:
        test = runs.result(runs.job(each.method, each.weight_decay))["test"]
        assert each.table.ece == pytest.approx(test["ece_uncalibrated"], abs=1e-6)
        assert each.accuracy == test["accuracy"]


def test_boxes_reach_from_accuracy_to_confidence():
    probabilities = torch.tensor([[0.9, 0.1]] * 4 + [[0.6, 0.4]] * 2)
    table = metrics.reliability(probabilities, torch.tensor([0, 0, 1, 1, 0, 0]))  # 1/2 at 0.9, all right at 0.6
    with styled():
        picture = draw([Diagram("ce", "0", 4 / 6, table)])
    right, too_sure, unsure = picture.axes[0].patches
    paths = [patch.get_path() for patch in (right, too_sure, unsure)]
    heights = [path.vertices[path.codes != path.CLOSEPOLY, 1] for path in paths]
    assert sorted(set(heights[0].round(4).tolist())) == pytest.approx([0, 0.5, 0.6])
    assert (heights[1].min(), heights[1].max()) == pytest.approx((0.5, 0.9))
    assert (heights[2].min(), heights[2].max()) == pytest.approx((0.6, 1.0))
    assert picture.axes[0].get_title(loc="left") == "weight decay 0\nacc. 66.7 %, ECE 40.0 %"
