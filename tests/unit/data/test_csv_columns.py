"""Mirror of src/anchored/data/csv_columns.py: CSV as people write it, and each broken structure with its row."""

import csv
import io

import numpy as np
import pytest

from anchored._errors import InputError
from anchored.data import NumberColumn, TextColumn, read_csv_columns
from anchored.data import csv_columns as module


def write(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def cells(table):
    return {name: column.cells() for name, column in table.columns.items()}


PLAIN = 'age,town,note\n31,Seoul,"a, b"\n,Lima,c\n45,Seoul,d\n'
EXPECTED = {"age": ["31", None, "45"], "town": ["Seoul", "Lima", "Seoul"], "note": ["a, b", "c", "d"]}


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        "\ufeff" + PLAIN,
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace('"a, b"', "@").replace(",", ";").replace("@", '"a, b"'),
        PLAIN.replace('"a, b"', "@").replace(",", "\t").replace("@", "a, b"),
        PLAIN.replace('"a, b"', "@").replace(",", "|").replace("@", "a, b"),
        "sep=;\n" + PLAIN.replace('"a, b"', "@").replace(",", ";").replace("@", "a, b"),
        PLAIN.replace(",Lima", ",  Lima "),
        PLAIN.replace('"a, b"', "@").replace(",", ", ").replace("@", '"a, b"'),
        PLAIN.rstrip("\n"),
        PLAIN.replace("45", "\n\n45"),
        PLAIN + "\n\n",
    ],
)
def test_ways_to_write_the_same_table(tmp_path, text):
    assert cells(read_csv_columns(write(tmp_path, text))) == EXPECTED


def test_numbers_are_numbers_and_codes_stay_codes(tmp_path):
    text = "x,code,under,word,gap\n1e3,007,1_000,1,NA\n-2.5,12,2,x,3\n.5,3,3,nan,null\n"
    table = read_csv_columns(write(tmp_path, text))
    forms = {name: type(column) for name, column in table.columns.items()}
    assert forms == {
        "x": NumberColumn, "code": TextColumn, "under": TextColumn, "word": TextColumn, "gap": NumberColumn,
    }  # fmt: skip
    assert table.columns["x"].values.tolist() == [1000.0, -2.5, 0.5]
    assert table.columns["gap"].cells() == [None, "3", None]
    assert table.columns["word"].cells() == ["1", "x", "nan"]


def test_a_column_told_to_be_verbatim_stays_text(tmp_path):
    path = write(tmp_path, "x,y\n1.0,1.0\n2,2\n")
    assert cells(read_csv_columns(path, verbatim=["y"])) == {"x": ["1", "2"], "y": ["1.0", "2"]}


def test_a_word_far_down_turns_the_whole_column_into_texts(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK_CELLS", 32)
    rows = [f"{i}.50,{i}" for i in range(100)]
    rows[90] = "many,90"
    table = read_csv_columns(write(tmp_path, "a,b\n" + "\n".join(rows) + "\n"))
    assert table.columns["a"].cells() == [f"{i}.50" for i in range(90)] + ["many"] + [f"{i}.50" for i in range(91, 100)]
    assert table.columns["b"].values.tolist() == list(range(100))
    assert table.rows.tolist() == list(range(2, 102))


def test_rows_are_lines_even_if_a_cell_holds_line_breaks(tmp_path):
    table = read_csv_columns(write(tmp_path, 'a,b\n1,"two\nlines"\n\n2,"x\r\ny\rz"\n3,q\n'))
    assert table.rows.tolist() == [2, 5, 8]
    assert table.columns["b"].cells() == ["two\nlines", "x\r\ny\rz", "q"]


def test_an_unclosed_quote_is_refused_with_its_row(tmp_path):
    """Sixty rows of which the eleventh opens a quote: the csv module alone swallows the 49 rows after it."""
    lines = [f"{i},name {i},{i}" for i in range(60)]
    lines[10] = '10,"name 10,10'
    text = "a,b,c\n" + "\n".join(lines) + "\n"
    lenient = list(csv.reader(io.StringIO(text)))
    assert len(lenient) == 1 + 11
    with pytest.raises(InputError, match=r"t\.csv, row 12: a quote is opened and never closed"):
        read_csv_columns(write(tmp_path, text))


def test_an_unclosed_quote_before_a_later_quoted_cell(tmp_path):
    text = 'a,b\n1,x\n2,"open\n3,"closed"\n4,z\n'
    with pytest.raises(InputError, match=r"row 3: text follows a closing quote \(in row 4\)"):
        read_csv_columns(write(tmp_path, text))


def test_a_cell_without_end_is_refused_before_memory_is(tmp_path):
    text = 'a,b\n1,"' + "x\n" * 100_000 + '"\n'
    with pytest.raises(InputError, match=r"row 2: a cell of more than 131,072 characters, perhaps a quote"):
        read_csv_columns(write(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("\n\n  \n", "the file is empty"),
        ("a,b\n", "a heading but no rows"),
        ("1,2\n3,4\n", r"row 1: the first row must name the columns, got numbers \(1, 2\)"),
        ("a,b\n1,2\n3\n4\n", r"row 3: 1 fields where the heading names 2 \(and 1 more rows like it\)"),
        ("a,b\n1,2\n3,4,5\n", "row 3: 3 fields where the heading names 2"),
        ("a,b\n1,2\na,b\n3,4\n", "row 3: the heading comes again"),
        ("a,b,a\n1,2,3\n", "'a' for columns 1 and 3"),
        (b"a,b\n1,caf\xe9\n", r"row 2: not UTF-8 text \(byte 9 is 0xe9\); save it as UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "not UTF-8 text"),
        (b"a,b\n1,\x00\n", "zero bytes"),
        (b"a,b\n1,\xe2\x82", "UTF-8"),
    ],
)
def test_broken_structure_is_refused_with_its_place(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_csv_columns(write(tmp_path, text))


def test_the_byte_that_is_no_utf8_is_counted_from_the_start_of_the_file(tmp_path):
    text = b"a\n" + b"x\n" * 2_000_000 + b"\xff\n"
    with pytest.raises(InputError, match=r"row 2000002: not UTF-8 text \(byte 4000002 is 0xff\)"):
        read_csv_columns(write(tmp_path, text))


def test_a_million_columns_are_refused_with_the_bound(tmp_path):
    path = write(tmp_path, ",".join(f"c{i}" for i in range(1_000_000)) + "\n1\n")
    with pytest.raises(InputError, match=r"at most 65,536 columns, got 1,000,000"):
        read_csv_columns(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_csv_columns(tmp_path / "none.csv")
    with pytest.raises(InputError, match="not a regular file"):
        read_csv_columns(tmp_path)


def test_dropped_columns_are_not_kept_and_must_exist(tmp_path):
    path = write(tmp_path, PLAIN)
    assert read_csv_columns(path, drop=["note"]).names == ("age", "town")
    with pytest.raises(InputError, match="there is no column 'notes' to drop; did you mean 'note'"):
        read_csv_columns(path, drop=["notes"])


def test_a_decimal_comma_table_is_split_at_semicolons(tmp_path):
    table = read_csv_columns(write(tmp_path, "x;price, EUR\n1,5;2,5\n2,5;3,5\n"))
    assert cells(table) == {"x": ["1,5", "2,5"], "price, EUR": ["2,5", "3,5"]}


def test_agrees_with_numpy_on_plain_numbers(tmp_path):
    values = np.random.default_rng(0).normal(size=(500, 3))
    path = tmp_path / "n.csv"
    np.savetxt(path, values, delimiter=",", header="a,b,c", comments="")
    table = read_csv_columns(path)
    found = np.stack([table.columns[name].values for name in "abc"], axis=1)
    np.testing.assert_array_equal(found, np.loadtxt(path, delimiter=",", skiprows=1))
