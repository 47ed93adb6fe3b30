"""Mirror of src/anchored/paper/tables/noise_symmetric.py."""

import torch

from anchored.data import Dataset, TensorInputs, corrupt
from anchored.paper.tables.noise_symmetric import TABLE


def test_its_rows_and_cells_are_the_published_ones():
    rows = {row.name for row in TABLE.rows if not row.ours}
    assert {key[0] for key in TABLE.published} == rows
    assert {key[1] for key in TABLE.published} == {cell.name for cell in TABLE.cells}


def test_recipes_are_those_of_the_data_sets():
    mnist, cifar10, cifar100 = (TABLE.job("ce", f"{d}/0.8", seed=0).settings for d in ("mnist", "cifar10", "cifar100"))
    assert [s["train"]["epochs"] for s in (mnist, cifar10, cifar100)] == [50, 120, 200]
    assert [s["backbone"]["name"] for s in (mnist, cifar10, cifar100)] == ["cnn4", "cnn8", "resnet34"]
    assert [s["optimizer"]["weight_decay"] for s in (mnist, cifar10, cifar100)] == [1e-3, 1e-4, 1e-5]
    assert {s["optimizer"]["clip"] for s in (mnist, cifar10, cifar100)} == {5.0}


def test_the_noise_takes_the_same_number_from_every_class():
    (plan,) = TABLE.job("ce", "mnist/0.8", seed=0).settings["data"]["corrupt"]
    labels = torch.arange(10).repeat_interleave(torch.arange(90, 110, 2))
    data = Dataset("mnist", TensorInputs(torch.zeros(len(labels), 1)), labels, tuple(map(str, range(10))))
    noisy = corrupt(data, [plan], seed=0).dataset
    flipped = labels[noisy.labels != labels].bincount(minlength=10)
    assert flipped.tolist() == [int(0.8 * len(labels)) // 10] * 10
