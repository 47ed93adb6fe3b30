"""Tables that are wrong, each with the exact line that is said of it: what, where, the rule, and the way out."""

import numpy as np
import pytest

from anchored._errors import InputError
from anchored.data import load_table
from anchored.features import TableEncoder

RNG = np.random.default_rng(0)
N = 60
AGES = RNG.integers(18, 80, N)
TOWNS = ["Lima", "Rome", "Oslo"]


def rows(**changes):
    """A table of ages, towns and labels as lines; ``changes`` are other columns by name."""
    columns = {
        "age": [str(age) for age in AGES],
        "town": [TOWNS[i % 3] for i in range(N)],
        "label": ["yes" if age > 50 else "no" for age in AGES],
        **changes,
    }
    return [",".join(columns), *(",".join(cells) for cells in zip(*columns.values(), strict=True))]


def changed(row, line):
    """The table with another line as its row, counted as a spreadsheet counts."""
    lines = rows()
    lines[row - 1] = line
    return lines


REFUSED = {
    "a quote that is never closed": (
        changed(12, '31,"Lima,no'),
        "row 12: a quote is opened and never closed; close it, or double a quote in a cell",
    ),
    "a row with too few cells": (
        changed(20, "31,Lima"),
        "row 20: 2 fields where the heading names 3; quote a field that contains ',', or correct the row",
    ),
    "rows with too many cells": (
        [*changed(20, "31,Lima,no,"), "40,Rome,yes,"],
        "row 20: 4 fields where the heading names 3 (and 1 more rows like it); quote a field that contains ',', "
        "or correct the row",
    ),
    "the heading again": (
        changed(31, "age,town,label"),
        "row 31: the heading comes again; remove the row (files joined?)",
    ),
    "the heading again in other letters": (
        changed(31, "Age,Town,Label"),
        "row 31: the heading comes again; remove the row (files joined?)",
    ),
    "a second heading above one column of numbers": (
        changed(2, "years,name,no"),
        "row 2: looks like a second heading or a row of units ('age': 'years', and numbers below); remove it",
    ),
    "units below the heading": (
        [
            "age,size,town,label",
            "years,cm,Lima,no",
            *(f"{20 + i % 7},{150 + i % 9},Lima,{['no', 'yes'][i % 2]}" for i in range(40)),
        ],
        "row 2: looks like a second heading or a row of units ('age': 'years', 'size': 'cm', and numbers below); "
        "remove it",
    ),
    "two units in one column": (
        rows(size=[f"{160 + i} cm" if i % 2 else f"{1.6 + i / 100:.2f} m" for i in range(N)]),
        "column 'size': numbers with different units ('cm', 'm'; row 2 '1.60 m', row 3 '161 cm'); bring them to one, "
        "or say --as size=category (or --drop COLUMN)",
    ),
    "a label that is continuous": (
        rows(label=[f"{i * i % 61 + 0.5}" for i in range(N)]),
        "column 'label': the label is continuous (31 different numbers such as '0.5', '1.5', '4.5'), a classifier "
        "needs classes; put it into ranges, or name another column with --label COLUMN",
    ),
    "labels that are missing": (
        rows(label=["", "no", ""] + ["yes", "no"] * 28 + ["yes"]),
        "column 'label': the label is missing in 2 of 60 rows (row 2, 4); fill or drop them",
    ),
    "a label that is an id": (
        rows(label=[f"C{i}" for i in range(N)]),
        "column 'label': 60 different labels in 60 rows (such as 'C0', 'C1', 'C2') look like an id or a free text, not "
        "like classes; put them into groups, or name another column with --label COLUMN",
    ),
    "two columns of one name": (
        ["age,age,label", *(f"{age},{age},{'yes' if age > 50 else 'no'}" for age in AGES)],
        "column names must differ, got 'age' for columns 1 and 2; rename one",
    ),
    "a million columns": (
        [",".join(f"c{i}" for i in range(1_000_000)), "1"],
        "a table may have at most 65,536 columns, got 1,000,000; keep fewer, or put the numbers into one list column "
        "or an .npz file",
    ),
    "a date that can be read in two ways": (
        rows(day=["03/04/2021", "05/06/2021"] * 30),
        "column 'day': '03/04/2021' could be 3 April or 4 March; say --as day=date:dmy or day=date:mdy "
        "(or --drop COLUMN)",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_wrong_table_is_refused_in_one_line_with_its_place(tmp_path, what):
    lines, message = REFUSED[what]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        TableEncoder().fit(load_table(path, label="label").train.inputs)
    said = str(caught.value)
    assert said.startswith(str(path))
    assert "\n" not in said
    assert said.removeprefix(str(path)).lstrip(",: ") == message


def uses(tmp_path, lines):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    data = load_table(path, label="label").train
    assert data.kind == "table"
    encoder = TableEncoder().fit(data.inputs)
    return {use.column: use for use in encoder.uses}, encoder.transform(data.inputs).numpy()


def test_words_among_numbers_are_named_and_counted_as_missing(tmp_path):
    ages = [str(age) for age in AGES]
    ages[4] = "old"
    found, features = uses(tmp_path, rows(age=ages))
    assert found["age"].kind == "number"
    assert found["age"].notes == ("not a number in row 6 ('old'): counted as missing",)
    assert np.isfinite(features).all()


def test_numbers_and_words_in_equal_parts_are_named_with_examples(tmp_path):
    mixed = [str(i % 9) if i % 2 else "abc"[i % 3] for i in range(N)]
    found, _ = uses(tmp_path, rows(code=mixed))
    assert found["code"].kind == "category"
    (note,) = found["code"].notes
    assert note == "numbers and words are mixed: row 3 ('1'), row 2 ('a'); taken as words"


def test_one_cell_of_1e30_moves_nothing_else_and_is_said(tmp_path):
    ages = [str(age) for age in AGES]
    plain, usual = uses(tmp_path, rows())
    ages[7] = "1e30"
    found, features = uses(tmp_path, rows(age=ages))
    (note,) = found["age"].notes
    assert note.startswith("1 cell is far outside the bulk (row 9: 1e+30) and clipped to [")
    others = np.arange(N) != 7
    assert np.abs(features[others, 0] - usual[others, 0]).max() < 1.5  # its scale is that of the bulk, not 1e30
    assert features[others, 0].std() > 0.2
    assert plain["age"].notes == ()


def test_a_large_offset_is_centred_in_double_precision(tmp_path):
    plain = uses(tmp_path, rows(x=[f"{value:.4f}" for value in RNG.normal(size=N)]))[1]
    values = RNG.normal(size=N)
    near = uses(tmp_path, rows(x=[repr(float(value)) for value in values]))[1]
    far = uses(tmp_path, rows(x=[repr(float(value) + 1e8) for value in values]))[1]
    np.testing.assert_allclose(near, far, atol=1e-5)
    assert plain.shape == near.shape


def test_dates_and_words_in_equal_parts_are_named_with_examples(tmp_path):
    mixed = [f"2020-01-{i % 28 + 1:02}" if i % 2 else f"soon {'abc'[i % 3]}" for i in range(N)]
    found, _ = uses(tmp_path, rows(day=mixed))
    assert found["day"].notes == ("dates and words are mixed: row 3 ('2020-01-02'), row 2 ('soon a'); taken as words",)


@pytest.mark.parametrize(
    ("trained", "new", "message"),
    [
        ("{} kg", "500 g", "a cell must have the unit of training, 'kg', got '500 g'; convert it"),
        ("${}", "€500", "a cell must have the unit of training, '$', got '€500'; convert it"),
        ("{} %", "0.5", "a cell must have the unit of training, '%', got '0.5'; convert it"),
    ],
)
def test_another_unit_than_in_training_is_refused_with_its_row(tmp_path, trained, new, message):
    path = tmp_path / "t.csv"

    def table(sizes):
        path.write_text("\n".join(rows(size=sizes)) + "\n", encoding="utf-8")
        return load_table(path, label="label", form="table", verbatim=["size"]).train.inputs

    sizes = [trained.format(i + 2) for i in range(N)]
    encoder = TableEncoder().fit(table(sizes))
    assert encoder.columns["size"].kind == "number"
    encoder = TableEncoder.from_state(*encoder.state())
    with pytest.raises(InputError) as caught:
        encoder.transform(table([*sizes[:4], new, *sizes[5:]]))
    assert str(caught.value) == f"{path}, row 6, column 'size': {message}"


def test_two_units_told_to_be_numbers_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(rows(size=["5 kg", "9 lb"] * 30)) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="numbers with different units"):
        TableEncoder(kinds={"size": "number"}).fit(load_table(path, label="label").train.inputs)
