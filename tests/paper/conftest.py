"""Free features and prototypes, descended to the bottom: how the theorems are put to the test."""

import pytest
import torch


@pytest.fixture
def descend():
    """Minimise ``objective()`` over tensors, in place; returns the last value."""

    def run(objective, *variables, steps=200, rounds=3):
        for _ in range(rounds):  # a fresh curvature model gets out of where the old one has stalled
            optimizer = torch.optim.LBFGS(
                variables,
                max_iter=steps,
                history_size=20,
                tolerance_grad=1e-11,
                tolerance_change=1e-16,
                line_search_fn="strong_wolfe",
            )

            def closure(optimizer=optimizer):
                optimizer.zero_grad()
                value = objective()
                value.backward()
                return value

            optimizer.step(closure)
        return objective().item()

    return run


@pytest.fixture
def normal():
    """Standard normal tensors in float64, with a gradient, from one seed per test."""
    generator = torch.Generator().manual_seed(20220716)

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_()

    return draw


@pytest.fixture
def margins():
    """gamma ``(n,)`` of features ``(n, d)`` with labels ``(n,)`` against prototypes ``(k, d)``."""

    def measure(w, z, y):
        logits = z @ w.T
        own = logits.gather(1, y[:, None]).squeeze(1)
        return own - logits.scatter(1, y[:, None], -torch.inf).amax(dim=1)

    return measure
