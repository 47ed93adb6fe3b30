"""Mirror of src/anchored/features/contributions.py: parts add up to logits, and the planted column is named first."""

import numpy as np
import pytest
import torch

from anchored._errors import InputError
from anchored.data import as_columns
from anchored.features import TableEncoder, contributions, reasons


def test_parts_add_up_to_the_logits_and_agree_with_a_loop():
    g = torch.Generator().manual_seed(0)
    x, w = torch.randn(7, 5, generator=g), torch.randn(5, 3, generator=g)
    columns = torch.tensor([0, 0, 1, 2, 2])
    folded = contributions(x, w, columns)
    torch.testing.assert_close(folded.sum(dim=1), x @ w)
    for i in range(7):
        for c in range(3):
            for k in range(3):
                slow = sum(float(x[i, j] * w[j, k]) for j in range(5) if columns[j] == c)
                assert float(folded[i, c, k]) == pytest.approx(slow, abs=1e-5)


def test_sizes_must_fit():
    with pytest.raises(InputError, match="must fit"):
        contributions(torch.zeros(2, 3), torch.zeros(4, 2), torch.zeros(3, dtype=torch.int64))


def planted():
    """A table in which only ``size`` knows the class, fitted by least squares."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 300)
    rows = as_columns(
        {
            "colour": rng.choice(["red", "green", "blue"], 300).tolist(),
            "size": (label * 4 + rng.normal(size=300)).tolist(),
            "age": rng.normal(size=300).tolist(),
        }
    )
    encoder = TableEncoder().fit(rows)
    x = encoder.transform(rows)
    targets = torch.nn.functional.one_hot(torch.from_numpy(label), 2).float() - 0.5
    return encoder, rows, torch.linalg.solve(x.T @ x + torch.eye(x.shape[1]), x.T @ targets), torch.from_numpy(label)


def test_the_column_that_speaks_against_a_wrong_label_comes_first():
    encoder, rows, weights, label = planted()
    index = torch.arange(20)
    wrong = 1 - label[index]
    found = reasons(encoder, rows.subset(index), weights, wrong, label[index])
    first = [row[0] for row in found]
    assert sum(reason.column == "size" and reason.against > 0 for reason in first) >= 18
    assert first[0].value == rows.columns["size"].cells()[0]


def test_a_label_that_nobody_doubts_is_compared_with_the_runner_up():
    encoder, rows, weights, label = planted()
    index = torch.arange(20)
    found = reasons(encoder, rows.subset(index), weights, label[index], label[index], most=2)
    assert all(len(row) == 2 for row in found)
    size = [
        reason.against
        for row in reasons(encoder, rows.subset(index), weights, label[index], label[index])
        for reason in row
        if reason.column == "size"
    ]
    assert sum(value < 0 for value in size) >= 18
