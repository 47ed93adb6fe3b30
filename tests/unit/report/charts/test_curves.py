"""Mirror of src/anchored/report/charts/curves.py: epochs without a value are left out, not drawn as zero."""

import re

from anchored.report.charts import Line, curves


def points(svg, variable):
    """The corners of the longest line of a colour."""
    paths = re.findall(rf'<path d="(M [^"]*)"[^>]*fill: none; stroke: var\(--{variable}\)', svg)
    return max((re.findall(r"[ML] ([\d.]+) ([\d.]+)", path) for path in paths), key=len)


def test_a_line_has_a_corner_for_every_known_value():
    line = Line("test", [1, 2, 3, 4], [0.1, None, 0.9, 0.2])
    corners = points(curves("c", [("Right", [line])], percent=[True]), "first")
    assert len(corners) == 3
    heights = [float(y) for _, y in corners]
    assert heights[1] < heights[2] < heights[0]  # SVG counts downwards


def test_one_epoch_is_a_dot():
    svg = curves("c", [("Loss", [Line("training", [1], [2.0])])], percent=[False])
    assert "<use " in svg


def test_marks_and_unknown_lines_are_drawn_too():
    lines = [Line("training", [1, 2], [2.0, 1.0]), Line("something else", [1, 2], [1.0, 2.0])]
    svg = curves("c", [("Loss", lines)], percent=[False], marks=[(2, "stage 2")])
    assert "stage 2" in svg
    assert "something else" in svg
    assert "var(--third)" in svg
