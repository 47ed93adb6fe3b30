"""Mirror of src/anchored/report/charts/reliability.py: colours tell promise from fulfilment."""

import torch

from anchored import metrics
from anchored.report.charts import reliability_diagram


def table(confidence, right):
    probabilities = torch.tensor([[confidence, 1 - confidence]] * len(right), dtype=torch.float64)
    return metrics.reliability(probabilities, torch.tensor([0 if each else 1 for each in right]))


def filled(svg, variable):
    return svg.count(f"fill: var(--{variable})")


def test_too_sure_and_too_modest_are_told_apart():
    sure = reliability_diagram("r", [("Before", table(0.9, [True, False]))])
    modest = reliability_diagram("r", [("Before", table(0.6, [True, True]))])
    # one for the legend; the rest are gaps
    assert (filled(sure, "second"), filled(sure, "third")) == (2, 1)
    assert (filled(modest, "second"), filled(modest, "third")) == (1, 2)


def test_each_panel_says_how_far_off_it_is():
    svg = reliability_diagram("r", [("Before", table(0.9, [True, False])), ("After", table(0.6, [True, True]))])
    assert "Before: off by 40.0 points" in svg
    assert "After: off by 40.0 points" in svg
