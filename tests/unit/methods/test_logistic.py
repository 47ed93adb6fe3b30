"""Mirror of src/anchored/methods/logistic.py: logistic regression, as scikit-learn has it."""

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from tests.builders import blobs

from anchored.methods.logistic import STRENGTHS, LogisticFit


def data(n=300):
    made = blobs(n, distance=1.0)
    return made.inputs.tensor.float(), made.labels, torch.nn.functional.one_hot(made.labels, 3)


def test_the_solution_is_that_of_scikit_learn():
    x, labels, hot = data()
    fit = LogisticFit(x, hot, torch.ones(300))
    for strength in STRENGTHS:
        fit.solve(strength)
        # scikit-learn sums the losses: C = 1 / (strength * n)
        reference = LogisticRegression(C=1 / (300 * strength), max_iter=1000, tol=1e-10).fit(x.numpy(), labels.numpy())
        np.testing.assert_allclose(fit.answer(x).softmax(1).numpy(), reference.predict_proba(x.numpy()), atol=5e-3)


def test_a_weight_of_two_is_a_copy_and_of_none_is_absence():
    x, _, hot = data(90)
    twice = torch.ones(90)
    twice[:30], twice[60:] = 2, 0
    one = LogisticFit(x, hot, twice)
    index = torch.cat([torch.arange(60), torch.arange(30)])
    other = LogisticFit(x[index], hot[index], torch.ones(90))
    for fit in (one, other):
        fit.solve(0.1)
    torch.testing.assert_close(one.slope, other.slope, atol=1e-3, rtol=1e-3)


def test_nobody_to_learn_from_says_nothing():
    x, _, hot = data(30)
    fit = LogisticFit(x, hot, torch.zeros(30))
    fit.solve(0.1)
    assert not bool(fit.answer(x).any())
