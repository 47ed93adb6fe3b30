"""Mirror of src/anchored/prototypes/_lbfgs.py: known minima, and problems that do not disturb each other."""

from itertools import pairwise

import torch

from anchored.prototypes._lbfgs import minimize


def rosenbrock(x):
    a, b = x[:, 0], x[:, 1]
    value = (1 - a) ** 2 + 100 * (b - a**2) ** 2
    return value, torch.stack([-2 * (1 - a) - 400 * a * (b - a**2), 200 * (b - a**2)], dim=1)


def test_finds_the_minimum_of_a_badly_scaled_quadratic():
    curvature = torch.logspace(0, 4, 12, dtype=torch.float64)
    x = minimize(lambda x: ((curvature * x**2).sum(dim=1) / 2, curvature * x), torch.ones(1, 12).double(), steps=300)
    assert x.abs().max() < 1e-6


def test_finds_the_bottom_of_the_curved_valley_from_several_starts():
    start = torch.tensor([[-1.2, 1.0], [0.0, 0.0], [2.0, -1.0]], dtype=torch.float64)
    torch.testing.assert_close(minimize(rosenbrock, start, steps=200), torch.ones(3, 2).double(), atol=1e-6, rtol=0)


def test_a_problem_goes_the_same_way_alone_and_in_a_batch():
    start = torch.tensor([[-1.2, 1.0], [1e3, -50.0]], dtype=torch.float64)
    together = minimize(rosenbrock, start, steps=30)
    alone = torch.cat([minimize(rosenbrock, start[i : i + 1], steps=30) for i in range(2)])
    torch.testing.assert_close(together, alone)


def test_never_goes_up():
    start = torch.randn(20, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 5
    values = [rosenbrock(minimize(rosenbrock, start, steps=steps))[0] for steps in (1, 2, 5, 20)]
    assert all((later <= sooner).all() for sooner, later in pairwise(values))


def test_tolerance_stops_early():
    calls = []

    def counted(x):
        calls.append(1)
        return (x**2).sum(dim=1), 2 * x

    minimize(counted, torch.ones(1, 3).double(), steps=500, tolerance=1e-12)
    assert len(calls) < 40


def test_stays_at_a_minimum():
    x = torch.zeros(2, 3, dtype=torch.float64)
    assert torch.equal(minimize(lambda x: ((x**2).sum(dim=1), 2 * x), x, steps=20), x)
