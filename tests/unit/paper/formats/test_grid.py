"""Mirror of src/anchored/paper/formats/_grid.py: ours, paper, difference, and blanks."""

from tests.unit.paper.tiny import TINY, record

from anchored.paper import compare
from anchored.paper.formats._grid import GridLine, grid


def test_a_method_has_up_to_three_lines():
    records = [record(seed=0, accuracy=0.80), record(seed=1, accuracy=0.82)]
    assert grid(compare(TINY, records))[:3] == [
        GridLine("CE", "ours", ("81.00 ± 1.41", "")),
        GridLine("", "paper", ("90.00 ± 1.00", "50.00")),
        GridLine("", "difference", ("−9.00*", "")),
    ]


def test_a_difference_inside_the_uncertainty_has_no_star():
    lines = grid(compare(TINY, [record(accuracy=0.905)]))
    assert lines[2].cells == ("+0.50", "")


def test_lines_without_a_number_are_not_printed():
    kinds = [(line.method, line.kind) for line in grid(compare(TINY, [record(row="ce+fnpal (aligned)")]))]
    assert kinds == [("CE", "paper"), ("CE+FNPAL", "paper"), ("CE+FNPAL (aligned)", "ours")]
