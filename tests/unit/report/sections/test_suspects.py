"""Mirror of src/anchored/report/sections/suspects.py: the picture beside a suspect is that of the suspect."""

from dataclasses import replace
from pathlib import Path

import torch

from anchored.audit import Audit, Suspects
from anchored.audit.suspects import COLUMNS
from anchored.data import data_uri
from anchored.report.sections.suspects import suspects


def audited(*found):
    """An audit whose first suspects are ``found``: index, id, given, suggested, probability."""
    rows = [(i + 1, *row, -0.2, 0.01, 0.9, "many") for i, row in enumerate(found)]
    table = Suspects({name: [row[j] for row in rows] for j, name in enumerate(COLUMNS)})
    names = tuple(map(str, range(10)))
    return Audit(0.3, (0.27, 0.33), torch.eye(10), names, 1437, 431.0, table, classes=(), pairs=())


def test_a_suspect_is_shown_with_its_own_picture(digits, changed):
    name = digits.data.ids[17].removeprefix("row ")
    section = suspects(changed(digits, audited=audited((17, name, "3", "8", 0.97))))
    (card,) = section.blocks[0].cards
    assert card.image == data_uri(digits.data.inputs.take(torch.tensor([17]))[0], 96)
    assert (card.given, card.suggested, card.note) == ("3", "8", "97 % sure that it is wrong")
    assert "out of some 431" in section.lead


def test_a_sample_that_is_not_in_its_place_any_more_has_no_picture(digits, changed):
    moved = audited((17, "not 17", "3", "8", 0.9), (99_999, "99999", "3", "8", 0.9))
    cards = suspects(changed(digits, audited=moved)).blocks[0].cards
    assert [card.image for card in cards] == ["", ""]


def test_a_row_of_a_table_is_shown_by_the_cells_that_speak_against_its_label(hostile):
    card = suspects(hostile).blocks[0].cards[0]
    row = hostile.data.inputs.take(torch.tensor([0]))[0].tolist()
    cells = dict(zip(["<b>a</b>", "b'\"", "c", "d"], row, strict=True))
    assert card.values
    assert {column: float(value) for column, value in card.values} == {
        column: float(f"{cells[column]:.6g}") for column, _ in card.values
    }
    assert card.values == hostile.samples[0]


def test_without_data_the_labels_alone_are_shown(hostile, changed):
    section = suspects(changed(hostile, data=None))
    assert not any(card.image or card.values for card in section.blocks[0].cards)
    assert "not at hand" in section.blocks[-1].text


def test_without_an_audit_the_command_is_named(digits, changed):
    code = suspects(changed(digits, path=Path("my run"))).blocks[0]
    assert code.text == "anchored audit 'my run'\nanchored report 'my run'"


def test_an_audit_that_found_nothing(digits, changed):
    assert "no label" in suspects(changed(digits, audited=audited())).lead


def test_labels_that_nothing_is_likelier_than_are_no_suspects(digits, changed):
    rows = [(17, "17", "3", "3", 0.6), (18, "18", "4", "9", 0.55)]
    assert [card.id for card in suspects(changed(digits, audited=audited(*rows))).blocks[0].cards] == ["18"]
    assert "no label" in suspects(changed(digits, audited=audited(rows[0]))).lead


def test_a_picture_that_cannot_be_read_is_left_out(digits, changed):
    class Broken:
        shape = (1, 8, 8)

        def __len__(self):
            return 1437

        def take(self, _index):
            raise OSError("gone")

    data = replace(digits.data, inputs=Broken())
    there = (17, digits.data.ids[17], "3", "8", 0.97)
    section = suspects(changed(digits, data=data, audited=audited(there)))
    assert section.blocks[0].cards[0].image == ""
