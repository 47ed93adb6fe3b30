"""Mirror of src/anchored/review/static.py: nothing from elsewhere, names that stay names, the page in one file."""

import base64
import hashlib
import json
import re

import pytest
import torch

from anchored.audit import Suspect
from anchored.data import Dataset, TensorInputs
from anchored.review import Cases, Review, static_page, write_static
from anchored.review.static import KINDS, PAGE, SCRIPTS, STYLE, read_asset

HOSTILE = ("</script><script>alert(1)</script>", "<!--", "a\u2028b")


class Nearest:
    """Stands in for the neighbours: always samples 1 and 2."""

    def nearest(self, index, label, count):
        return [(1, 0.9), (2, 0.8)]


@pytest.fixture
def review():
    pixels = torch.zeros(4, 1, 8, 8, dtype=torch.uint8)
    data = Dataset("pets", TensorInputs(pixels), torch.tensor([0, 1, 2, 0]), HOSTILE)
    rows = (Suspect(1, 0, "row 0", HOSTILE[0], HOSTILE[1], 0.9, -0.4, 0.1, 0.9, "many"),)
    return Review("pets", data, Cases(HOSTILE, rows), neighbours=Nearest())


def content(page):
    return json.loads(re.search(r'<script type="application/json" id="content">(.*?)</script>', page, re.S)[1])


def test_everything_is_inside(review):
    page = static_page(review)
    assert not re.search(r'(src|href)="(?!data:)', page)
    inside = content(page)
    assert inside["index"] == [0]
    assert set(inside["pictures"]) == {"0", "1", "2"}
    assert all(picture.startswith("data:image/png;base64,") for picture in inside["pictures"].values())
    assert inside["near"]["0/1"] == {"index": [1, 2], "id": ["row 1", "row 2"], "similarity": [0.9, 0.8]}


def test_no_name_can_leave_its_place(review):
    page = static_page(review)
    assert content(page)["classes"] == list(HOSTILE)
    assert len(re.findall(r"<script", page)) == 2
    assert "alert(1)</script>" not in page


def test_the_policy_allows_the_one_script_and_the_one_style_in_it(review):
    page = static_page(review)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for kind, text in (
        ("script-src", re.search(r"<script>(.*?)</script>", page, re.S)[1]),
        ("style-src", re.search(r"<style>(.*?)</style>", page, re.S)[1]),
    ):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy


def test_a_table_brings_its_rows(review):
    table = Dataset("t", TensorInputs(torch.arange(8.0).view(4, 2)), torch.tensor([0, 1, 2, 0]), HOSTILE)
    inside = content(static_page(Review("t", table, review.cases, neighbours=Nearest())))
    assert inside["rows"] == {"0": ["0", "1"], "1": ["2", "3"], "2": ["4", "5"]}
    assert "pictures" not in inside


def test_pages_of_other_suspects_keep_their_decisions_apart(review):
    other = Review("pets", review.dataset, Cases(HOSTILE, ()), neighbours=Nearest())
    keys = {content(static_page(each))["key"] for each in (review, review, other)}
    assert len(keys) == 2


def test_the_file_is_the_page(review, tmp_path):
    write_static(review, tmp_path / "review.html")
    assert (tmp_path / "review.html").read_text(encoding="utf-8") == static_page(review)


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
