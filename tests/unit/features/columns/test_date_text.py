"""Mirror of src/anchored/features/columns/date_text.py: many ways to write a date, and the order of day and month."""

from datetime import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchored.features.columns.date_text import find_dates, read_dates


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2021-03-04", "2021-03-04"),
        ("2021/3/4", "2021-03-04"),
        ("2021.03.04", "2021-03-04"),
        ("20210304", "2021-03-04"),
        ("04.03.2021", "2021-03-04"),
        ("4/3/2021", "2021-03-04"),
        ("04-03-21", "2021-03-04"),
        ("04.03.70", "1970-03-04"),
        ("4 March 2021", "2021-03-04"),
        ("04-Mar-2021", "2021-03-04"),
        ("4th Mar. 2021", "2021-03-04"),
        ("March 4, 2021", "2021-03-04"),
        ("Thu, 4 Mar 2021 05:06:07", "2021-03-04T05:06:07"),
        ("2021-03-04T05:06", "2021-03-04T05:06"),
        ("2021-03-04 05:06:07.25", "2021-03-04T05:06:07.25"),
        ("2021-03-04T05:06:07Z", "2021-03-04T05:06:07"),
        ("2021-03-04T05:06:07+09:00", "2021-03-03T20:06:07"),
        ("2021-03-04T05:06-0530", "2021-03-04T10:36"),
        ("4/3/2021 5:06 PM", "2021-03-04T17:06"),
        ("4/3/2021 12:06 am", "2021-03-04T00:06"),
        ("13:45", "1970-01-01T13:45"),
    ],
)
def test_ways_to_write_a_date(text, moment):
    values, unreadable = read_dates([text], "dmy")
    assert not unreadable.any()
    assert values[0] == np.datetime64(moment, "us")


@pytest.mark.parametrize(
    "text",
    ["2021-02-30", "31/04/2021", "13/13/2021", "2021-03-04T25:00", "soon", "1.5", "4 Marsh 2021", "123/4/2021", "12"],
)
def test_what_is_no_date(text):
    assert read_dates([text], "dmy")[1].tolist() == [True]


def test_the_whole_column_decides_the_order():
    assert find_dates(["03/04/2021", "25/04/2021"]).order == "dmy"
    assert find_dates(["03/04/2021", "04/25/2021"]).order == "mdy"
    assert find_dates(["03/04/2021", "05/06/2021"]).order is None
    assert find_dates(["03.04.2021", "05.06.2021"]).order == "dmy"
    assert find_dates(["2021-03-04", "2021-05-06"]).order == "ymd"
    assert find_dates(["03/03/2021", "05/05/2021"]).order == "dmy"  # the same in either order
    mixed = find_dates(["25/04/2021", "04/25/2021", "26/04/2021"])
    assert (mixed.order, mixed.unreadable.tolist()) == ("dmy", [False, True, False])


def test_missing_words_are_missing():
    values, unreadable = read_dates(["NA", "?", "-", "2021-01-01"], "ymd")
    assert np.isnat(values).tolist() == [True, True, True, False]
    assert not unreadable.any()


@given(
    st.lists(st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)), min_size=1),
    st.sampled_from(["%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%d %B %Y %I:%M:%S %p", "%Y/%m/%dT%H:%M:%SZ"]),
)
def test_whatever_is_written_in_a_known_format_is_read_back(moments, layout):
    found = find_dates([moment.strftime(layout) for moment in moments])
    assert found.order is not None
    assert found.values.tolist() == [moment.replace(microsecond=0) for moment in moments]
