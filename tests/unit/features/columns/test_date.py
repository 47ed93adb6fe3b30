"""Mirror of src/anchored/features/columns/date.py: parts of dates against the standard library, numbers as dates."""

import math
from datetime import datetime

import numpy as np
import pytest

from anchored._errors import InputError
from anchored.data import NumberColumn, TimeColumn, column_of
from anchored.features.columns import DateEncoder
from anchored.features.columns.date import _parts, times_of_numbers

MOMENTS = [datetime(2020, 2, 29, 23, 59), datetime(1969, 12, 31), datetime(2024, 12, 31, 6), datetime(2001, 7, 1, 12)]


def column(moments=MOMENTS):
    return TimeColumn(np.array(moments, dtype="datetime64[us]"))


def test_parts_agree_with_the_standard_library():
    parts = _parts(column().values)
    for place, moment in enumerate(MOMENTS):
        year = (moment.timetuple().tm_yday - 1) / 366
        week = moment.weekday() / 7
        hour = (moment.hour + moment.minute / 60) / 24
        expected = {
            "season (sin)": math.sin(2 * math.pi * year),
            "season (cos)": math.cos(2 * math.pi * year),
            "weekday (sin)": math.sin(2 * math.pi * week),
            "weekday (cos)": math.cos(2 * math.pi * week),
            "hour (sin)": math.sin(2 * math.pi * hour),
            "hour (cos)": math.cos(2 * math.pi * hour),
            "weekend": float(moment.weekday() >= 5),
            "day of month": moment.day - 1.0,
            "when": (moment - datetime(1970, 1, 1)).total_seconds() / 86400,
        }
        assert {name: values[place] for name, values in parts.items()} == pytest.approx(expected, abs=1e-9)


def test_features_have_mean_zero_variance_one_and_gaps_are_marked():
    encoder = DateEncoder.fit(column([*MOMENTS, None]), order="ymd")
    found = encoder.transform(column([*MOMENTS, None]), where=str)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(found[:4, :-1].std(axis=0), 1, rtol=1e-5)
    assert (found[4, :-1] == 0).all()


def test_a_part_that_never_varies_is_left_out():
    days = [datetime(2021, 1, day) for day in (4, 11, 18, 25)]  # all Mondays at midnight
    names = DateEncoder.fit(column(days), order="ymd").names
    assert not any(part in name for part in ("weekday", "weekend", "hour") for name in names)


def test_texts_are_read_in_the_order_of_training():
    encoder = DateEncoder.fit(column_of(["25/04/2021", "03/05/2021"], "t"), order="dmy")
    read = encoder.read(column_of(["03/04/2021"], "t"), where=str)
    assert read[0] == np.datetime64("2021-04-03")
    with pytest.raises(InputError, match=r"^row 1: a cell must be a date, as in training \(dmy\), got '04/25/2021'"):
        encoder.transform(column_of(["03/04/2021", "04/25/2021"], "t"), where=lambda row: f"row {row}")


def test_numbers_as_dates():
    times, bad = times_of_numbers(np.array([20240229.0, 20230229.0, np.nan, 20241301.0]), "yyyymmdd")
    assert times[0] == np.datetime64("2024-02-29")
    assert bad.tolist() == [False, True, False, True]
    assert times_of_numbers(np.array([86400.0]), "seconds")[0][0] == np.datetime64("1970-01-02")
    assert times_of_numbers(np.array([86400e3]), "milliseconds")[0][0] == np.datetime64("1970-01-02")
    encoder = DateEncoder.fit(NumberColumn(np.array([20240101.0, 20240301.0])), order="ymd", numbers="yyyymmdd")
    with pytest.raises(InputError, match="row 0: a cell must be a date, got 20249999"):
        encoder.transform(NumberColumn(np.array([20249999.0])), where=lambda row: f"row {row}")


def test_numbers_where_training_had_dates_are_refused_but_gaps_are_not():
    encoder = DateEncoder.fit(column(), order="ymd")
    with pytest.raises(InputError, match="must be a date"):
        encoder.transform(NumberColumn(np.array([1.0])), where=str)
    assert (encoder.transform(NumberColumn(np.array([np.nan])), where=str) == 0).all()


def test_the_state_is_checked():
    encoder = DateEncoder.fit(column(), order="ymd")
    about = encoder.model_dump(mode="json")
    assert DateEncoder.restore(about, {}) == encoder
    for bad in ({"parts": ["moon"] * len(encoder.parts)}, {"means": []}, {"order": "ydm"}):
        with pytest.raises(ValueError, match="DateEncoder"):
            DateEncoder.restore(about | bad, {})
