"""Mirror of src/anchored/report/charts/spread.py: medians as numbers, and histograms of anything."""

import torch

from anchored.report.charts import histogram, spreads


def test_the_median_of_every_class_stands_beside_it():
    values = [torch.tensor([0.1, 0.2, 0.9]), torch.tensor([-0.25])]
    svg = spreads("s", ["one", "<two>"], values, label="margin")
    assert ">0.20<" in svg
    assert ">-0.25<" in svg
    assert "&lt;two&gt;" in svg


def test_histograms_of_equal_values_or_of_one_kind_only():
    for right, wrong in ((torch.ones(5), torch.empty(0)), (torch.empty(0), torch.tensor([1.0, 2.0]))):
        svg = histogram("h", right, wrong, label="angle", mark=1.5, mark_text="here")
        assert "mistaken" in svg
        assert "here" in svg
