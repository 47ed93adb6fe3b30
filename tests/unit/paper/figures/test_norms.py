"""Mirror of src/anchored/paper/figures/norms.py: lengths of what the runs have learnt."""

import pytest
import torch

from anchored.paper.figures.norms import FIGURE, Numbers, draw
from anchored.runs import TrainedModel


def test_lengths_are_those_of_the_trained_rows_and_test_features(digits_runs):
    runs = digits_runs(FIGURE)
    numbers = FIGURE.read(runs)
    assert list(numbers.prototypes) == list(numbers.features) == ["0", "1e-3", "1e-2", "3e-2"]
    for job in runs.jobs:
        weight = TrainedModel.load(runs.folder(job).path).classifier.head.weight
        by_hand = [sum(value**2 for value in row) ** 0.5 for row in weight.tolist()]
        assert numbers.prototypes[job.cell].tolist() == pytest.approx(by_hand, rel=1e-5)
        assert numbers.features[job.cell].shape == (360,)


def test_the_histograms_are_densities():
    generator = torch.Generator().manual_seed(0)
    lengths = {"0": 5 + torch.rand(500, generator=generator), "1e-3": torch.rand(500, generator=generator)}
    picture = draw(Numbers({name: torch.rand(10, generator=generator) for name in lengths}, lengths))
    left, right = picture.axes
    assert len(left.lines) == 2
    for outline in right.patches[::2]:
        values, edges, _ = outline.get_data()
        assert float((values * (edges[1:] - edges[:-1])).sum()) == pytest.approx(1.0)
