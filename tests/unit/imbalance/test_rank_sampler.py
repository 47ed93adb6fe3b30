"""Mirror of src/anchored/imbalance/_rank_sampler.py: ranks share one order, in a DataLoader too; refusals."""

from collections import Counter

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from anchored import InputError, imbalance
from anchored.imbalance import RankSampler


@pytest.fixture
def labels():
    return torch.repeat_interleave(torch.tensor([50, 9, 2]))


def parts(labels, world_size, epoch=0, **options):
    samplers = [RankSampler(labels, rank=r, world_size=world_size, seed=4, **options) for r in range(world_size)]
    for sampler in samplers:
        sampler.set_epoch(epoch)
    return samplers


@pytest.mark.parametrize("sampling", ["instance", "balanced", "square-root", "reversed", "effective-number"])
@pytest.mark.parametrize("world_size", [1, 2, 3, 4])
def test_ranks_together_see_the_order_of_the_epoch(labels, sampling, world_size):
    order = imbalance.epoch_order(labels, sampling=sampling, seed=4, epoch=7, length=60)
    lists = [list(s) for s in parts(labels, world_size, epoch=7, sampling=sampling, length=60)]
    assert [index for step in zip(*lists, strict=True) for index in step] == order.tolist()


def test_a_remainder_repeats_the_beginning(labels):
    order = imbalance.epoch_order(labels, seed=4, epoch=0).tolist()  # 61 samples
    samplers = parts(labels, 4)
    assert [len(s) for s in samplers] == [len(list(s)) for s in samplers] == [16] * 4
    assert Counter(i for s in samplers for i in s) == Counter(order + order[:3])


def test_a_remainder_can_be_dropped(labels):
    order = imbalance.epoch_order(labels, seed=4, epoch=0).tolist()
    samplers = parts(labels, 4, drop_last=True)
    assert [len(s) for s in samplers] == [len(list(s)) for s in samplers] == [15] * 4
    assert Counter(i for s in samplers for i in s) == Counter(order[:60])


def test_more_ranks_than_samples_still_all_get_one():
    samplers = parts(torch.tensor([0, 1]), 5)
    assert [len(list(s)) for s in samplers] == [1] * 5


def test_epochs_differ_and_return(labels):
    (sampler,) = parts(labels, 1)
    first = list(sampler)
    sampler.set_epoch(1)
    assert list(sampler) != first
    sampler.set_epoch(0)
    assert list(sampler) == first


def test_a_data_loader_follows_it(labels):
    (sampler,) = parts(labels, 1, sampling="balanced")
    loader = DataLoader(TensorDataset(labels), batch_size=8, sampler=sampler)
    assert torch.cat([batch for (batch,) in loader]).tolist() == labels[sampler.indices()].tolist()


def test_refusals_come_at_construction(labels):
    with pytest.raises(InputError, match="rank must be between 0 and 1, got 2"):
        RankSampler(labels, seed=0, rank=2, world_size=2)
    with pytest.raises(InputError, match="unknown sampling"):
        RankSampler(labels, seed=0, sampling="uniform")
    with pytest.raises(InputError, match="at least one label"):
        RankSampler(labels[:0], seed=0)
    with pytest.raises(InputError, match="drop_last leaves nothing of 61 samples for 64 ranks"):
        RankSampler(labels, seed=0, world_size=64, drop_last=True)
