"""Mirror of src/anchored/data/holdout.py: shares per class, never the last sample, nothing lost."""

import pytest
import torch

from anchored._errors import InputError
from anchored.data import Dataset, TensorInputs, hold_out


def dataset(counts):
    labels = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))
    labels = labels[torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))]
    inputs = TensorInputs(torch.arange(len(labels), dtype=torch.float32)[:, None])
    return Dataset("toy", inputs, labels, tuple(map(str, range(len(counts)))))


def rows(data):
    return data.inputs.tensor[:, 0].long()


def test_nothing_is_lost_or_doubled_and_order_stays():
    data = dataset([50, 30, 20])
    train, held = hold_out(data, 0.1, seed=0)
    assert torch.equal(torch.cat([rows(train), rows(held)]).sort().values, torch.arange(100))
    assert torch.equal(rows(train), rows(train).sort().values)
    assert torch.equal(train.labels, data.labels[rows(train)])
    assert held.counts.tolist() == [5, 3, 2]


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.99])
def test_every_class_keeps_a_sample(fraction):
    train, held = hold_out(dataset([1000, 100, 5, 2, 1]), fraction, seed=1)
    assert train.counts.min() >= 1
    assert held.counts[-1] == 0


def test_remainders_make_up_the_total():
    # A tenth of four each is nothing for anybody; four of them still give what a tenth of all would.
    _, held = hold_out(dataset([4] * 10), 0.1, seed=0)
    assert len(held) == 4
    assert held.counts.max() == 1


def test_seeds_decide():
    data = dataset([50, 50])
    assert torch.equal(rows(hold_out(data, 0.2, seed=3)[1]), rows(hold_out(data, 0.2, seed=3)[1]))
    assert not torch.equal(rows(hold_out(data, 0.2, seed=3)[1]), rows(hold_out(data, 0.2, seed=4)[1]))


@pytest.mark.parametrize("fraction", [0.0, 1.0, -0.1])
def test_refuses_a_share_outside_the_interval(fraction):
    with pytest.raises(InputError, match="fraction must lie in"):
        hold_out(dataset([5, 5]), fraction, seed=0)


def test_refuses_data_without_labels_or_without_anything_to_spare():
    with pytest.raises(InputError, match="every sample has a label"):
        hold_out(dataset([3, 3]).with_labels(torch.tensor([0, 0, -1, 1, 1, 1])), 0.5, seed=0)
    with pytest.raises(InputError, match="gives none"):
        hold_out(dataset([1, 1]), 0.5, seed=0)
