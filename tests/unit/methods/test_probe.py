"""Mirror of src/anchored/methods/probe.py: what is answered is what was cross-fitted, in the inputs' own columns."""

import torch
from sklearn.linear_model import LogisticRegression
from tests.builders import blobs, build_context

from anchored.methods.probe import LinearProbe


def test_it_classifies_as_scikit_learn_does():
    made = blobs(300, distance=2.0)
    probe = LinearProbe(build_context("probe", counts=(100, 100, 100)))
    tensors, left_out = probe.compute(made.inputs.tensor, made.labels, None)
    head = probe.blank_head()
    head.put(tensors)
    x = made.inputs.tensor.numpy()
    reference = LogisticRegression().fit(x, made.labels.numpy()).predict(x)
    assert (head(made.inputs.tensor).argmax(1).numpy() == reference).mean() > 0.97
    assert (left_out.argmax(1) == made.labels).double().mean() > 0.6


def test_many_columns_are_looked_at_along_axes_and_answered_in_columns():
    g = torch.Generator().manual_seed(0)
    y = torch.arange(600) % 3
    X = 2 * torch.eye(3, 300)[y] + torch.randn(600, 300, generator=g)
    X[:, 7] = 5.0  # constant
    probe = LinearProbe(build_context("probe", shape=(300,), counts=(200, 200, 200)))
    tensors, _ = probe.compute(X, y, None)
    assert tensors["slope"].shape == (300, 3)
    head = probe.blank_head()
    head.put(tensors)
    assert (head(X).argmax(1) == y).double().mean() > 0.9
