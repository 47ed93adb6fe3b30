"""Mirror of src/anchored/paper/formats/names.py: the formats by name."""

import pytest

from anchored._errors import InputError
from anchored.paper import TABLES, compare
from anchored.paper.formats import FORMATS, get


def test_every_format_writes_text_of_its_own():
    comparison = compare(TABLES["weight_decay"], [])
    assert len({get(name)(comparison) for name in FORMATS}) == len(FORMATS)


def test_an_unknown_format_is_refused():
    with pytest.raises(InputError, match="unknown format 'markdwon'; did you mean 'markdown'"):
        get("markdwon")
