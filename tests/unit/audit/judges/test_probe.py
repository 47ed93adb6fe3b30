"""Mirror of src/anchored/audit/judges/probe.py: the same fit as scikit-learn's."""

import importlib

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression

from anchored.audit.judges import Vectors

judge = importlib.import_module("anchored.audit.judges.probe")


def test_one_fit_is_scikit_learns():
    g = torch.Generator().manual_seed(0)
    y = torch.arange(300) % 3
    vectors = Vectors.check(1.5 * torch.eye(3, 4)[y] + torch.randn(300, 4, generator=g), y, 3)
    rows = vectors.standardised
    kept = torch.arange(300) < 200
    ours = judge._Fit(rows, vectors, kept).solve(0.05, rows[200:]).softmax(dim=1)
    # scikit-learn sums the losses: C = 1 / (strength * n)
    model = LogisticRegression(C=1 / (0.05 * 200), max_iter=1000, tol=1e-8).fit(rows[:200].numpy(), y[:200].numpy())
    np.testing.assert_allclose(ours.numpy(), model.predict_proba(rows[200:].numpy()), atol=2e-3)
