"""Mirror of src/anchored/noise/_transition.py: rows drawn as asked, impossible labels never, refusals."""

import math

import pytest
import torch

from anchored import InputError, noise
from anchored.noise._transition import draw_from_rows


def test_realised_rows_follow_the_matrix():
    matrix = torch.rand(6, 6, generator=torch.Generator().manual_seed(0)).double()
    matrix = matrix / matrix.sum(dim=1, keepdim=True)
    n = 30_000
    receipt = noise.transition(torch.arange(6).repeat_interleave(n), matrix).check()
    chi_square = (n * (receipt.matrix - matrix) ** 2 / matrix).sum().item()  # 30 degrees of freedom
    assert 5 < chi_square < 75


def test_identity_changes_nothing():
    labels = torch.randint(7, (1000,), generator=torch.Generator().manual_seed(0))
    assert torch.equal(noise.transition(labels, torch.eye(7)).labels, labels)


def test_a_label_of_probability_zero_is_never_drawn():
    # Thirds do not sum to one in doubles, so a careless last step would leave room behind the last possible label.
    row = torch.tensor([0.0, 1 / 3, 1 / 3, 1 / 3, 0.0]).double()
    receipt = noise.transition(torch.full((200_000,), 4), row.expand(5, 5))
    assert torch.bincount(receipt.labels, minlength=5)[[0, 4]].tolist() == [0, 0]


def test_many_rows_on_one_line_do_not_disturb_one_another():
    rows = torch.eye(1000, dtype=torch.float64).roll(1, dims=1)
    at = torch.arange(1000).repeat(50)
    assert torch.equal(draw_from_rows(rows, at, torch.Generator().manual_seed(0)), (at + 1) % 1000)


@pytest.mark.parametrize(
    ("matrix", "rule"),
    [
        (torch.ones(2, 3), r"square \(k, k\) with k >= 2, got shape \(2, 3\)"),
        (torch.ones(1, 1), "k >= 2"),
        (torch.tensor([[1.5, -0.5], [0.0, 1.0]]), "smallest entry of -0.5"),
        (torch.tensor([[1.0, 0.0], [0.5, 0.4]]), "row 1 with sum 0.9; divide each row by its sum"),
        (torch.tensor([[1.0, 0.0], [math.nan, 1.0]]), "row 1 with sum nan"),
    ],
)
def test_refuses_what_is_no_transition(matrix, rule):
    with pytest.raises(InputError, match=rule):
        noise.transition(torch.tensor([0, 1]), matrix)
