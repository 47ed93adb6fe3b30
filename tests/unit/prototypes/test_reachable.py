"""Mirror of src/anchored/prototypes/_reachable.py: closed forms, scipy's answer, what nobody can reach, refusals."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from anchored import InputError
from anchored.prototypes import direct_sum, reachable_margin, simplex


def by_scipy(w, y, nonnegative):
    """Maximise t over (z, t) with t <= (w_y - w_j) . z and |z| <= 1, by sequential quadratic programming."""
    differences = np.delete(w[y] - w, y, axis=0)
    d = w.shape[1]
    answer = minimize(
        lambda x: -x[-1],
        np.append(np.full(d, 0.1), -1.0),
        jac=lambda x: np.append(np.zeros(d), -1.0),
        bounds=[(0 if nonnegative else None, None)] * d + [(None, None)],
        constraints=[
            {"type": "ineq", "fun": lambda x: differences @ x[:-1] - x[-1]},
            {"type": "ineq", "fun": lambda x: 1 - x[:-1] @ x[:-1], "jac": lambda x: np.append(-2 * x[:-1], 0.0)},
        ],
        options={"maxiter": 500, "ftol": 1e-12},
    )
    # Its success flag is no help: at the last digit it reports a line search that found nothing better.
    return -answer.fun


@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize("make", [lambda: simplex(5, 8), lambda: direct_sum(9, 6), lambda: torch.randn(7, 4)])
def test_agrees_with_scipy(make, nonnegative):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        w = make().double()
    expected = [max(0.0, by_scipy(w.numpy(), y, nonnegative)) for y in range(len(w))]
    ours = reachable_margin(w, nonnegative=nonnegative, tolerance=1e-6)
    torch.testing.assert_close(ours, torch.tensor(expected).double(), atol=1e-5, rtol=0)


@pytest.mark.parametrize(("k", "d"), [(2, 2), (10, 64), (50, 50)])
def test_orthant_simplex_has_the_best_margin_for_features_behind_a_relu(k, d):
    margins = reachable_margin(simplex(k, d, orientation="orthant", dtype=torch.float64))
    torch.testing.assert_close(margins, torch.full((k,), math.sqrt(k / (k - 1))).double())


def test_signed_features_reach_the_margin_of_the_paper_s_lemma():
    margins = reachable_margin(simplex(10, 9, dtype=torch.float64), nonnegative=False)
    torch.testing.assert_close(margins, torch.full((10,), 10 / 9).double())


def test_a_random_turn_costs_features_behind_a_relu_a_third_of_their_margin():
    margins = reachable_margin(simplex(100, 512))
    assert 0.55 < margins.min() < 0.65
    assert 0.65 < margins.mean() < 0.72


def test_a_class_that_points_away_from_the_orthant_cannot_be_reached():
    w = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    assert reachable_margin(w)[1] == 0


def test_twins_have_no_margin():
    assert reachable_margin(torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))[:2].tolist() == [0.0, 0.0]


def test_margins_scale_with_the_prototypes():
    w = simplex(4, 6, dtype=torch.float64)
    torch.testing.assert_close(
        reachable_margin(3 * w, tolerance=3e-7), 3 * reachable_margin(w, tolerance=1e-7), atol=1e-6, rtol=0
    )


@pytest.mark.parametrize("tolerance", [0.0, -1.0, math.nan])
def test_refuses_a_tolerance_that_is_not_positive(tolerance):
    with pytest.raises(InputError, match="tolerance must lie in"):
        reachable_margin(torch.eye(3), tolerance=tolerance)
