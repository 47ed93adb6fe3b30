"""Imbalance for any sizes: counts fall, groups cover, orders keep their shares, ranks share one order."""

from collections import Counter

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from anchored import imbalance

SAMPLINGS = st.sampled_from(["instance", "balanced", "square-root", "reversed", "effective-number"])
labels_of_any_size = st.lists(st.integers(0, 6), min_size=1, max_size=60).map(torch.tensor)


@settings(deadline=None, max_examples=50)
@given(
    n_max=st.integers(1, 5000),
    k=st.integers(2, 60),
    share=st.floats(0, 1),
    kind=st.sampled_from(["longtail", "step"]),
)
def test_counts_fall_from_the_largest_to_the_asked_ratio(n_max, k, share, kind):
    rho = min(n_max, 1 + share * (n_max - 1))
    sizes = imbalance.counts(n_max, k, rho, kind)
    assert len(sizes) == k
    assert sizes[0] == n_max
    assert list(sizes) == sorted(sizes, reverse=True)
    assert sizes[-1] >= 1
    assert sizes[-1] <= n_max / rho * (1 + 1e-9) < sizes[-1] + 1 + 1e-6


@settings(deadline=None, max_examples=50)
@given(n_max=st.integers(1, 2000), k=st.integers(2, 40), data=st.data())
def test_a_steeper_tail_has_no_larger_class(n_max, k, data):
    low, high = sorted(data.draw(st.tuples(st.integers(1, n_max), st.integers(1, n_max))))
    flat, steep = imbalance.counts(n_max, k, low), imbalance.counts(n_max, k, high)
    assert all(a >= b for a, b in zip(flat, steep, strict=True))


@settings(deadline=None, max_examples=50)
@given(sizes=st.lists(st.integers(0, 300), min_size=1, max_size=50))
def test_groups_cover_every_class_once_and_keep_their_thresholds(sizes):
    groups = imbalance.shots(sizes)
    assert sorted(groups.many + groups.medium + groups.few) == list(range(len(sizes)))
    assert all(sizes[c] > 100 for c in groups.many)
    assert all(20 <= sizes[c] <= 100 for c in groups.medium)
    assert all(sizes[c] < 20 for c in groups.few)


@settings(deadline=None, max_examples=50)
@given(labels=labels_of_any_size, seed=st.integers(0, 2**32), data=st.data())
def test_a_subset_holds_exactly_its_counts(labels, seed, data):
    available = torch.bincount(labels).tolist()
    keep = [data.draw(st.integers(0, n)) for n in available]
    index = imbalance.subset(labels, keep, generator=torch.Generator().manual_seed(seed))
    assert torch.bincount(labels[index], minlength=len(keep)).tolist() == keep
    assert len(set(index.tolist())) == sum(keep)


@settings(deadline=None, max_examples=50)
@given(labels=labels_of_any_size, sampling=SAMPLINGS, seed=st.integers(0, 2**32), length=st.integers(1, 200))
def test_within_a_class_samples_take_turns(labels, sampling, seed, length):
    order = imbalance.epoch_order(labels, sampling=sampling, seed=seed, epoch=0, length=length)
    assert len(order) == length
    groups = [labels >= 0] if sampling == "instance" else [labels == c for c in labels.unique()]
    for group in groups:
        seen = Counter(order[group[order]].tolist())
        turns = [seen[i] for i in group.nonzero().squeeze(1).tolist()]
        assert max(turns) - min(turns) <= 1


@settings(deadline=None, max_examples=50)
@given(labels=labels_of_any_size, seed=st.integers(0, 2**32), length=st.integers(1, 200))
def test_balanced_classes_differ_by_one_visit_at_most(labels, seed, length):
    order = imbalance.epoch_order(labels, sampling="balanced", seed=seed, epoch=0, length=length)
    visits = [int((labels[order] == c).sum()) for c in labels.unique()]
    assert max(visits) - min(visits) <= 1


@settings(deadline=None, max_examples=50)
@given(
    labels=labels_of_any_size,
    sampling=SAMPLINGS,
    world_size=st.integers(1, 9),
    epoch=st.integers(0, 50),
    drop_last=st.booleans(),
)
def test_ranks_make_equal_steps_through_the_order_of_the_epoch(labels, sampling, world_size, epoch, drop_last):
    n = len(labels)
    drop_last = drop_last and n >= world_size
    parts = []
    for rank in range(world_size):
        sampler = imbalance.RankSampler(
            labels, sampling=sampling, seed=3, rank=rank, world_size=world_size, drop_last=drop_last
        )
        sampler.set_epoch(epoch)
        parts.append(list(sampler))
        assert len(parts[-1]) == len(sampler) == len(parts[0])
    together = [index for step in zip(*parts, strict=True) for index in step]
    order = imbalance.epoch_order(labels, sampling=sampling, seed=3, epoch=epoch).tolist()
    assert abs(len(together) - n) < world_size
    assert together[:n] == order[: len(together)]
    assert (len(together) <= n) if drop_last else (len(together) >= n)
