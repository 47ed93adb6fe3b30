"""Mirror of src/anchored/audit/judges/knowable.py: an exact test errs as rarely as it says, and sees what is there."""

import pytest
import torch
from scipy.stats import binom

from anchored.audit import knowable
from anchored.audit.judges.knowable import LEVEL, chance, p_value


def test_of_many_random_sets_hardly_one_is_taken_for_knowable():
    g = torch.Generator().manual_seed(0)
    found = 0
    for _ in range(300):
        labels = torch.multinomial(torch.tensor([0.6, 0.3, 0.1]), 150, replacement=True, generator=g)
        found += knowable(torch.randn(150, 3, generator=g) + torch.tensor([1.0, 0.5, 0.0]), labels)
    assert found <= binom.ppf(0.999, 300, LEVEL)


def test_rare_classes_that_are_known_are_something_to_know():
    """One class is 95 % of all; nobody beats naming it, but the others are ranked far above chance."""
    g = torch.Generator().manual_seed(0)
    labels = (torch.rand(1000, generator=g) < 0.05).long()
    said = torch.stack([torch.full((1000,), 3.0), 1.5 * labels + 0.5 * torch.randn(1000, generator=g)], dim=1)
    assert int((said.argmax(dim=1) == 1).sum()) < 10
    assert knowable(said, labels)


def test_the_first_test_is_binomial():
    labels = torch.tensor([0] * 12 + [1] * 10)
    said = torch.zeros(22, 2)
    said[12:, 1] = 1.0  # ten named 1, all rightly
    assert p_value(said, labels) <= 2 * 0.5**10 * 1.000001


def test_a_class_that_nobody_has_is_not_lifted():
    labels = torch.arange(100) % 2
    said = torch.nn.functional.one_hot(labels, 3).double()
    assert knowable(said, labels)


def test_the_largest_class():
    assert chance(torch.tensor([2, 2, 0])) == pytest.approx(2 / 3)
