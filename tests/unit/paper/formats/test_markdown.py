"""Mirror of src/anchored/paper/formats/markdown.py: a table that every reader of Markdown takes for one."""

from tests.unit.paper.tiny import TINY, record

from anchored.paper import compare
from anchored.paper.formats import to_markdown


def test_every_line_of_the_table_has_the_same_number_of_cells():
    text = to_markdown(compare(TINY, [record(accuracy=0.1), record(epochs=1)]))
    rows = [line.replace("\\|", "") for line in text.splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {5}
    assert "| CE | ours | 10.00 |  |" in text
    assert "|  | difference | −80.00\\* |  |" in text
    assert "| CE, 1 epoch | ours | 90.00 |  |" in text


def test_bars_and_stars_of_a_note_stay_text():
    assert "- CE: a slip \\| of \\*the\\* print" in to_markdown(compare(TINY, []))
