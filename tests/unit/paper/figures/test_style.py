"""Mirror of src/anchored/paper/figures/style.py: the same bytes twice, names that do not overlap, refusals."""

from itertools import pairwise

import matplotlib as mpl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from anchored._errors import InputError
from anchored.paper.figures.style import CLASSES, apart, check_out, end_labels, ramp, save, styled, subplots


def picture_of_a_line():
    with styled():
        picture, (axes,) = subplots(1, 1, size=(3, 2))
        axes.plot([0, 1], [0, 1], label="one")
        axes.scatter([0.5], [0.5], rasterized=True)
    return picture


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_the_same_picture_gives_the_same_bytes_without_a_date(tmp_path, kind):
    files = []
    for name in ("first", "second"):
        with styled():
            files.append(save(picture_of_a_line(), tmp_path / f"{name}.{kind}", caption="A line.").read_bytes())
    assert files[0] == files[1]
    assert b"Date>" not in files[0]


def test_a_long_caption_is_broken_into_lines(tmp_path):
    picture = picture_of_a_line()
    save(picture, tmp_path / "line.svg", caption="word " * 40)
    lines = picture.get_supxlabel().split("\n")
    assert len(lines) > 3
    assert max(map(len, lines)) <= 51


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=8), st.floats(0.5, 10))
def test_names_are_moved_apart_in_their_order_and_around_their_middle(heights, least):
    heights = sorted(heights)
    places = apart(heights, least)
    assert all(b - a >= least - 1e-9 for a, b in pairwise(places))
    assert sum(places) == pytest.approx(sum(heights), abs=1e-6)
    if all(b - a >= least + 1e-6 for a, b in pairwise(heights)):
        assert places == pytest.approx(heights)


def test_names_stand_at_the_ends_of_their_lines():
    _, (axes,) = subplots(1, 1, size=(3, 2))
    axes.set_ylim(0, 16)
    end_labels(axes, [(8.0, "far", "red"), (2.0, "a", "blue"), (2.0, "b", "green")])
    assert [(text.get_text(), text.xy[1]) for text in axes.texts] == [("a", 1.5), ("b", 2.5), ("far", 8.0)]


@pytest.mark.parametrize("n", [1, 2, 4, 7])
def test_the_ramp_is_ordered_in_grey_too_and_never_too_light_for_paper(n):
    grey = [0.299 * r + 0.587 * g + 0.114 * b for r, g, b in map(to_rgb, ramp(n))]
    assert grey == sorted(grey)
    assert len(set(grey)) == n
    assert max(grey) < 0.75


def test_there_is_a_colour_for_each_of_ten_classes():
    assert len(set(CLASSES)) == 10


def test_the_users_own_style_comes_back():
    before = mpl.rcParams["font.size"]
    with styled():
        assert mpl.rcParams["font.size"] != before
    assert mpl.rcParams["font.size"] == before


def test_refuses_a_place_where_no_picture_can_be(tmp_path):
    with pytest.raises(InputError, match=r"must end in \.svg, \.png, \.pdf, got 'scale\.gif'"):
        check_out(tmp_path / "scale.gif")
    with pytest.raises(InputError, match="does not exist; create it first"):
        check_out(tmp_path / "no" / "scale.svg")
    assert check_out(tmp_path / "SCALE.SVG").name == "SCALE.SVG"
