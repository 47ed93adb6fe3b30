"""Mirror of src/anchored/metrics/_margins.py: a slow loop, the simplex's margin, refusals."""

import pytest
import torch

from anchored import InputError, metrics


def test_agrees_with_a_slow_loop():
    g = torch.Generator().manual_seed(0)
    logits, target = torch.randn(40, 6, generator=g, dtype=torch.float64), torch.randint(6, (40,), generator=g)
    rows = zip(logits.tolist(), target.tolist(), strict=True)
    expected = [row[y] - max(value for j, value in enumerate(row) if j != y) for row, y in rows]
    assert metrics.sample_margins(logits, target).tolist() == expected
    assert metrics.minimal_margin(logits, target) == min(expected)


def test_negative_exactly_where_the_sample_is_wrong():
    g = torch.Generator().manual_seed(1)
    logits, target = torch.randn(200, 4, generator=g), torch.randint(4, (200,), generator=g)
    assert torch.equal(metrics.sample_margins(logits, target) > 0, logits.argmax(dim=1) == target)


@pytest.mark.parametrize("k", [2, 3, 10])
def test_features_on_their_own_simplex_vertex_have_the_largest_margin(k):
    gram = torch.full((k, k), -1 / (k - 1), dtype=torch.float64).fill_diagonal_(1)
    torch.testing.assert_close(
        metrics.sample_margins(gram, torch.arange(k)), torch.full((k,), k / (k - 1), dtype=torch.float64)
    )


def test_refuses_what_has_no_margin():
    with pytest.raises(InputError, match=r"logits must be .* k >= 2"):
        metrics.sample_margins(torch.zeros(3, 1), torch.zeros(3, dtype=torch.int64))
    with pytest.raises(InputError, match="one label per sample"):
        metrics.minimal_margin(torch.zeros(3, 2), torch.zeros(2, dtype=torch.int64))


def test_cosine_margins_are_differences_of_cosines():
    rows = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    features = torch.tensor([[3.0, 4.0], [0.0, 0.1]])
    margins = metrics.cosine_margins(features, rows, torch.tensor([0, 1]))
    assert margins["gamma_min"] == pytest.approx(0.6 - 0.8)
    assert margins["gamma_mean"] == pytest.approx((-0.2 + 1.0) / 2)
