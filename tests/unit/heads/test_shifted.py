"""Mirror of src/anchored/heads/shifted.py: the constants reach the logits, and Bayes' rule follows."""

import pytest
import torch
from torch import nn

from anchored._errors import InputError
from anchored.heads import AnchoredHead, CosineHead, LinearHead, ShiftedHead


@pytest.fixture
def features():
    return torch.randn(16, 12, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    "head", [LinearHead(12, 5), AnchoredHead(12, 5), CosineHead(12, 5, scale=30.0), nn.Linear(12, 5)]
)
def test_each_class_gets_its_constant(features, head):
    shift = torch.tensor([1.0, -2.0, 0.0, 4.0, 0.5])
    found = ShiftedHead(head, shift)(features)
    for j, constant in enumerate(shift.tolist()):
        torch.testing.assert_close(found[:, j], head(features)[:, j] + constant)


def test_taking_the_log_prior_off_gives_the_posterior_of_equally_frequent_classes(features):
    head, prior = LinearHead(12, 3), torch.tensor([0.7, 0.2, 0.1])
    posterior = head(features).softmax(dim=1)
    expected = posterior / prior
    expected = expected / expected.sum(dim=1, keepdim=True)
    torch.testing.assert_close(ShiftedHead(head, -prior.log())(features).softmax(dim=1), expected)


def test_nothing_is_left_to_train_and_the_source_stays_trainable(features):
    head = LinearHead(12, 3)
    shifted = ShiftedHead(head, torch.ones(3))
    assert [p for p in shifted.parameters() if p.requires_grad] == []
    assert all(p.requires_grad for p in head.parameters())
    assert "shift" in shifted.state_dict()


def test_the_shift_is_a_copy(features):
    shift = torch.zeros(3)
    head = ShiftedHead(LinearHead(12, 3), shift)
    shift += 1
    assert head.shift.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("shift", [torch.zeros(4), torch.zeros(3, 1), torch.tensor([0.0, 1.0, torch.inf])])
def test_refuses_a_shift_of_another_length_or_without_end(shift):
    with pytest.raises(InputError, match=r"shift must hold one finite number per class, \(3,\)"):
        ShiftedHead(LinearHead(12, 3), shift)
