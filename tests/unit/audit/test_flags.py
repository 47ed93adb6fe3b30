"""Mirror of src/anchored/audit/flags.py: the rule against a loop over classes."""

import pytest
import torch

from anchored import InputError
from anchored.audit import flag


def case(n=400, k=4, seed=0):
    g = torch.Generator().manual_seed(seed)
    posterior = (3 * torch.randn(n, k, generator=g, dtype=torch.float64)).softmax(dim=1)
    return posterior, torch.multinomial(torch.tensor([0.6, 0.3, 0.08, 0.02]), n, replacement=True, generator=g)


@pytest.mark.parametrize("most", [0.0, 0.05, 0.3, 1.0])
def test_the_rule_is_what_a_loop_finds(most):
    posterior, labels = case()
    wanted = torch.zeros(400, dtype=torch.bool)
    for c in range(4):
        members = sorted((i for i in range(400) if labels[i] == c), key=lambda i: float(posterior[i, c]))
        total, spent = sum(float(posterior[i, c]) for i in members), 0.0
        for i in members:
            spent += float(posterior[i, c])
            if float(posterior[i, c]) < 0.5 and spent <= most * total + 1e-9:
                wanted[i] = True
    assert torch.equal(flag(posterior, labels, most_correct=most), wanted)


def test_without_a_limit_whatever_is_more_probably_wrong_is_flagged():
    posterior, labels = case()
    assert torch.equal(flag(posterior, labels, most_correct=1.0), posterior.gather(1, labels[:, None])[:, 0] < 0.5)


def test_if_probabilities_hold_few_correct_labels_of_any_class_are_flagged():
    posterior, labels = case(20_000)
    truth = torch.multinomial(posterior, 1, generator=torch.Generator().manual_seed(1))[:, 0]
    flagged, correct = flag(posterior, labels), truth == labels
    for c in range(3):
        assert flagged[correct & (labels == c)].double().mean() < 0.08
    assert flagged[~correct].double().mean() > 0.3


def test_certain_labels_are_never_flagged_and_shares_are_shares():
    labels = torch.arange(6) % 3
    assert not bool(flag(torch.nn.functional.one_hot(labels, 3).double(), labels).any())
    with pytest.raises(InputError, match="most_correct"):
        flag(torch.eye(3), torch.arange(3), most_correct=1.5)
