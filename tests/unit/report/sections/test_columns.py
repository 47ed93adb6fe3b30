"""Mirror of src/anchored/report/sections/columns.py: every column with what is done with it, and nothing injected."""

from pathlib import Path

from anchored.features import ColumnUse
from anchored.report._evidence import Evidence
from anchored.report._page import page
from anchored.report.sections.columns import columns
from anchored.training import RunConfig

USES = (
    ColumnUse("id", "id", "left out: it counts the rows", ("1", "2"), 0.0, 0),
    ColumnUse("<b>age", "number", "scaled", ("31", "<i>"), 0.25, 2, ("row 3: <script>",)),
    ColumnUse("town", "category", "2 values, one feature each", ("Lima",), 0.001, 2),
)


def evidence(uses):
    return Evidence(Path("run"), RunConfig(), {}, column_uses=uses)


def test_each_column_has_its_line():
    section = columns(evidence(USES))
    assert section.lead == "2 columns became 4 numbers per row; left out: id (id)."
    table = section.blocks[0]
    assert [row[0] for row in table.rows] == ["id", "<b>age", "town"]
    assert [row[-2:] for row in table.rows] == [["", ""], ["25 %", "2"], ["under 1 %", "2"]]
    assert any("row 3" in block.text for block in section.blocks[1:])


def test_names_and_cells_are_text_on_the_page():
    html = page("t", "h", [], [columns(evidence(USES))], [])
    assert "row 3: <script>" not in html
    assert "<b>age" not in html
    assert "&lt;b&gt;age" in html
    assert "row 3: &lt;script&gt;" in html


def test_other_data_has_no_such_section():
    assert columns(evidence(())) is None
