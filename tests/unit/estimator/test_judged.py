"""Mirror of src/anchored/estimator/judged.py: rates and suspects from logits of models that did not see the labels."""

import numpy as np
import pytest
import torch

from anchored.estimator.judged import JudgedLabels


@pytest.fixture
def judged():
    generator = torch.Generator().manual_seed(0)
    truth = torch.randint(3, (1200,), generator=generator)
    logits = 4.0 * torch.nn.functional.one_hot(truth, 3) + torch.randn(1200, 3, generator=generator)
    given = torch.where(torch.arange(1200) % 4 == 0, (truth + 1) % 3, truth)
    return logits.double(), given, truth


def test_rate_and_suspects_are_found(judged):
    logits, given, truth = judged
    found = JudgedLabels(logits, given, np.array(["a", "b", "c"]))
    assert found.noise.rate == pytest.approx(0.25, abs=0.03)
    assert found.noise.interval[0] <= 0.25 <= found.noise.interval[1]
    issues = found.issues
    assert [issue.rank for issue in issues] == list(range(1, len(issues) + 1))
    assert all(issue.given != issue.suggested for issue in issues)
    right = [given[issue.index] != truth[issue.index] for issue in issues]
    assert np.mean(right) > 0.9


def test_suspects_are_named_by_the_users_rows(judged):
    logits, given, _ = judged
    plain = JudgedLabels(logits, given, np.arange(3))
    moved = JudgedLabels(logits, given, np.arange(3), rows=np.arange(1200) * 2)
    assert [2 * i for i in plain.issues.column("index")] == moved.issues.column("index")
    assert moved.issues[0].id == f"row {moved.issues[0].index}"


def test_weights_count(judged):
    logits, given, truth = judged
    only_wrong_ones = torch.where(given != truth, 3.0, 1.0).double()
    weighted = JudgedLabels(logits, given, np.arange(3), weights=only_wrong_ones)
    assert weighted.noise.rate > JudgedLabels(logits, given, np.arange(3)).noise.rate + 0.15
