"""Mirror of src/anchored/estimator/regression.py: beyond scikit-learn's own checks; those are in tests/contract."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits, make_blobs
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from anchored import AnchoredRegression, AnchoredRidge, InputError
from anchored.noise import symmetric


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(300, centers=4, n_features=3, cluster_std=2.0, random_state=0)
    return X, y


def test_with_a_ridge_regressor_it_is_anchored_ridge(blobs):
    X, y = blobs
    ours = AnchoredRegression(make_pipeline(StandardScaler(), Ridge(3.0)), random_state=0).fit(X, y)
    raw = ours.decision_function(X) * ours.temperature_
    closed = AnchoredRidge(3.0).fit(X, y)
    np.testing.assert_allclose(raw, closed.decision_function(X) * closed.temperature_, atol=1e-9)


def test_leave_one_out_folds_give_the_closed_forms_leave_one_out(blobs):
    X, y = blobs
    X, y = (X[:60] - X[:60].mean(axis=0)) / X[:60].std(axis=0), y[:60]
    ours = AnchoredRegression(Ridge(3.0), folds=60).fit(X, y)
    closed = AnchoredRidge(3.0).fit(X, y)
    np.testing.assert_allclose(
        ours.oof_decision_function_ * ours.temperature_, closed.loo_decision_function_ * closed.temperature_, atol=1e-9
    )


def test_boosted_trees_onto_anchors_resist_what_boosted_trees_learn():
    X, y = load_digits(n_class=4, return_X_y=True)
    train, test = train_test_split(np.arange(len(y)), random_state=0)
    noisy = symmetric(torch.from_numpy(y[train]), 0.4, 4, generator=torch.Generator().manual_seed(0)).labels.numpy()
    boosting = HistGradientBoostingRegressor(max_iter=30)
    model = AnchoredRegression(boosting, folds=3, random_state=0).fit(X[train], noisy)
    usual = HistGradientBoostingClassifier(random_state=0).fit(X[train], noisy).score(X[test], y[test])
    assert model.score(X[test], y[test]) > usual + 0.03
    assert abs(model.noise_rate_ - 0.4) < 0.12
    assert model.noise_interval_[0] < model.noise_rate_ < model.noise_interval_[1]
    first = model.label_issues_.column("index")[:100]
    assert (noisy != y[train])[first].mean() > 0.9


def test_a_regressor_of_one_output_is_fitted_per_coordinate(blobs):
    X, y = blobs
    single = AnchoredRegression(SVR(), random_state=0).fit(X, y)
    assert isinstance(single.regressor_, MultiOutputRegressor)
    assert len(single.regressor_.estimators_) == 3
    several = AnchoredRegression(KNeighborsRegressor(), random_state=0).fit(X, y)
    assert isinstance(several.regressor_, KNeighborsRegressor)
    assert isinstance(AnchoredRegression(SVR(), random_state=0).fit(X, y % 2).regressor_, SVR)


def test_the_given_regressor_is_left_alone(blobs):
    regressor = LinearRegression()
    AnchoredRegression(regressor).fit(*blobs)
    assert not hasattr(regressor, "coef_")


def test_a_seed_gives_the_same_folds(blobs):
    X, y = blobs
    one, two = (AnchoredRegression(LinearRegression(), random_state=5).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.oof_decision_function_, two.oof_decision_function_)
    other = AnchoredRegression(LinearRegression(), random_state=6).fit(X, y)
    assert not np.array_equal(one.oof_decision_function_, other.oof_decision_function_)


def test_refusals(blobs):
    X, y = blobs
    with pytest.raises(InputError, match="got one class only, 0; add samples"):
        AnchoredRegression().fit(X, np.zeros(300, dtype=int))
    with pytest.raises(InputError, match="folds must be at least 2"):
        AnchoredRegression(LinearRegression(), folds=1).fit(X, y)
    with pytest.raises(InputError, match="regressor must be a scikit-learn regressor, got 'boosting'"):
        AnchoredRegression("boosting").fit(X, y)
