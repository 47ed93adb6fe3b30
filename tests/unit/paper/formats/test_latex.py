"""Mirror of src/anchored/paper/formats/latex.py: balanced environments, escaped text."""

import re

from tests.unit.paper.tiny import TINY, record

from anchored.paper import compare
from anchored.paper.formats import to_latex


def test_environments_are_closed_in_order():
    text = to_latex(compare(TINY, [record()]))
    opened = []
    for word, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if word == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert not opened
    rows = text.split("\\midrule")[1].split("\\bottomrule")[0].strip().splitlines()
    assert {row.count("&") for row in rows} == {3}


def test_special_characters_are_escaped():
    text = to_latex(compare(TINY, [record(accuracy=0.1), record(accuracy=0.2, seed=1)]))
    assert r"\caption{Test accuracy (\%), digits}" in text
    assert r"15.00 $\pm$ 7.07" in text
    assert r"$-$75.00*" in text
    assert "±" not in text
