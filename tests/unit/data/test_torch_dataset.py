"""Mirror of src/anchored/data/torch_dataset.py: tensors are taken over, other data sets are asked item by item."""

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import Dataset, IterableDataset, TensorDataset

from anchored._errors import InputError
from anchored.data import Inputs, TensorInputs, TorchInputs, from_torch


class Items(Dataset):
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def pictures(n=4, mode="RGB"):
    rng = np.random.default_rng(0)
    return [Image.fromarray(rng.integers(0, 256, (5, 6, 3), dtype=np.uint8)).convert(mode) for _ in range(n)]


def test_a_tensor_dataset_is_taken_over():
    data = from_torch(TensorDataset(torch.eye(4), torch.tensor([5, 7, 5, 7])))
    assert isinstance(data.inputs, TensorInputs)
    assert data.class_names == ("5", "7")
    assert data.labels.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(("mode", "channels"), [("RGB", 3), ("L", 1)])
def test_pictures_become_bytes(mode, channels):
    items = pictures(mode=mode)
    data = from_torch(Items([(image, i % 2) for i, image in enumerate(items)]))
    got = data.inputs.take(torch.tensor([2, 0]))
    assert got.shape == (2, channels, 5, 6)
    assert got.dtype == torch.uint8
    expected = np.asarray(items[2]).reshape(5, 6, channels).transpose(2, 0, 1)
    assert np.array_equal(got[0].numpy(), expected)


def test_float_tensors_arrays_and_tensor_labels():
    data = from_torch(Items([(np.full(3, i, dtype=np.float64), torch.tensor(i % 2)) for i in range(4)]))
    assert isinstance(data.inputs, Inputs)
    assert data.inputs.take(torch.tensor([3])).tolist() == [[3.0, 3.0, 3.0]]
    assert data.labels.tolist() == [0, 1, 0, 1]


def test_a_subset_asks_for_the_right_items():
    data = from_torch(Items([(torch.tensor([float(i)]), i % 2) for i in range(6)]))
    part = data.subset(torch.tensor([5, 1])).subset(torch.tensor([0]))
    assert part.inputs.take(torch.tensor([0])).item() == 5


def test_targets_and_classes_are_used_where_there_are_any():
    items = Items([(torch.zeros(2), None) for _ in range(3)])
    items.targets = [2, 0, 2]
    items.classes = ["cat", "dog", "fox"]
    data = from_torch(items)
    assert data.class_names == ("cat", "dog", "fox")
    assert data.labels.tolist() == [2, 0, 2]


def test_items_are_made_anew_every_time():
    class Random(Items):
        calls = 0

        def __getitem__(self, i):
            self.calls += 1
            return torch.tensor([float(self.calls)]), i % 2

    inputs = from_torch(Random(range(4))).inputs
    assert not torch.equal(inputs.take(torch.tensor([0])), inputs.take(torch.tensor([0])))


class Endless(IterableDataset):
    def __iter__(self):
        yield torch.zeros(2), 0


@pytest.mark.parametrize(
    ("dataset", "words"),
    [
        (3, "must have a length and items, got int"),
        (Endless(), "must have a length and items, got Endless"),
        (Items([]), "is empty"),
        (Items([torch.zeros(2)]), "item 0: a data set must give pairs"),
        (Items([("text", 0), ("text", 1)]), "item 0: an input must be an image or a vector, got str"),
        (Items([(torch.zeros(2), 0), (torch.zeros(2), 0)]), "all 2 samples are of class '0'"),
    ],
)
def test_refusals(dataset, words):
    with pytest.raises(InputError, match=words):
        from_torch(dataset)


def test_inputs_of_different_shapes_are_refused_when_met():
    inputs = TorchInputs(Items([(torch.zeros(2), 0), (torch.zeros(3), 1)]))
    with pytest.raises(InputError, match=r"item 1: inputs must have one shape, got \(3,\) after \(2,\)"):
        inputs.take(torch.tensor([0, 1]))
