"""Mirror of src/anchored/estimator/ridge.py: what scikit-learn's checks do not ask; those are in tests/contract."""

import pickle

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anchored import AnchoredRidge, InputError
from anchored.noise import symmetric
from anchored.ridge import fit_ridge


@pytest.fixture(scope="module")
def blobs():
    """Three overlapping classes in five dimensions, named."""
    X, y = make_blobs(400, centers=3, n_features=5, cluster_std=4.0, random_state=0)
    return X, np.array(["ant", "bee", "cat"])[y]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:, X.std(axis=0) > 0], y


def test_it_is_the_door_and_nothing_else(blobs):
    X, y = blobs
    model = AnchoredRidge().fit(X, y)
    codes = np.searchsorted(model.classes_, y)
    plain = fit_ridge(torch.from_numpy(X), torch.from_numpy(codes), 3)
    np.testing.assert_array_equal(model.decision_function(X), plain.logits(torch.from_numpy(X)).numpy())
    np.testing.assert_array_equal(model.loo_decision_function_, plain.loo_logits.numpy())
    assert (model.alpha_, model.temperature_, model.gamma_) == (plain.alpha, plain.temperature, None)
    assert model.loo_log_likelihood_ == plain.loo_log_likelihood


def test_it_predicts_what_scikit_learns_ridge_classifier_predicts(blobs):
    X, y = blobs
    reference = make_pipeline(StandardScaler(), RidgeClassifier(alpha=5.0)).fit(X, y)
    np.testing.assert_array_equal(AnchoredRidge(5.0).fit(X, y).predict(X), reference.predict(X))


def test_noisy_labels_are_survived_counted_and_found(digits):
    X, y = digits
    train, test = train_test_split(np.arange(len(y)), random_state=0)
    noisy = symmetric(torch.from_numpy(y[train]), 0.3, 10, generator=torch.Generator().manual_seed(0)).labels.numpy()
    model = AnchoredRidge(kernel="auto").fit(X[train], noisy)
    assert model.gamma_ is not None
    assert model.score(X[test], y[test]) > 0.95
    assert model.noise_interval_[0] <= 0.3 <= model.noise_interval_[1]
    wrong = noisy != y[train]
    first = model.label_issues_.column("index")[:200]
    assert wrong[first].mean() > 0.97
    judged = model.loo_decision_function_.argmax(axis=1)
    assert (judged == y[train]).mean() > 0.93


def test_probabilities_are_calibrated(blobs):
    X, y = blobs
    again, labels = make_blobs(6000, centers=3, n_features=5, cluster_std=4.0, random_state=0)
    model = AnchoredRidge().fit(X, y)
    p = model.predict_proba(again)
    right = model.predict(again) == np.array(["ant", "bee", "cat"])[labels]
    assert abs(p.max(axis=1).mean() - right.mean()) < 0.03


def test_parts_equal_the_whole(blobs):
    X, y = blobs
    whole = AnchoredRidge().fit(X, y)
    streamed = AnchoredRidge()
    for start in range(0, 400, 90):
        streamed.partial_fit(X[start : start + 90], y[start : start + 90], classes=["ant", "bee", "cat"])
    halves = [AnchoredRidge().partial_fit(X[i::2], y[i::2], classes=["ant", "bee", "cat"]) for i in (0, 1)]
    for other in (
        streamed,
        halves[0].merge(halves[1]),
        AnchoredRidge().fit(X[:50], y[:50]).partial_fit(X[50:], y[50:]),
    ):
        assert other.alpha_ == pytest.approx(whole.alpha_)
        np.testing.assert_allclose(other.predict_proba(X), whole.predict_proba(X), atol=1e-8)
        assert other.noise_rate_ == pytest.approx(whole.noise_rate_, abs=0.01)
        assert not hasattr(other, "loo_decision_function_")
        assert not hasattr(other, "label_issues_")


def test_fewer_rows_than_columns_can_be_added_to(blobs):
    _, y = blobs
    X = np.random.default_rng(0).normal(size=(400, 40)) + (y == "ant")[:, None]
    model = AnchoredRidge(50.0).fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    np.testing.assert_allclose(model.predict_proba(X), AnchoredRidge(50.0).fit(X, y).predict_proba(X), atol=1e-8)


def test_a_part_may_lack_classes_and_be_small(blobs):
    X, y = blobs
    model = AnchoredRidge().partial_fit(X[:1], y[:1], classes=["ant", "bee", "cat"])
    with pytest.raises(InputError, match="at least two classes"):
        model.predict(X)
    model.partial_fit(X[1:], y[1:])
    assert model.score(X, y) == AnchoredRidge().fit(X, y).score(X, y)


def test_files_are_fitted_like_arrays(blobs, tmp_path):
    X, y = blobs
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    pd.DataFrame({f"x{j}": X[:, j] for j in range(5)} | {"kind": y}).to_parquet(tmp_path / "t.parquet")
    whole = AnchoredRidge().fit(X, y)
    for arguments in (("X.npy", y), ("X.npy", tmp_path / "y.npy"), ("t.parquet", "kind")):
        model = AnchoredRidge().fit_file(tmp_path / arguments[0], arguments[1])
        np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), atol=1e-9)
        np.testing.assert_allclose(model.loo_decision_function_, whole.loo_decision_function_, atol=1e-7)
    with pytest.raises(InputError, match=r"one label per row of .*X.npy, got shape \(5,\) for 400 rows"):
        AnchoredRidge().fit_file(tmp_path / "X.npy", y[:5])
    with pytest.raises(InputError, match="cannot read the labels"):
        AnchoredRidge().fit_file(tmp_path / "X.npy", tmp_path / "no.npy")


def test_a_file_of_many_logits_keeps_the_answers_only(blobs, tmp_path, monkeypatch):
    X, y = blobs
    np.save(tmp_path / "X.npy", X)
    monkeypatch.setattr("anchored.estimator.ridge._LOGITS_KEPT", 10)
    model = AnchoredRidge().fit_file(tmp_path / "X.npy", y)
    whole = AnchoredRidge().fit(X, y)
    assert not hasattr(model, "loo_decision_function_")
    np.testing.assert_array_equal(model.model_.left_out.predicted, whole.loo_decision_function_.argmax(axis=1))
    assert model.noise_rate_ == pytest.approx(whole.noise_rate_, abs=0.01)


def test_a_sample_without_weight_is_judged_by_the_model_itself(blobs):
    X, y = blobs
    weights = (np.arange(400) % 4 > 0).astype(float)
    model = AnchoredRidge().fit(X, y, sample_weight=weights)
    short = AnchoredRidge().fit(X[weights > 0], y[weights > 0])
    np.testing.assert_allclose(model.loo_decision_function_[weights > 0], short.loo_decision_function_)
    np.testing.assert_allclose(model.loo_decision_function_[weights == 0], short.decision_function(X[weights == 0]))
    assert set(model.label_issues_.column("index")) <= set(np.flatnonzero(weights))


def test_constant_columns_are_said(blobs):
    X, y = blobs
    padded = np.column_stack([np.ones(400), X, np.full(400, 1e8)])
    with pytest.warns(UserWarning, match="2 of 7 columns do not vary and are left out: 0, 6"):
        model = AnchoredRidge().fit(padded, y)
    assert model.constant_columns_ == (0, 6)
    np.testing.assert_allclose(model.predict_proba(padded), AnchoredRidge().fit(X, y).predict_proba(X), atol=1e-9)


def test_a_column_of_a_hundred_million_plus_little_works(blobs):
    X, y = blobs
    coarse = np.round(X * 64) / 64
    far = AnchoredRidge().fit(coarse + 1e8, y)
    near = AnchoredRidge().fit(coarse, y)
    np.testing.assert_allclose(far.predict_proba(coarse + 1e8), near.predict_proba(coarse), atol=1e-5)


def test_long_tails_gain_from_weights_and_from_a_prior():
    X, y = make_blobs([2000, 200, 20], n_features=4, centers=None, cluster_std=4.0, random_state=1)
    again, truth = make_blobs([500, 500, 500], n_features=4, centers=None, cluster_std=4.0, random_state=1)
    plain, adjusted, balanced = (
        AnchoredRidge(**options).fit(X, y).score(again, truth)
        for options in ({}, {"prior": "uniform"}, {"class_weight": "balanced"})
    )
    assert adjusted > plain + 0.02
    assert balanced > plain + 0.02


def test_dictionaries_by_class(blobs):
    X, y = blobs
    shares = {"ant": 0.8, "bee": 0.1, "cat": 0.1}
    tilted = AnchoredRidge(prior=shares).fit(X, y)
    assert (tilted.predict(X) == "ant").mean() > (AnchoredRidge().fit(X, y).predict(X) == "ant").mean()
    assert AnchoredRidge(class_weight={"ant": 5.0}).fit(X, y).model_.shares[0] > 0.5


def test_it_lives_in_scikit_learns_world(blobs):
    X, y = blobs
    frame = pd.DataFrame(X, columns=list("abcde"))
    search = GridSearchCV(AnchoredRidge(), {"alpha": [1.0, 100.0]}, cv=3).fit(frame, y)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict_proba(frame), search.best_estimator_.predict_proba(frame))
    assert clone(AnchoredRidge(kernel="rbf", landmarks=7)).get_params()["landmarks"] == 7
    assert list(again.feature_names_in_) == list("abcde")


def test_two_classes_have_log_odds():
    X, y = load_iris(return_X_y=True)
    model = AnchoredRidge().fit(X[:100], y[:100])
    assert model.decision_function(X[:7]).shape == (7,)
    assert model.loo_decision_function_.shape == (100, 2)
    assert model.score(X[:100], y[:100]) == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": -1.0}, r"alpha must lie in \(0, inf\), got -1.0"),
        ({"kernel": "rbff"}, "unknown kernel 'rbff'"),
        ({"class_weight": {"ant": 0.0}}, "class_weight must give a positive number for every class, got 0.0 for 'ant'"),
        ({"prior": {"ant": 1.0}}, "prior must give a positive number for every class, got None for 'bee'"),
        ({"prior": [0.3, 0.3, 0.4]}, "prior must be None, a name or a dictionary by class, got list"),
        ({"landmarks": 0}, "landmarks must be at least 1"),
    ],
)
def test_settings_out_of_range_are_refused(blobs, options, message):
    with pytest.raises(InputError, match=message):
        AnchoredRidge(**options).fit(*blobs)


def test_bad_data_is_refused(blobs):
    X, y = blobs
    with pytest.raises(InputError, match="got one class only, 'ant'; add samples of another"):
        AnchoredRidge().fit(X, np.full(400, "ant"))
    with pytest.raises(InputError, match="sample_weight must not be negative"):
        AnchoredRidge().fit(X, y, sample_weight=-np.ones(400))
    with pytest.raises(InputError, match="every sample_weight is zero"):
        AnchoredRidge().fit(X, y, sample_weight=np.zeros(400))
    with pytest.raises(InputError, match=r"sample_weight must be \(400,\)"):
        AnchoredRidge().fit(X, y, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="infinity"):
        AnchoredRidge().fit(np.where(X > 0, np.inf, X), y)


def test_gaps_are_filled_in(blobs):
    X, y = blobs
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    assert AnchoredRidge().fit(gaps, y).score(X, y) > AnchoredRidge().fit(X, y).score(X, y) - 0.1


def test_parts_that_do_not_fit_are_refused(blobs):
    X, y = blobs
    model = AnchoredRidge().partial_fit(X, y, classes=["ant", "bee", "cat"])
    with pytest.raises(InputError, match="classes must list all classes in the first call"):
        AnchoredRidge().partial_fit(X, y)
    with pytest.raises(InputError, match="y holds 'dog', which is not among classes"):
        model.partial_fit(X[:1], ["dog"])
    with pytest.raises(InputError, match="classes must be those of the first call"):
        model.partial_fit(X, y, classes=["ant", "bee"])
    with pytest.raises(ValueError, match="X has 4 features, but AnchoredRidge is expecting 5"):
        model.partial_fit(X[:, :4], y)
    with pytest.raises(AttributeError, match="has no attribute 'partial_fit'"):
        AnchoredRidge(kernel="rbf").partial_fit  # noqa: B018
    with pytest.raises(InputError, match="class_weight='balanced' cannot be known from a part"):
        AnchoredRidge(class_weight="balanced").partial_fit(X, y, classes=["ant", "bee", "cat"])


def test_models_that_do_not_fit_are_not_merged(blobs):
    X, y = blobs
    model = AnchoredRidge().fit(X, y)
    with pytest.raises(InputError, match=r"different classes, \(ant, bee, cat\) and \(ant, bee\)"):
        model.merge(AnchoredRidge().fit(X[y != "cat"], y[y != "cat"]))
    with pytest.raises(InputError, match="cannot merge models of 5 and of 4 features"):
        model.merge(AnchoredRidge().fit(X[:, :4], y))
    with pytest.raises(InputError, match="merge needs kernel=None on both sides"):
        model.merge(AnchoredRidge(kernel="rbf").fit(X, y))
