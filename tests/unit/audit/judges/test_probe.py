"""Mirror of src/anchored/audit/judges/probe.py: a fold is judged by the others alone."""

import importlib

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression

from anchored.audit.judges import Vectors
from anchored.audit.judges.folds import folds_of

judge = importlib.import_module("anchored.audit.judges.probe")


def test_each_fold_is_judged_as_by_scikit_learn_on_the_others(monkeypatch):
    monkeypatch.setattr(judge, "STRENGTHS", (0.05,))
    g = torch.Generator().manual_seed(0)
    y = torch.arange(300) % 3
    vectors = Vectors.check(1.5 * torch.eye(3, 4)[y] + torch.randn(300, 4, generator=g), y, 3)
    rows, fold, said = vectors.standardised.numpy(), folds_of(vectors, 4), judge.probe(vectors).softmax(dim=1)
    for number in range(4):
        seen, asked = (fold != number).numpy(), (fold == number).numpy()
        model = LogisticRegression(C=1 / (0.05 * seen.sum()), max_iter=1000, tol=1e-8).fit(rows[seen], y[seen].numpy())
        np.testing.assert_allclose(said[asked].numpy(), model.predict_proba(rows[asked]), atol=2e-3)
