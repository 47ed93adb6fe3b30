"""Mirror of src/anchored/estimator/rows.py: every way to hand over a table gives the same rows, and numbers stay."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from tests.customers import HEADING, customers

from anchored import AnchoredClassifier, AnchoredRidge, InputError
from anchored.estimator import AnchoredRegression

ROWS, CLEAN = customers(400, wrong=0.0, seed=3)


def frame(rows=ROWS):
    table = pd.DataFrame(rows, columns=HEADING).drop(columns="income")
    table["age"] = pd.to_numeric(table["age"])
    table["joined"] = pd.to_datetime(table["joined"])
    table["occupation"] = table["occupation"].astype("category")
    return table


@pytest.fixture(scope="module")
def fitted():
    return AnchoredRidge().fit(frame(), CLEAN)


@pytest.mark.parametrize("convert", [pl.from_pandas, lambda table: pl.from_pandas(table).to_arrow()])
def test_polars_and_arrow_give_what_pandas_gives(fitted, convert):
    other = AnchoredRidge().fit(convert(frame()), CLEAN)
    assert list(other.feature_names_in_) == list(fitted.feature_names_in_) == HEADING[:-1]
    assert other.n_features_in_ == len(HEADING) - 1
    np.testing.assert_allclose(other.predict_proba(convert(frame())), fitted.predict_proba(frame()), rtol=1e-4)
    assert fitted.score(frame(), CLEAN) > 0.8


def test_a_list_of_rows_with_texts_is_a_table():
    rows = [[31.0, "red"], [None, "blue"], [52.0, "red"], [28.0, "blue"]] * 10
    model = AnchoredRidge().fit(rows, ["a", "b"] * 20)
    assert model.predict([[40.0, "red"], [None, "blue"], [40.0, "never seen"]]).tolist()[:2] == ["a", "b"]
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")


def test_a_category_never_seen_and_a_new_gap_are_handled(fitted):
    new = frame().iloc[:3].copy()
    new["occupation"] = ["astronaut", "clerk", "clerk"]
    new.loc[1, "hours_per_week"] = None
    new.loc[2, "joined"] = pd.NaT  # no gap in training
    assert np.isfinite(fitted.predict_proba(new)).all()


def test_a_missing_column_and_another_order_are_refused(fitted):
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing"):
        fitted.predict(frame().drop(columns="age"))
    with pytest.raises(ValueError, match="same order"):
        fitted.predict(frame()[HEADING[:-1][::-1]])


def test_a_cell_that_cannot_be_read_is_refused_with_its_row_and_column(fitted):
    new = frame().iloc[:3].copy()
    new["age"] = ["31", "old", "40"]
    with pytest.raises(
        InputError, match=r"^X, row 1, column 'age': a cell must be a number, as in training, got 'old'"
    ):
        fitted.predict(new)


def gappy(n=200):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 4))
    labels = (rows[:, 0] + rows[:, 1] > 0).astype(int)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows, labels


@pytest.mark.parametrize(
    "estimator", [AnchoredRidge(), AnchoredClassifier("ridge", noise_rate=None), AnchoredRegression()]
)
def test_gaps_are_filled_and_marked(estimator):
    rows, labels = gappy()
    estimator.fit(rows, labels)
    assert estimator.score(rows, labels) > 0.8
    assert [use.kind for use in estimator.encoder_.uses] == ["number"] * 4
    assert any("missing" in name for name in estimator.encoder_.feature_names)


def test_a_first_gap_at_prediction_counts_as_the_mean():
    rng = np.random.default_rng(0)
    rows = rng.normal(loc=1e6, size=(100, 3))
    model = AnchoredRidge().fit(rows, (rows[:, 0] > 1e6).astype(int))
    assert model.encoder_ is None
    new = rows[:2].copy()
    new[0, 1] = np.nan
    filled = rows[:2].copy()
    filled[0, 1] = rows[:, 1].mean()
    np.testing.assert_allclose(model.predict_proba(new), model.predict_proba(filled))


def test_infinities_are_refused():
    rows, labels = gappy()
    rows[3, 2] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        AnchoredRidge().fit(rows, labels)


@pytest.mark.parametrize("estimator", [AnchoredRidge(), AnchoredClassifier(random_state=0)])
def test_a_sparse_matrix_is_what_it_is_written_out(estimator):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(150, 6)) * (rng.random((150, 6)) < 0.4)
    labels = (rows[:, 0] > 0).astype(int)
    dense = estimator.fit(rows, labels).predict_proba(rows)
    for form in (sp.csr_matrix, sp.coo_array):
        np.testing.assert_array_equal(estimator.fit(form(rows), labels).predict_proba(form(rows)), dense)


def test_a_sparse_matrix_too_large_to_write_out_is_refused():
    with pytest.raises(InputError, match="at most 4 GiB, got 100,000 x 100,000; reduce it first"):
        AnchoredRidge().fit(sp.csr_matrix((100_000, 100_000)), np.arange(100_000) % 2)


def test_numbers_without_gaps_are_not_encoded():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2))
    labels = (rows[:, 0] > 0).astype(int)
    plain = AnchoredRidge().fit(rows, labels)
    named = AnchoredRidge().fit(pd.DataFrame(rows, columns=["a", "b"]), labels)
    assert plain.encoder_ is None
    assert named.encoder_ is None
    np.testing.assert_allclose(plain.loo_decision_function_, named.loo_decision_function_)
    nullable = AnchoredRidge().fit(pd.DataFrame(rows, columns=["a", "b"]).astype("Float64"), labels)
    np.testing.assert_allclose(plain.loo_decision_function_, nullable.loo_decision_function_)
    assert AnchoredRidge().fit(pa.table({"a": rows[:, 0], "b": rows[:, 1]}), labels).encoder_ is None


def test_kinds_say_what_a_column_is():
    table = pd.DataFrame({"zip": [1, 2, 3, 4] * 10, "town": ["a", "b"] * 20})
    labels = (table["zip"] % 2).to_numpy()
    assert AnchoredRidge().fit(table, labels).encoder_.uses[0].kind == "number"
    told = AnchoredRidge(kinds={"zip": "category", "town": "id"}).fit(table, labels)
    assert [use.kind for use in told.encoder_.uses] == ["category", "id"]
    with pytest.raises(InputError, match="kinds must be a dictionary by column"):
        AnchoredRidge(kinds="category").fit(table, labels)


def test_chunks_of_a_table_add_up():
    table = pd.DataFrame({"size": np.arange(40.0) % 7, "town": ["a", "b"] * 20})
    labels = np.arange(40) % 2
    whole = AnchoredRidge().fit(table, labels)
    parts = AnchoredRidge().partial_fit(table[:20], labels[:20], classes=[0, 1])
    parts.partial_fit(table[20:].assign(town=["a", "c"] * 10), labels[20:])
    assert parts.predict(table).tolist() == whole.predict(table).tolist() == labels.tolist()
    with pytest.raises(InputError, match="encoded differently"):
        parts.merge(whole.fit(table.assign(town=["x", "y"] * 20), labels))


def test_labels_must_fit_the_rows(fitted):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        AnchoredRidge().fit(frame(), CLEAN[:-1])
    with pytest.raises(ValueError, match="requires y"):
        AnchoredRidge().fit(frame(), None)


def test_plain_rows_get_the_same_answers_on_the_short_way():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    model = AnchoredRidge().fit(X, y)
    for rows in (X[:1], X, X.astype(np.float32)):
        np.testing.assert_allclose(model.predict_proba(rows), model.predict_proba(rows.tolist()), rtol=1e-6)
    with pytest.raises(ValueError, match="X has 2 features, but AnchoredRidge is expecting 3"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])
    with pytest.raises(ValueError, match="infinity"):
        model.predict(np.array([[np.inf, 0.0, 0.0]]))


def test_constant_columns_of_a_table_are_said_by_name_and_its_features_are_not():
    frame = pd.DataFrame({"town": ["Lima", "Rome"] * 20, "note": ["paid the bill late today"] * 20 + ["none"] * 20})
    with pytest.warns(UserWarning, match="1 of 3 columns do not vary and are left out: fixed"):
        model = AnchoredRidge(kinds={"note": "text"}).fit(frame.assign(fixed="x"), [0, 1] * 20)
    assert model.constant_columns_ == (2,)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AnchoredRidge(kinds={"note": "text"}).fit(frame, [0, 1] * 20)


def test_columns_of_one_name_and_missing_labels_are_refused_in_one_line():
    frame = pd.DataFrame({"town": ["Lima", "Rome"] * 20, "age": range(40)})
    labels = pd.Series(["a", "b"] * 20, dtype="string")
    with pytest.raises(InputError, match=r"^X: column names must differ, got 'age' for columns 2 and 3; rename one$"):
        AnchoredRidge().fit(pd.concat([frame, frame[["age"]]], axis=1), labels)
    with pytest.raises(InputError, match=r"^y: the label is missing \(NaN\) in 1 of 40 rows \(row 3\); drop"):
        AnchoredRidge().fit(frame, labels.mask(np.arange(40) == 3))
