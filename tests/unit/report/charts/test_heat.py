"""Mirror of src/anchored/report/charts/heat.py: one cell per value, stronger for more."""

import re

from anchored.report.charts import heat


def cells(svg, variable):
    """The opacities of the cells of a colour."""
    return [float(x) for x in re.findall(rf"fill: var\(--{variable}\); opacity: ([\d.]+)", svg)]


def draw(table, names):
    return heat("h", table, names, row="true", column="said", text=lambda value: f"n{value:g}")


def test_right_and_wrong_have_colours_of_their_own_and_zero_has_none():
    svg = draw([[8, 2], [0, 5]], ["a", "b"])
    assert len(cells(svg, "first")) == 2
    assert len(cells(svg, "second")) == 1
    assert re.findall(r">(n\d)<", svg) == ["n8", "n2", "n5"]


def test_a_larger_share_of_its_row_is_stronger():
    svg = draw([[8, 2, 0], [1, 1, 8], [0, 0, 7]], ["a", "b", "c"])
    right, wrong = cells(svg, "first"), cells(svg, "second")
    assert right[2] > right[0] > right[1]
    assert wrong[2] > wrong[0] > wrong[1]


def test_a_row_without_samples_is_empty():
    assert cells(draw([[0, 0], [0, 3]], ["a", "b"]), "second") == []


def test_twenty_five_classes_with_long_names_fit_the_page():
    names = [f"a class with a long name {i}" for i in range(25)]
    svg = draw([[int(i == j) + 1 for j in range(25)] for i in range(25)], names)
    assert float(re.search(r"width: (\d+)px", svg)[1]) <= 864
    assert svg.count("a class with a lo…") == 50
