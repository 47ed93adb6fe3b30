"""Mirror of src/anchored/review/assets.py: the files are there, name each other, and cannot turn text into elements."""

import re

import pytest

from anchored.review.assets import KINDS, PAGE, SCRIPTS, STYLE, read_asset


def test_the_page_loads_exactly_its_own_files():
    page = read_asset(PAGE)
    assert re.findall(r'<script src="([^"]*)"', page) == list(SCRIPTS)
    assert set(re.findall(r'(?:src|href)="([^"]*)"', page)) == set(KINDS) - {PAGE}


@pytest.mark.parametrize("name", sorted(KINDS))
def test_nothing_comes_from_elsewhere(name):
    assert set(re.findall(r"https?://[^\s\"']+", read_asset(name))) <= {"http://www.w3.org/2000/svg"}


def test_the_page_has_no_inline_script_or_style():
    page = read_asset(PAGE)
    assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=|javascript:", page)


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_write_text_and_never_markup(name):
    script = read_asset(name)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc", script)
    assert "</script" not in script
    assert "<!--" not in script


def test_every_element_that_a_script_asks_for_is_on_the_page():
    page = read_asset(PAGE)
    known = set(re.findall(r'id="([^"]*)"', page)) | {"content"}  # which only the static page has
    asked = {
        name for script in SCRIPTS for name in re.findall(r'(?:getElementById|\bpart)\("([^"]*)"\)', read_asset(script))
    }
    assert asked <= known
    assert len(asked) > 20


def test_light_and_dark_define_the_same_colours():
    light, dark = read_asset(STYLE).split("@media (prefers-color-scheme: dark)")
    dark = dark.split("* { box-sizing")[0]
    names = set(re.findall(r"(--[\w-]+):", light)) - {"--text"}
    assert names == set(re.findall(r"(--[\w-]+):", dark))
