"""Mirror of src/anchored/features/columns/number.py: scaling that one cell cannot spoil, gaps, ranks, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchored._errors import InputError
from anchored.data import NumberColumn, TimeColumn, column_of
from anchored.features.columns import NumberEncoder

NORMAL = np.random.default_rng(0).normal(5.0, 2.0, 1000)


def features(values, new=None):
    column = NumberColumn(np.asarray(values if new is None else new, dtype=np.float64))
    return NumberEncoder.fit(np.asarray(values, dtype=np.float64)).transform(column, where=str)


def test_agrees_with_plain_standardisation_on_tame_numbers():
    np.testing.assert_allclose(features(NORMAL)[:, 0], (NORMAL - NORMAL.mean()) / NORMAL.std(), rtol=1e-5, atol=1e-6)


def test_one_cell_of_1e30_moves_no_other():
    spoiled = np.append(NORMAL, 1e30)
    clean, dirty = features(NORMAL)[:, 0], features(spoiled)[:-1, 0]
    assert np.abs(clean - dirty).max() < 0.35
    assert np.corrcoef(clean, dirty)[0, 1] > 0.9999
    assert np.isfinite(features(spoiled)).all()
    assert NumberEncoder.fit(spoiled).beyond(spoiled).tolist() == [1000]


def test_large_offsets_lose_nothing():
    np.testing.assert_allclose(features(NORMAL + 2**40), features(NORMAL), atol=1e-3)


def test_gaps_are_filled_with_the_mean_and_marked():
    values = NORMAL.copy()
    values[::4] = np.nan
    found = features(values)
    assert found.shape == (1000, 2)
    assert (found[::4, 0] == 0).all()
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-6)
    assert found[0, 1] == pytest.approx(1.5)


def test_a_new_gap_where_training_had_none_is_the_mean():
    assert features(NORMAL, [np.nan]).tolist() == [[0.0]]


def test_skewed_numbers_get_their_rank():
    values = np.random.default_rng(0).lognormal(0, 2, 2000)
    encoder = NumberEncoder.fit(values)
    assert encoder.names == ("value", "rank")
    found = encoder.transform(NumberColumn(values), where=str)
    assert (np.diff(found[np.argsort(values), 1]) >= -1e-6).all()
    exact = np.argsort(np.argsort(values)) / len(values)
    assert np.corrcoef(found[:, 1], exact)[0, 1] > 0.995


def test_mostly_zero_columns_keep_what_is_not_zero():
    values = np.zeros(1000)
    values[:100] = np.random.default_rng(0).lognormal(8, 1, 100)
    encoder = NumberEncoder.fit(values)
    assert encoder.scale > 0
    assert len(encoder.beyond(values)) < 5


@pytest.mark.parametrize(
    "values",
    [[1e308, -1e308, 0.0, 5.0], [np.inf, 1.0, 2.0, 3.0], [1e-300, 2e-300, 3e-300], [7.0, 7.0, np.nan], [np.nan, 0.0]],
)
def test_extreme_columns_stay_finite(values):
    found = features(values)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()


def test_one_value_and_gaps_leave_only_the_indicator():
    assert NumberEncoder.fit(np.array([7.0, 7.0, np.nan])).names == ("missing",)


def test_texts_in_the_style_of_training_are_read_and_others_refused():
    encoder = NumberEncoder.fit(np.array([1.5, 2.5, 1000.0]), style="comma")
    column = column_of(["1,5", "1.000", "?", None], "t")
    assert encoder.read(column, where=str)[:2].tolist() == [1.5, 1000.0]
    assert encoder.read(NumberColumn(np.array([3.0])), where=str).tolist() == [3.0]
    with pytest.raises(InputError, match="decimal commas, got a decimal point"):
        encoder.read(NumberColumn(np.array([1.5])), where=str)
    with pytest.raises(InputError, match=r"^t\.csv, row 1: a cell must be a number, as in training, got 'many'"):
        encoder.transform(column_of(["1,5", "many"], "t"), where=lambda row: f"t.csv, row {row}")
    with pytest.raises(InputError, match="must be a number"):
        encoder.transform(TimeColumn(np.array(["2020-01-01"], dtype="datetime64[us]")), where=str)


def test_a_lenient_column_takes_unreadable_cells_for_missing():
    encoder = NumberEncoder.fit(np.array([1.0, 2.0, np.nan]), lenient=True)
    assert encoder.transform(column_of(["1", "many"], "t"), where=str)[1, 0] == 0.0


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=80))
def test_any_numbers_give_finite_features_of_mean_near_zero(values):
    array = np.array(values)
    if not np.isfinite(array).any():
        return
    found = features(array)
    assert np.isfinite(found).all()
    assert np.abs(found.mean(axis=0)).max(initial=0.0) < 1e-3 * max(1.0, np.abs(found).max(initial=0.0))


def test_the_state_is_plain_and_checked():
    encoder = NumberEncoder.fit(np.random.default_rng(0).lognormal(0, 2, 500))
    about = encoder.model_dump(mode="json")
    assert NumberEncoder.restore(about, {}) == encoder
    for bad in ({"scale": -1.0}, {"mean": float("nan")}, {"low": 1e9}, {"ranks": []}, {"more": 1}):
        with pytest.raises(ValueError, match="NumberEncoder"):
            NumberEncoder.restore(about | bad, {})
