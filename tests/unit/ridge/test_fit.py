"""Mirror of src/anchored/ridge/fit.py: what is chosen and why, weights and copies, parts, refusals."""

import importlib
import math

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge as Reference

from anchored import noise
from anchored._errors import InputError
from anchored.ridge import ArrayRows, as_targets, fit_gathered, fit_ridge, fit_rows, gather, gather_chunk, join
from anchored.ridge import sample as sampling

fit_module = importlib.import_module("anchored.ridge.fit")


def fit(X, y, k=4, **options):
    labels = y if isinstance(y, torch.Tensor) else torch.from_numpy(y)
    return fit_ridge(torch.from_numpy(X), labels, k, **options)


def same(one, other, X, **tolerance):
    X = torch.from_numpy(X)
    torch.testing.assert_close(one.logits(X), other.logits(X), **({"rtol": 1e-6, "atol": 1e-6} | tolerance))


def test_the_strength_is_the_one_whose_left_out_labels_are_likeliest(data):
    X, y, _ = data
    model = fit(X, y)
    best = max(model.choices, key=lambda choice: choice.log_likelihood)
    assert model.alpha == best.alpha
    assert len(model.choices) >= 16
    assert model.loo_log_likelihood == pytest.approx(best.log_likelihood, abs=1e-9)
    given = model.loo_logits.log_softmax(dim=1)[torch.arange(80), torch.from_numpy(y)].mean()
    assert model.loo_log_likelihood == pytest.approx(float(given), abs=1e-12)


def test_leave_one_out_logits_are_those_of_a_refit(data):
    X, y, _ = data
    model = fit(X, y, alpha=3.0)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for i in (0, 17, 79):
        others = np.arange(80) != i
        slow = Reference(3.0).fit(Z[others], np.eye(4)[y[others]]).predict(Z[i : i + 1])[0]
        raw = model.loo_logits[i].numpy() * model.temperature
        np.testing.assert_allclose(raw, 4 / 3 * (slow - 1 / 4), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf"}, {"class_weight": "balanced"}])
def test_a_weight_is_a_number_of_copies(data, options):
    X, y, _ = data
    times = np.random.default_rng(3).integers(0, 4, size=80)
    again = np.repeat(np.arange(80), times)
    weighted = fit(X, y, weights=torch.from_numpy(times.astype(float)), **options)
    copied = fit(X[again], y[again], **options)
    assert weighted.alpha == pytest.approx(copied.alpha)
    same(weighted, copied, X)
    first = np.concatenate([[0], np.cumsum(times[times > 0])[:-1]])
    torch.testing.assert_close(weighted.loo_logits, copied.loo_logits[first], rtol=1e-6, atol=1e-6)


def test_copies_with_other_labels_leave_together(data):
    X, y, _ = data
    again = np.concatenate([X, X[:5]])
    labels = np.concatenate([y, (y[:5] + 1) % 4])
    model = fit(again, labels, alpha=2.0)
    mean, std = again.mean(axis=0), again.std(axis=0)
    slow = Reference(2.0).fit((X[5:] - mean) / std, np.eye(4)[y[5:]])
    others = np.concatenate([np.arange(1, 80), np.arange(81, 85)])
    slow.fit((again[others] - mean) / std, np.eye(4)[labels[others]])
    expected = 4 / 3 * (slow.predict((X[:1] - mean) / std)[0] - 1 / 4)
    for i in (0, 80):
        np.testing.assert_allclose(model.loo_logits[i].numpy() * model.temperature, expected, rtol=1e-6, atol=1e-9)


def test_parts_that_are_joined_give_the_fit_on_all(data):
    X, y, _ = data
    P = as_targets(y, 4)
    pieces = [gather_chunk(X[a:b], P[a:b]) for a, b in ((0, 9), (9, 50), (50, 80))]
    same(fit_gathered(join(pieces)), fit(X, y), X)


def test_what_was_gathered_once_need_not_be_gathered_again(data):
    X, y, c = data
    rows, P = ArrayRows(X), as_targets(y, 4)
    same(fit_rows(rows, P, c, gathered=gather(rows, P, c)), fit_rows(rows, P, c), X)


def test_beyond_the_sample_every_row_still_has_its_exact_answer(data, monkeypatch):
    X, y, _ = data
    whole = fit(X, y, alpha=1.0)
    monkeypatch.setattr(sampling, "_MOST", 30)
    monkeypatch.setattr(sampling, "_FEWEST", 30)
    for kernel in (None, "rbf"):
        part = fit(X, y, kernel=kernel, alpha=1.0)
        assert part.loo_logits.shape == (80, 4)
        assert part.rows == 80
    linear = fit(X, y, alpha=1.0)
    torch.testing.assert_close(linear.loo_logits * linear.temperature, whole.loo_logits * whole.temperature)


def test_a_kernel_is_taken_where_a_line_will_not_do():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 2))
    ring = (np.hypot(*X.T) < 0.6).astype(np.int64)
    curved = fit(X, ring, 2, kernel="auto")
    assert curved.gamma is not None
    assert (curved.loo_logits.argmax(dim=1).numpy() == ring).mean() > 0.93
    straight = (X[:, 0] + 0.02 * rng.normal(size=300) > 0).astype(np.int64)
    linear = fit(X, straight, 2, kernel="auto")
    best = {kind: max(c.log_likelihood for c in linear.choices if (c.gamma is None) == kind) for kind in (True, False)}
    assert (linear.gamma is None) == (best[True] >= best[False])


def test_symmetric_noise_leaves_nearly_all_predictions(builder):
    X, y, _ = builder(3000, 6, 4)
    flipped = noise.symmetric(torch.from_numpy(y), 0.5, 4, generator=torch.Generator().manual_seed(0)).labels
    clean, noisy = fit(X, y), fit(X, flipped)
    agree = (clean.logits(torch.from_numpy(X)).argmax(1) == noisy.logits(torch.from_numpy(X)).argmax(1)).double().mean()
    assert agree > 0.9


def test_soft_labels_equal_hard_ones_that_are_repeated(data):
    X, _, _ = data
    P = torch.from_numpy(np.random.default_rng(0).integers(0, 4, size=(80, 4)) + np.eye(4)[np.arange(80) % 4]).double()
    copies = P.long().flatten()
    labels = torch.arange(4).repeat(80).repeat_interleave(copies)
    again = torch.arange(80).repeat_interleave(P.sum(dim=1).long())
    soft = fit(X, P / P.sum(dim=1, keepdim=True), weights=P.sum(dim=1), alpha=1.5)
    hard = fit(X[again.numpy()], labels, alpha=1.5)
    same(soft, hard, X)


def test_more_features_than_rows(builder):
    X, y, _ = builder(40, 120, 3)
    model = fit(X, y, 3)
    assert model.loo_logits.shape == (40, 3)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    reference = Reference(model.alpha).fit(Z, np.eye(3)[y])
    expected = 1.5 * (reference.predict(Z) - 1 / 3) / model.temperature
    np.testing.assert_allclose(model.logits(torch.from_numpy(X)).numpy(), expected, rtol=1e-6, atol=1e-8)


def test_a_prior_shifts_the_logits_by_the_ratio_of_shares(data):
    X, y, _ = data
    plain = fit(X, y)
    shares = np.bincount(y, minlength=4) / 80
    uniform = fit(X, y, prior="uniform")
    shift = uniform.logits(torch.from_numpy(X)) - plain.logits(torch.from_numpy(X))
    torch.testing.assert_close(shift, torch.from_numpy(np.log(0.25 / shares)).expand(80, 4))
    same(fit(X, y, prior=torch.from_numpy(shares)), plain, X)
    assert torch.equal(uniform.loo_logits, plain.loo_logits)


def test_balanced_weights_give_every_class_the_same_share(data):
    X, y, _ = data
    torch.testing.assert_close(fit(X, y, class_weight="balanced").shares, torch.full((4,), 0.25).double())
    by_hand = torch.from_numpy(80 / (4 * np.bincount(y)))
    same(fit(X, y, class_weight=by_hand), fit(X, y, class_weight="balanced"), X)


def test_a_class_without_samples_is_never_the_likeliest(data):
    X, y, _ = data
    model = fit(X, y, 5, prior="uniform", class_weight="balanced")
    assert torch.isfinite(model.logits(torch.from_numpy(X))).all()
    assert not (model.loo_logits.argmax(dim=1) == 4).any()


def test_the_grid_goes_on_if_its_end_is_best():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 30))
    model = fit(X, rng.integers(2, size=60), 2)
    assert model.alpha <= max(choice.alpha for choice in model.choices)
    assert model.loo_log_likelihood >= -math.log(2) - 0.05


def test_ten_samples_of_two_classes_are_ordinary():
    X, y = np.arange(10.0)[:, None], (np.arange(10) >= 5).astype(np.int64)
    model = fit(X, y, 2)
    assert (model.logits(torch.from_numpy(X)).argmax(dim=1).numpy() == y).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 1}, "k must be at least 2, got 1; a single class needs no classifier"),
        ({"labels": torch.zeros(80, dtype=torch.int64)}, "at least two classes, got class 0 only; add samples"),
        ({"labels": torch.zeros(79, dtype=torch.int64)}, "one entry per row of X, got 79 for 80 rows"),
        ({"k": 81}, "at least as many rows as classes, got 80 rows for 81 classes"),
        ({"alpha": 0.0}, r"alpha must lie in \(0, inf\), got 0.0; give a positive number"),
        ({"alpha": [1.0, -1.0]}, r"alpha must lie in \(0, inf\), got -1.0"),
        ({"alpha": []}, "alpha is an empty list"),
        ({"alpha": "cv"}, "alpha must be a positive number, several of them, or 'loo', got 'cv'"),
        ({"kernel": "rbff"}, "unknown kernel 'rbff'; did you mean 'rbf'"),
        ({"landmarks": 0}, "landmarks must be at least 1"),
        ({"weights": -torch.ones(80)}, "weights must be 80 finite numbers >= 0"),
        ({"weights": torch.zeros(80)}, "every weight is zero"),
        ({"class_weight": "even"}, "unknown class_weight 'even'"),
        ({"class_weight": torch.tensor([1.0, 1.0, 1.0, 0.0])}, "class_weight must be 4 positive numbers"),
        ({"prior": torch.ones(3)}, r"prior must be 4 positive class shares, or 'uniform', got shape \(3,\)"),
        ({"prior": "even"}, "unknown prior 'even'"),
    ],
)
def test_refusals(data, change, message):
    X, y, _ = data
    arguments = {"labels": torch.from_numpy(y), "k": 4} | change
    with pytest.raises(InputError, match=message):
        fit_ridge(torch.from_numpy(X), arguments.pop("labels"), arguments.pop("k"), **arguments)


def test_nan_is_named(data):
    X, y, _ = data
    X[3, 2] = np.nan
    with pytest.raises(InputError, match="X must be finite, got nan in row 3, column 2"):
        fit(X, y)


def test_nothing_to_join_is_refused():
    with pytest.raises(InputError, match="X has no rows"):
        join([])


@pytest.mark.parametrize(
    ("values", "best", "asked"),
    [
        ([1.0, 2.0, 3.0, 2.0, 1.0], 2, {1, 2, 3}),
        ([3.0, 2.0, 1.0, 0.0, 0.0], 0, {0, 1, 2}),
        ([0.0, 1.0, 2.0, 3.0, 4.0], 4, {1, 2, 3, 4}),
        ([5.0], 0, {0}),
    ],
)
def test_the_width_is_found_by_climbing(values, best, asked):
    told = []
    found = fit_module._highest(lambda place: told.append(place) or values[int(place)], list(range(len(values))))
    assert found == best
    assert set(told) == asked
    assert len(told) == len(asked)


def test_a_given_width_is_kept_and_landmarks_double_only_if_it_pays(monkeypatch):
    generator = torch.Generator().manual_seed(0)
    y = torch.arange(300) % 3
    X = torch.eye(3)[y] + 0.4 * torch.randn(300, 3, generator=generator)
    monkeypatch.setattr(fit_module, "_FEW_LANDMARKS", 20)
    few = fit_ridge(X, y, 3, kernel="rbf", gamma=0.3)
    assert few.gamma == 0.3
    monkeypatch.setattr(fit_module, "_WORTH_DOUBLING", -10.0)
    many = fit_ridge(X, y, 3, kernel="rbf", gamma=0.3)
    assert few.choice.log_likelihood <= many.choice.log_likelihood + 1e-12
    tried = {len(few.kernel.landmarks), len(many.kernel.landmarks)}
    assert tried <= {20, 40, 80, 160, 300}
    with pytest.raises(InputError, match="gamma"):
        fit_ridge(X, y, 3, kernel="rbf", gamma=0.0)
