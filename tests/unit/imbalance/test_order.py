"""Mirror of src/anchored/imbalance/_order.py: shares of classes, no early repeats, one order for all ranks."""

import math
from collections import Counter

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from anchored import InputError, imbalance
from anchored.imbalance import RankSampler

SAMPLINGS = ["instance", "balanced", "square-root", "reversed", "effective-number"]
SIZES = (300, 100, 0, 30, 3)


@pytest.fixture
def labels():
    ordered = torch.repeat_interleave(torch.tensor(SIZES))
    return ordered[torch.randperm(len(ordered), generator=torch.Generator().manual_seed(0))]


def share_by_hand(sampling):
    beta = 0.9999
    weight = {
        "instance": lambda n: n,
        "balanced": lambda n: 1.0,
        "square-root": lambda n: math.sqrt(n),
        "reversed": lambda n: max(SIZES) / n,
        "effective-number": lambda n: n * (1 - beta) / (1 - beta**n),
    }[sampling]
    weights = [weight(n) if n else 0.0 for n in SIZES]
    return torch.tensor(weights, dtype=torch.float64) / sum(weights)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_probabilities_agree_with_the_formulas(sampling):
    got = imbalance.class_probabilities(torch.tensor(SIZES), sampling)
    torch.testing.assert_close(got, share_by_hand(sampling), rtol=1e-9, atol=0)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_classes_are_seen_as_often_as_their_probability_says(labels, sampling):
    n = 40_000
    seen = torch.bincount(labels[imbalance.epoch_order(labels, sampling=sampling, seed=1, epoch=0, length=n)])
    share = share_by_hand(sampling)
    assert ((seen / n - share).abs() <= 5 * (share * (1 - share) / n).sqrt() + 1 / n).all()


def test_an_instance_epoch_is_a_permutation(labels):
    order = imbalance.epoch_order(labels, sampling="instance", seed=0, epoch=0)
    assert sorted(order.tolist()) == list(range(len(labels)))
    assert order.tolist() != list(range(len(labels)))


def test_every_cycle_of_a_balanced_epoch_visits_every_class_once(labels):
    seen = labels[imbalance.epoch_order(labels, sampling="balanced", seed=0, epoch=3, length=4 * 250)]
    cycles = seen.reshape(250, 4)
    assert (cycles.sort(dim=1).values == torch.tensor([0, 1, 3, 4])).all()
    assert len(cycles.unique(dim=0)) == 24  # in every order


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_no_sample_comes_again_before_its_class_is_through(labels, sampling):
    order = imbalance.epoch_order(labels, sampling=sampling, seed=2, epoch=0, length=2000)
    groups = [labels >= 0] if sampling == "instance" else [labels == c for c in (0, 1, 3, 4)]
    for group in groups:
        mine = order[group[order]].tolist()
        size = int(group.sum())
        assert mine
        for start in range(0, len(mine), size):
            assert len(set(mine[start : start + size])) == len(mine[start : start + size])


def test_a_class_is_shuffled_afresh_each_time(labels):
    order = imbalance.epoch_order(labels, sampling="balanced", seed=0, epoch=0, length=4 * 3 * 60)
    rounds = order[labels[order] == 4].reshape(60, 3)
    assert len(rounds.unique(dim=0)) == 6


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_order_is_a_function_of_seed_and_epoch(labels, sampling):
    def order(seed, epoch):
        return imbalance.epoch_order(labels, sampling=sampling, seed=seed, epoch=epoch).tolist()

    assert order(0, 0) == order(0, 0)
    assert order(0, 0) != order(0, 1)
    assert order(0, 1) != order(1, 0)


def test_refuses_what_it_cannot_order(labels):
    with pytest.raises(InputError, match="unknown sampling 'sqrt'"):
        imbalance.epoch_order(labels, sampling="sqrt", seed=0, epoch=0)
    with pytest.raises(InputError, match="at least one label"):
        imbalance.epoch_order(labels[:0], seed=0, epoch=0)
    with pytest.raises(InputError, match="epoch must be at least 0"):
        imbalance.epoch_order(labels, seed=0, epoch=-1)
    with pytest.raises(InputError, match="length must be at least 1"):
        imbalance.epoch_order(labels, seed=0, epoch=0, length=0)


@pytest.fixture
def tail():
    return torch.repeat_interleave(torch.tensor([50, 9, 2]))


def parts(tail, world_size, epoch=0, **options):
    samplers = [RankSampler(tail, rank=r, world_size=world_size, seed=4, **options) for r in range(world_size)]
    for sampler in samplers:
        sampler.set_epoch(epoch)
    return samplers


@pytest.mark.parametrize("sampling", ["instance", "balanced", "square-root", "reversed", "effective-number"])
@pytest.mark.parametrize("world_size", [1, 2, 3, 4])
def test_ranks_together_see_the_order_of_the_epoch(tail, sampling, world_size):
    order = imbalance.epoch_order(tail, sampling=sampling, seed=4, epoch=7, length=60)
    lists = [list(s) for s in parts(tail, world_size, epoch=7, sampling=sampling, length=60)]
    assert [index for step in zip(*lists, strict=True) for index in step] == order.tolist()


def test_a_remainder_repeats_the_beginning(tail):
    order = imbalance.epoch_order(tail, seed=4, epoch=0).tolist()  # 61 samples
    samplers = parts(tail, 4)
    assert [len(s) for s in samplers] == [len(list(s)) for s in samplers] == [16] * 4
    assert Counter(i for s in samplers for i in s) == Counter(order + order[:3])


def test_a_remainder_can_be_dropped(tail):
    order = imbalance.epoch_order(tail, seed=4, epoch=0).tolist()
    samplers = parts(tail, 4, drop_last=True)
    assert [len(s) for s in samplers] == [len(list(s)) for s in samplers] == [15] * 4
    assert Counter(i for s in samplers for i in s) == Counter(order[:60])


def test_more_ranks_than_samples_still_all_get_one():
    samplers = parts(torch.tensor([0, 1]), 5)
    assert [len(list(s)) for s in samplers] == [1] * 5


def test_epochs_differ_and_return(tail):
    (sampler,) = parts(tail, 1)
    first = list(sampler)
    sampler.set_epoch(1)
    assert list(sampler) != first
    sampler.set_epoch(0)
    assert list(sampler) == first


def test_a_data_loader_follows_it(tail):
    (sampler,) = parts(tail, 1, sampling="balanced")
    loader = DataLoader(TensorDataset(tail), batch_size=8, sampler=sampler)
    assert torch.cat([batch for (batch,) in loader]).tolist() == tail[sampler.indices()].tolist()


def test_a_sampler_refuses_at_construction(tail):
    with pytest.raises(InputError, match="rank must be between 0 and 1, got 2"):
        RankSampler(tail, seed=0, rank=2, world_size=2)
    with pytest.raises(InputError, match="unknown sampling"):
        RankSampler(tail, seed=0, sampling="uniform")
    with pytest.raises(InputError, match="at least one label"):
        RankSampler(tail[:0], seed=0)
    with pytest.raises(InputError, match="drop_last leaves nothing of 61 samples for 64 ranks"):
        RankSampler(tail, seed=0, world_size=64, drop_last=True)


def test_the_class_aware_sampler_takes_four_of_a_class_in_a_row(labels):
    order = imbalance.epoch_order(labels, sampling="balanced", seed=0, epoch=3, length=4 * 4 * 60, class_run=4)
    runs = labels[order].reshape(-1, 4)
    assert (runs == runs[:, :1]).all()
    cycles = runs[:, 0].reshape(60, 4)
    assert (cycles.sort(dim=1).values == torch.tensor([0, 1, 3, 4])).all()
    rarest = order[labels[order] == 4].reshape(-1, 3)  # three samples: none again before the others have come
    assert (rarest.sort(dim=1).values == (labels == 4).nonzero().T).all()


@pytest.mark.parametrize("length", [1, 7, 433])
def test_a_run_is_cut_where_the_epoch_ends(labels, length):
    order = imbalance.epoch_order(labels, sampling="balanced", seed=0, epoch=0, length=length, class_run=4)
    assert len(order) == length


def test_runs_of_one_are_the_default_and_other_samplings_have_none(labels):
    for sampling in SAMPLINGS:
        plain = imbalance.epoch_order(labels, sampling=sampling, seed=0, epoch=0)
        run = 1 if sampling == "balanced" else 4
        assert torch.equal(plain, imbalance.epoch_order(labels, sampling=sampling, seed=0, epoch=0, class_run=run))
    with pytest.raises(InputError, match="class_run must be at least 1, got 0"):
        imbalance.epoch_order(labels, sampling="balanced", seed=0, epoch=0, class_run=0)
