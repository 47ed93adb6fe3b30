"""Mirror of src/anchored/paper/figures/scale.py: which curve is whose."""

import pytest

from anchored.paper.figures.scale import FIGURE, SCALES, Numbers, draw
from anchored.paper.figures.style import styled


def test_every_curve_is_the_history_of_its_run(digits_runs):
    runs = digits_runs(FIGURE)
    numbers = FIGURE.read(runs)
    assert list(numbers.ce) == list(numbers.fnpal) == [0.6, 0.8]
    for job in runs.jobs:
        config = runs.folder(job).read_config()
        eta = config.method.noise_rate
        curve = numbers.ce[eta] if job.row == "ce" else numbers.fnpal[eta][config.method.scale]
        assert curve == [line["test_accuracy"] for line in runs.folder(job).read_lines("history.jsonl")]


def test_panels_show_the_numbers_in_percent_with_a_name_at_each_end():
    curves = {s: [0.1, 0.2 + 0.1 * i] for i, s in enumerate(SCALES)}
    with styled():
        picture = draw(Numbers(ce={0.6: [0.5, 0.4], 0.8: [0.3, 0.2]}, fnpal={0.6: curves, 0.8: curves}))
    first, second = picture.axes
    assert [line.get_ydata()[-1] for line in first.lines] == pytest.approx([20, 30, 40, 50, 40])
    assert {text.get_text() for text in second.texts} == {"CE", "s = 0.2", "s = 1", "s = 5", "s = 20"}
    assert second.get_title(loc="left") == "symmetric noise, η = 0.8"
