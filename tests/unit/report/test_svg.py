"""Mirror of src/anchored/report/_svg.py: text is text, colours are the page's, and nothing global is left changed."""

import re
import sys
import xml.etree.ElementTree as ElementTree

import matplotlib as mpl
import pytest

from anchored import InputError
from anchored.report._svg import COLOURS, FIRST, INK, drawing


def draw(name, labels):
    with drawing(name, 3, 2) as picture:
        (axes,) = picture.axes()
        axes.bar(range(len(labels)), range(1, len(labels) + 1), color=FIRST)
        axes.set_xticks(range(len(labels)), labels)
        axes.plot([0, 1], [0, 1], "o", color=INK)
    return picture.svg


def test_labels_are_escaped_and_never_a_formula():
    svg = draw("a", ["</text><script>alert(1)</script>", "$\\frac{1}{0}$", "a & b", "-->"])
    root = ElementTree.fromstring(svg)
    assert [each for each in root.iter() if each.tag.endswith("script")] == []
    texts = {each.text for each in root.iter() if each.tag.endswith("text")}
    assert {"</text><script>alert(1)</script>", "$\\frac{1}{0}$", "a & b", "-->"} <= texts


def test_names_that_look_like_numbers_or_colours_stay_as_they_are():
    svg = draw("numbers", ["3.14159265", "#010101", 'g id="x"', "xlink:href"])
    assert {"3.14159265", "#010101", 'g id="x"', "xlink:href"} <= {
        each.text for each in ElementTree.fromstring(svg).iter() if each.tag.endswith("text")
    }


def test_every_stand_in_becomes_a_variable_and_no_other_colour_is_left():
    svg = draw("b", ["x"])
    assert not any(colour in svg for colour in COLOURS)
    assert set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", svg)) == set()


def test_two_pictures_on_a_page_share_no_id():
    first, second = (set(re.findall(r'\bid="([^"]+)"', draw(name, ["x"]))) for name in ("one", "two"))
    assert first
    assert not first & second


def test_the_same_picture_is_the_same_text():
    assert draw("same", ["x", "y"]) == draw("same", ["x", "y"])


def test_letters_that_the_font_lacks_are_no_warning():
    assert "日本" in draw("glyphs", ["日本"])


def test_matplotlib_is_left_as_it_was():
    before = dict(mpl.rcParams)
    draw("c", ["x"])
    assert dict(mpl.rcParams) == before


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'anchored\[app\]'"), drawing("nothing"):
        pass
