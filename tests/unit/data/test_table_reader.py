"""Mirror of src/anchored/data/table_reader.py: blocks put together are the file, and a bad row stays in its block."""

import csv

import numpy as np
import pytest

from anchored._errors import InputError
from anchored.data.table_reader import open_table


def written(tmp_path, text):
    (tmp_path / "t.csv").write_bytes(text.encode())
    return tmp_path / "t.csv"


WAYS = [
    "a,b\n1,x\n2,y\n3,z\n4,\n",
    "\ufeffa;b\r\n1;x\r\n2;y\r\n3;z\r\n4;\r\n",
    '"a"\t"b"\n"1"\t"x"\n"2"\t"y"\n"3"\t"z"\n"4"\t""\n',
    "a|b\n1|x\n2|y\n\n\n3|z\n4|",
    'a,b\n1,x\n2,y\n3,"z"\n4,\n',
]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("text", WAYS)
def test_blocks_of_any_size_agree_with_the_csv_module(tmp_path, text, size):
    table = open_table(written(tmp_path, text))
    blocks = list(table.blocks(["b"], size))
    with (tmp_path / "t.csv").open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=next(sign for sign in ",;\t|" if sign in text))
        want = [(reader.line_num, record[1]) for record in reader if record][1:]
    assert [pair for block in blocks for pair in zip(block.rows, block.texts(), strict=True)] == want
    numbers = np.concatenate([block.numbers()[0] for block in table.blocks(["a"], size)])
    assert numbers[:, 0].tolist() == [1, 2, 3, 4]
    assert table.columns == ["a", "b"]
    assert (table.head("b"), table.is_text("b"), table.is_text("a")) == (["x", "y", "z", ""], True, False)


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_bad_row_is_an_error_of_its_place(tmp_path, quote):
    path = written(tmp_path, f"a,b\n{quote}1{quote},2\nx,3\n4\n5,inf\n6,7\n")
    (block,) = open_table(path).blocks(["b", "a"], 10)
    values, errors = block.numbers()
    assert values.tolist() == [[2, 1], [7, 6]]
    assert sorted(errors) == [1, 2, 3]
    assert errors[1].startswith(f"{path}, row 3, column 'a': features must be numbers, got 'x'")
    assert errors[2].startswith(f"{path}, row 4: 1 fields where the heading names 2")
    assert errors[3].startswith(f"{path}, row 5, column 'b': features must be finite")
    cells = block.texts()
    assert isinstance(cells.pop(2), InputError)
    assert cells == ["2", "3", "inf", "7"]


def test_parquet_in_blocks(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {
        "n": [3.0, 2.0, 2.5, None],
        "i": [1, 2, 3, 4],
        "t": ["a", None, "b", "c"],
        "f": [True, False, True, True],
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    table = open_table(tmp_path / "t.parquet")
    assert [table.is_text(name) for name in "nitf"] == [False, False, True, False]
    blocks = list(table.blocks(["n"], 3))
    assert [list(block.rows) for block in blocks] == [[0, 1, 2], [3]]
    cells = [cell for block in blocks for cell in block.texts()]
    assert cells[:2] == ["3", "2"]
    assert "row 2, column 'n': a label must be a whole number or text, got 2.5" in str(cells[2])
    assert "row 3: column 'n' is empty" in str(cells[3])
    texts = [block.texts() for name in ("t", "i", "f") for block in table.blocks([name], 10)]
    assert texts == [["a", "", "b", "c"], ["1", "2", "3", "4"], ["True", "False", "True", "True"]]
    (block,) = table.blocks(["i", "f"], 10)
    assert block.numbers()[0].tolist() == [[1, 1], [2, 0], [3, 1], [4, 1]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("a,b\n", "the table has a heading but no rows"),
        ("1,2\n3,4\n", "it must name the columns, got numbers"),
        ("a,b,a\n1,2,3\n", "column names must differ, got 'a' twice"),
    ],
)
def test_what_is_wrong_with_the_whole_file_is_refused(tmp_path, text, words):
    with pytest.raises(InputError, match=words):
        open_table(written(tmp_path, text))


def test_a_pipe_or_a_folder_is_no_table(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        open_table(tmp_path)
