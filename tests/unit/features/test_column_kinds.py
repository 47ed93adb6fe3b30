"""Mirror of src/anchored/features/column_kinds.py: what columns are taken for, what is said, and what is a problem."""

import re
from datetime import date, timedelta

import numpy as np
import pytest

from anchored._errors import InputError
from anchored.data import column_of
from anchored.features.column_kinds import decide, kinds_of

RNG = np.random.default_rng(0)
WORDS = ["red", "green", "blue"]
SENTENCES = [f"the {a} car number {i} is {b}" for i in range(20) for a in WORDS for b in WORDS]
JAPANESE = "これは長い日本語の文章であり、空白を含まないものですが、テキストとして扱われます"
DAYS = [date(2020, 1, 1) + timedelta(days=int(i)) for i in RNG.permutation(200)]


def row(i):
    return f"row {i + 2}"


def look(values, name="c", asked=None):
    return decide(name, column_of(values, "t"), row_name=row, asked=asked)


@pytest.mark.parametrize(
    ("values", "name", "kind"),
    [
        (RNG.normal(size=50).tolist(), "x", "number"),
        (RNG.integers(0, 1000, 50).tolist(), "income", "number"),
        (["1,234", "5,678.5", "12"], "x", "number"),
        (["1.234,5", "7,25"], "x", "number"),
        (["12 %", "7 %", "55 %"], "x", "number"),
        (["€ 5", "€ 7,50"], "x", "number"),
        (["12 kg", "7 kg", "30 kg"], "x", "number"),
        (["1.5", "?", "2.5", "-"], "x", "number"),
        (WORDS * 10, "colour", "category"),
        (["1st", "2nd", "3rd", "4th"] * 5, "place", "category"),
        (["01234", "90210", "10115", "01234"], "zip", "category"),
        ([f"town {i}" for i in RNG.integers(0, 60, 300)], "town", "category"),
        ([1, 2, 3, 1, 2, 3, 4] * 10, "shop_id", "category"),
        (["yes", "no"] * 5, "ok", "boolean"),
        ([0, 1, 1], "ok", "boolean"),
        ([True, False], "ok", "boolean"),
        ([day.isoformat() for day in DAYS], "joined", "date"),
        ([day.strftime("%d/%m/%Y") for day in DAYS], "joined", "date"),
        ([day.strftime("%b %d, %Y") for day in DAYS], "joined", "date"),
        ([int(day.strftime("%Y%m%d")) for day in DAYS], "joined", "date"),
        (DAYS, "joined", "date"),
        (SENTENCES, "comment", "text"),
        ([JAPANESE + str(i) for i in range(40)], "t", "text"),
        ([[1.0, 2.0], [3.0, 4.0]], "embedding", "list"),
        (["[1, 2]", "[3, 4]"], "embedding", "list"),
        ([5] * 10, "x", "constant"),
        (["a"] * 10, "x", "constant"),
        ([None, None], "x", "empty"),
        (["NA", "", None], "x", "empty"),
        (list(range(100)), "x", "id"),
        ([100 - i for i in range(100)], "x", "id"),
        (sorted({int(i) for i in RNG.integers(0, 300, 100)}), "x", "id"),
        (RNG.permutation(10**6)[:100].tolist(), "customer_id", "id"),
        (RNG.permutation(10**6)[:100].tolist(), "income", "number"),
        ([f"C{i}" for i in range(100)], "x", "id"),
        ([f"{i:08x}-aaaa-4bbb" for i in range(100)], "x", "id"),
        ([f"user{i}@mail.com" for i in range(100)], "x", "id"),
    ],
)  # fmt: skip
def test_what_columns_are_taken_for(values, name, kind):
    decision = look(values, name)
    assert decision.problem is None
    assert decision.kind == kind
    assert (decision.encoder is None) == (kind in ("constant", "empty", "id"))


def test_words_among_numbers_are_named_and_count_as_missing():
    decision = look([str(i) for i in range(0, 95, 2)] + ["many", "few"])
    assert decision.kind == "number"
    assert decision.notes == ("not a number in row 50 ('many'), row 51 ('few'): counted as missing",)
    assert decision.odd_rows == (48, 49)


def test_numbers_and_words_in_equal_parts_are_words_and_said_so():
    decision = look(["1", "low", "2", "high"] * 5)
    assert decision.kind == "category"
    assert decision.notes == ("numbers and words are mixed: row 2 ('1'), row 3 ('low'); taken as words",)


def test_a_far_cell_is_said():
    (note,) = look([*RNG.normal(size=100).tolist(), 1e30]).notes
    assert note.startswith("1 cell is far outside the bulk (row 102: 1e+30) and clipped to [")


def test_signs_and_thousands_are_said():
    assert look(["$5", "$7"]).notes == ("every cell with the sign or unit '$', which is left out",)
    assert look(["$5", "7"]).notes == ("some cells with the sign or unit '$', which is left out",)
    assert look(["1,234", "5,678"]).notes == ("'1,234' and the like are read as thousands, not as decimals",)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (["12 kg", "500 g", "3 kg"], r"different units \('g', 'kg'; row 2 '12 kg', row 3 '500 g'\).*--as c=category"),
        (["5%", "0.05"], r"different units \(none, '%'"),
        (["$5", "€7"], r"different units \('\$', '€'"),
        (["03/03/2021", "03/04/2021"], "'03/04/2021' could be 3 April or 4 March; say --as c=date:dmy or c=date:mdy"),
    ],
)
def test_problems_name_examples_and_the_way_out(values, problem):
    decision = look(values)
    assert decision.encoder is None
    assert re.search(problem, decision.problem)


@pytest.mark.parametrize(
    ("values", "asked", "kind"),
    [
        ([1, 2, 3, 2], "category", "category"),
        (["1", "2 kg"], "number", "number"),
        (["a b c d", "e f g h"], "text", "text"),
        (["03/04/2021", "05/06/2021"], "date:mdy", "date"),
        (["03/04/2021", "25/06/2021"], "date", "date"),
        ([1.6e9, 1.7e9], "date", "date"),
        ([1.6e12, 1.7e12], "date", "date"),
        ([1, 2, 3], "id", "id"),
        (list(range(100)), "number", "number"),
        ([date(2020, 1, 1), date(2021, 1, 1)], "category", "category"),
    ],
)
def test_the_user_knows_better(values, asked, kind):
    decision = look(values, asked=asked)
    assert decision.problem is None
    assert decision.kind == kind


def test_the_order_that_the_user_says_is_used():
    values = ["03/04/2021", "05/06/2021"]
    assert look(values, asked="date:mdy").encoder.order == "mdy"
    assert look(values, asked="date:dmy").encoder.order == "dmy"


@pytest.mark.parametrize(
    ("values", "asked", "problem"),
    [
        (["1", "two", "3"], "number", r"not a number in row 3 \('two'\)"),
        (["2020-01-01", "soon"], "date", r"not a date in row 3 \('soon'\)"),
        (["03/04/2021", "05/06/2021"], "date", "could be 3 April or 4 March"),
        ([0.5, -1e300], "date", "no dates"),
        ([[1, 2]], "category", "a list of numbers cannot be read as category"),
        ([date(2020, 1, 1)], "number", "dates cannot be read as numbers"),
    ],
)
def test_what_the_user_says_must_be_possible(values, asked, problem):
    assert re.search(problem, look(values, asked=asked).problem)


def test_an_unknown_kind_gets_the_nearest():
    with pytest.raises(InputError, match="unknown kind of column 'categry'; did you mean 'category'"):
        look([1], asked="categry")


def test_what_is_told_on_the_command_line():
    assert kinds_of(["a=b=number", "a=b=number", "c=id"]) == {"a=b": "number", "c": "id"}
    for told, message in (
        (["age"], "must be COLUMN=KIND, got 'age'"),
        (["=number"], "must be COLUMN=KIND"),
        (["age=numbr"], "did you mean 'number'"),
        (["a=text", "a=id"], "both text and id"),
    ):
        with pytest.raises(InputError, match=message):
            kinds_of(told)
