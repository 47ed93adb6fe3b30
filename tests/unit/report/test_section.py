"""Mirror of src/anchored/report/_section.py: the template knows every kind of block."""

from importlib.resources import files
from typing import get_args

from markupsafe import Markup

from anchored.report._page import page
from anchored.report._section import Block, Card, Code, Gallery, Paragraph, Picture, Section, Table, Tile


def test_every_kind_of_block_is_shown():
    template = files("anchored.report").joinpath("page.html").read_text(encoding="utf-8")
    kinds = {block.__dataclass_fields__["kind"].default for block in get_args(Block)}
    assert kinds == {"paragraph", "picture", "table", "code", "gallery"}
    assert all(f'block.kind == "{kind}"' in template for kind in kinds)


def test_what_a_block_holds_is_on_the_page():
    blocks = [
        Paragraph("one paragraph"),
        Picture(Markup("<svg></svg>"), "a caption", "an alternative"),
        Table(("a", "b"), [("cell", "1")], folded="a fold"),
        Code("a command"),
        Gallery([Card("an id", "given", "suggested", "a note", values=(("column", "7.5"),))]),
    ]
    text = page("t", "s", [Tile("42", "a tile")], [Section("id", "a title", "a lead", blocks)], [])
    shown = "one paragraph|a caption|an alternative|cell|a fold|a command|an id|given|suggested|a note|column|7.5"
    for words in f"{shown}|a title|a lead|42|a tile".split("|"):
        assert words in text
