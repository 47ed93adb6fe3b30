"""Properties of reading and encoding tables: what is written is read, and no order, subset or new value breaks it."""

import csv
import json
import string

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load, save

from anchored.data import as_columns, column_of, read_csv_columns, read_json_columns
from anchored.features import TableEncoder

TEXT = st.text(
    alphabet=st.characters(codec="utf-8", exclude_characters="\x00\x1c\x1d\x1e\x1f\x85\u2028\u2029"), max_size=12
)
WORD = st.text(alphabet=string.ascii_letters, min_size=1, max_size=5)
CELL = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False), st.integers(-1000, 1000), WORD)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=20), st.sampled_from(",;\t|"))
def test_any_text_that_is_written_as_csv_is_read_back(folder, rows, delimiter):
    path = folder / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
        writer.writerow(["first", "second"])
        writer.writerows(rows)
    table = read_csv_columns(path, verbatim=["first", "second"], delimiter=delimiter)
    for place, name in enumerate(("first", "second")):
        assert table.columns[name].cells() == [row[place].strip() or None for row in rows]


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=50))
def test_numbers_are_read_back_exactly(folder, values):
    path = folder / "n.csv"
    path.write_text("x,y\n" + "".join(f"{value!r},a\n" for value in values))
    np.testing.assert_array_equal(read_csv_columns(path).columns["x"].values, values)


@given(st.lists(st.dictionaries(WORD, CELL, max_size=4), min_size=1, max_size=12))
def test_json_lines_agree_with_columns_of_their_values(folder, records):
    keys = list(dict.fromkeys(key for record in records for key in record))
    if not keys:
        return
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    table = read_json_columns(path)
    assert table.names == tuple(keys)
    for key in keys:
        assert table.columns[key].cells() == column_of([record.get(key) for record in records], "t").cells()


@st.composite
def tables(draw):
    """A table with a column of numbers, one of words, one with anything, and gaps."""
    n = draw(st.integers(5, 40))
    numbers = st.one_of(st.none(), st.floats(-1e6, 1e6))
    return {
        "number": draw(st.lists(numbers, min_size=n, max_size=n)),
        "word": draw(st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "c"])), min_size=n, max_size=n)),
        "any": draw(st.lists(CELL, min_size=n, max_size=n)),
        "half": [float(i % 3) + 0.5 for i in range(n)],
    }


@given(tables(), st.randoms(use_true_random=False))
def test_order_of_columns_and_rows_and_the_state_do_not_matter(columns, random):
    table = as_columns(columns)
    encoder = TableEncoder().fit(table)
    features = encoder.transform(table)
    assert torch.isfinite(features).all()
    names = list(columns)
    random.shuffle(names)
    assert torch.equal(encoder.transform(as_columns({name: columns[name] for name in names})), features)
    index = torch.randperm(len(table), generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(encoder.transform(table.subset(index)), features[index])
    about, tensors = encoder.state()
    again = TableEncoder.from_state(json.loads(json.dumps(about)), load(save(tensors)))
    assert torch.equal(again.transform(table), features)


@given(tables(), st.lists(WORD, min_size=1, max_size=5))
def test_a_value_never_seen_gives_finite_features(columns, words):
    encoder = TableEncoder(kinds={"any": "category", "word": "category"}).fit(as_columns(columns))
    new = as_columns({"number": [None] * len(words), "word": words, "any": words, "half": [1e30] * len(words)})
    assert torch.isfinite(encoder.transform(new)).all()
