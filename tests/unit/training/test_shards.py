"""Mirror of src/anchored/training/shards.py: over all processes, every sample once, and the same totals."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from anchored._errors import InputError
from anchored.training.shards import shard


@given(n=st.integers(4, 200), parts=st.integers(1, 4), per_part=st.integers(2, 16), seed=st.integers(0, 99))
def test_every_sample_is_taken_once_over_all_processes(n, parts, per_part, seed):
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    batch = parts * per_part
    shards = [shard(order, batch, rank=r, world_size=parts) for r in range(parts)]
    assert len({len(part.order) for part in shards}) == 1, "every process takes part in every step"
    taken = torch.cat([p.order if p.counts is None else p.order[p.counts] for p in shards])
    left_out = n - len(taken)
    assert len(set(taken.tolist())) == len(taken)
    assert left_out == 0 or (left_out < 2 * parts and n > batch)


@pytest.mark.parametrize("world_size", [1, 2, 4])
def test_a_batch_holds_the_same_samples_however_many_processes_share_it(world_size):
    order = torch.randperm(103, generator=torch.Generator().manual_seed(0))
    shards = [shard(order, 16, rank=r, world_size=world_size) for r in range(world_size)]
    for number, expected in enumerate(order[:96].split(16)):
        size = shards[0].batch_size
        together = torch.cat([part.order[number * size : (number + 1) * size] for part in shards])
        assert set(together.tolist()) == set(expected.tolist())


def test_totals_are_the_weights_of_whole_batches():
    order = torch.tensor([3, 1, 2, 0, 4])
    weights = torch.tensor([1.0, 2.0, 4.0, 8.0, 16.0])
    expected = [8 + 2, 4 + 1 + 16 - 16]
    assert shard(order, 2, weights=weights).totals.tolist() == expected
    assert shard(order, 3, weights=weights).totals.tolist() == [14, 17]
    assert shard(order, 5).totals.tolist() == [5]


def test_a_sample_that_comes_twice_knows_how_often_it_came_before_on_any_process():
    order = torch.tensor([7, 7, 5, 7, 5, 5])
    parts = [shard(order, 6, rank=r, world_size=2) for r in range(2)]
    pairs = sorted(pair for p in parts for pair in zip(p.order.tolist(), p.occurrence.tolist(), strict=True))
    assert pairs == [(5, 0), (5, 1), (5, 2), (7, 0), (7, 1), (7, 2)]


def test_a_small_epoch_is_one_batch():
    part = shard(torch.arange(3), 64)
    assert part.order.tolist() == [0, 1, 2]
    assert len(part) == 1


def test_a_batch_that_cannot_be_shared_is_refused():
    with pytest.raises(InputError, match=r"multiple of the number of processes, 2, got 5; use 4"):
        shard(torch.arange(10), 5, world_size=2)
