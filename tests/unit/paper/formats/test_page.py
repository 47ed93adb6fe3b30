"""Mirror of src/anchored/paper/formats/page.py: one page, well formed, with its plots inside."""

import re
from dataclasses import replace
from html.parser import HTMLParser

from tests.unit.paper.tiny import TINY, record

from anchored.paper import compare
from anchored.paper.formats import to_html


class Balance(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_loads_nothing():
    page = to_html(compare(TINY, [record(), record(row="ce+fnpal", cell="digits/0.4"), record(epochs=1)]))
    parser = Balance()
    parser.feed(page)
    assert parser.open == []
    assert not re.search(r"""(src|href)=["']http""", page)
    assert page.count("<svg") == 4
    assert "<td>90.00</td>" in page


def test_a_curve_with_gaps_is_drawn_through_the_epochs_that_were_scored():
    page = to_html(compare(TINY, [record(every=2, history={"test_accuracy": [None, 0.5, None, 0.75, 0.8]})]))
    assert page.count("<svg") == 2
    assert "scored every 2 epochs" in page


def test_without_runs_there_is_no_plot():
    assert "<svg" not in to_html(compare(TINY, []))


def test_text_is_escaped():
    page = to_html(compare(replace(TINY, claim="a <b> & c"), [record()]))
    assert "a &lt;b&gt; &amp; c" in page
