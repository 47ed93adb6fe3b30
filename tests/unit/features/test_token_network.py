"""Mirror of src/anchored/features/token_network.py: padding never counts, and shapes depend on the text alone."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from anchored.features.token_network import mean_over_tokens, run_in_buckets

lists_of_tokens = st.lists(st.lists(st.integers(1, 9), max_size=70), max_size=12)


@given(tokens=lists_of_tokens)
def test_every_text_gets_its_own_answer_in_order(tokens):
    shapes = []

    def network(ids, mask):
        shapes.append(tuple(ids.shape))
        assert (mask.sum(dim=1) > 0).all()
        return torch.stack([(ids * mask).sum(dim=1), mask.sum(dim=1)], dim=1).float()

    if not tokens:
        return
    out = run_in_buckets(tokens, network, pad=0, longest=128)
    assert out[:, 0].tolist() == [sum(text) for text in tokens]
    assert out[:, 1].tolist() == [max(len(text), 1) for text in tokens]
    assert {rows for rows, _ in shapes} == {4}
    assert {length for _, length in shapes} <= {16, 32, 64, 128}


def test_the_longest_bucket_is_what_the_network_takes():
    out = run_in_buckets([[1] * 40], lambda ids, mask: torch.tensor([[ids.shape[1]]] * 4), pad=0, longest=40)
    assert out.tolist() == [[40]]


def test_the_mean_leaves_out_what_does_not_count():
    hidden = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0))
    mask = torch.tensor([[1, 1, 0, 0, 0], [1, 1, 1, 1, 1]])
    out = mean_over_tokens(hidden, mask)
    torch.testing.assert_close(out[0], hidden[0, :2].mean(dim=0))
    torch.testing.assert_close(out[1], hidden[1].mean(dim=0))
    assert mean_over_tokens(hidden, torch.zeros(2, 5)).abs().sum() == 0
