"""Mirror of src/anchored/report/charts/bars.py: as long as the value, in parts that add up."""

import re

from anchored.report.charts import Bar, bars


def corners(svg, variable):
    """Left and right ends of the rectangles of a colour."""
    ends = []
    for path in re.findall(rf'<path d="([^"]*)"[^>]*fill: var\(--{variable}\)', svg):
        xs = [float(x) for x in re.findall(r"[ML] ([\d.]+) ", path)]
        ends.append(max(xs) - min(xs))
    return ends


def test_a_bar_is_as_long_as_its_value():
    first, second = corners(bars("b", [Bar("a", 10.0), Bar("b", 5.0)], label="x", limit=10), "first")
    assert abs(first / second - 2) < 0.02


def test_a_part_takes_its_share_from_the_end():
    svg = bars("b", [Bar("a", 10.0, part=2.5)], label="x", limit=10)
    (whole,), (part,) = corners(svg, "first"), [width for width in corners(svg, "second") if width > 0]
    assert abs(whole / part - 3) < 0.05


def test_nothing_known_is_no_bar_but_a_line_with_its_name():
    svg = bars("b", [Bar("nobody", None, text="–"), Bar("b", 1.0)], label="x", mark=0.5, mark_text="middle")
    assert "nobody" in svg
    assert "middle" in svg
    assert len(corners(svg, "first")) == 1


def test_only_zeros_can_be_drawn():
    assert "none of it" in bars("b", [Bar("none of it", 0.0, (0.0, 0.0))], label="x")
