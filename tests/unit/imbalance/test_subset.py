"""Mirror of src/anchored/imbalance/_subset.py: counts met, picks fair and nested, refusals."""

import pytest
import torch

from anchored import InputError, imbalance


@pytest.fixture
def labels():
    return torch.randint(4, (400,), generator=torch.Generator().manual_seed(0))


def test_each_class_keeps_as_many_as_asked(labels):
    index = imbalance.subset(labels, (50, 20, 0, 3))
    assert torch.bincount(labels[index], minlength=4).tolist() == [50, 20, 0, 3]
    assert torch.equal(index, index.unique())  # increasing, none twice


def test_every_sample_is_as_likely_to_stay():
    labels = torch.tensor([0, 1, 0, 0, 1, 0])
    generator = torch.Generator().manual_seed(0)
    kept = torch.zeros(6)
    for _ in range(1000):
        kept[imbalance.subset(labels, (1, 1), generator=generator)] += 1
    torch.testing.assert_close(kept / 1000, torch.tensor([0.25, 0.5, 0.25, 0.25, 0.5, 0.25]), atol=0.06, rtol=0)


def test_a_steeper_tail_is_a_subset_of_a_flatter_one(labels):
    steep = imbalance.subset(labels, (60, 20, 5, 1), generator=torch.Generator().manual_seed(7))
    flat = imbalance.subset(labels, (60, 40, 20, 10), generator=torch.Generator().manual_seed(7))
    assert set(steep.tolist()) < set(flat.tolist())


def test_draws_are_those_of_the_generator(labels):
    a, b, c = (imbalance.subset(labels, (20,) * 4, generator=torch.Generator().manual_seed(s)) for s in (1, 1, 2))
    assert torch.equal(a, b)
    assert not torch.equal(a, c)


def test_refuses_more_than_there_is_and_names_the_class(labels):
    with pytest.raises(InputError, match=r"asks for 500 samples of class 1, but labels holds \d+; lower n_max or rho"):
        imbalance.subset(labels, (50, 500, 5, 5))
    with pytest.raises(InputError, match=r"of class 0, .*\(4 classes are too small\)"):
        imbalance.subset(labels, (500, 500, 500, 500))


def test_refuses_a_label_without_a_count(labels):
    with pytest.raises(InputError, match=r"in 0\.\.2, got values from 0 to 3"):
        imbalance.subset(labels, (5, 5, 5))
