"""Mirror of src/anchored/methods/probe.py: logistic regression, as scikit-learn has it."""

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from tests.builders import blobs

from anchored.methods.probe import _STRENGTHS, _logistic


def test_the_solution_is_that_of_scikit_learn():
    data = blobs(300, distance=1.0)
    x = data.inputs.tensor.double()
    weights = torch.ones(300, dtype=torch.float64)
    start = None
    for strength in _STRENGTHS:
        start = slope, offset = _logistic(x, data.labels, weights, 3, strength, start)
        reference = LogisticRegression(C=1 / strength, max_iter=1000, tol=1e-10).fit(x.numpy(), data.labels.numpy())
        ours = (x @ slope + offset).softmax(1).numpy()
        np.testing.assert_allclose(ours, reference.predict_proba(x.numpy()), atol=2e-4)


def test_a_weight_of_two_is_a_copy():
    data = blobs(90, distance=1.0)
    x, labels = data.inputs.tensor.double(), data.labels
    twice = torch.ones(90, dtype=torch.float64)
    twice[:30] = 2
    one = _logistic(x, labels, twice, 3, 1.0, None)
    index = torch.cat([torch.arange(90), torch.arange(30)])
    other = _logistic(x[index], labels[index], torch.ones(120, dtype=torch.float64), 3, 1.0, None)
    torch.testing.assert_close(one[0], other[0], atol=1e-4, rtol=1e-4)
