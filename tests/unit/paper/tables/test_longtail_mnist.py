"""Mirror of src/anchored/paper/tables/longtail_mnist.py: all methods, three groups, one look at the test set."""

import torch

from anchored.data import Dataset, TensorInputs, corrupt
from anchored.imbalance import shots
from anchored.methods import parse
from anchored.paper.tables.longtail_mnist import TABLE


def test_the_counts_are_the_ones_asked_for_and_make_all_three_groups():
    (plan,) = TABLE.job("ce", "mnist", seed=0).settings["data"]["corrupt"]
    sizes = torch.tensor([5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949])  # MNIST's own
    labels = torch.arange(10).repeat_interleave(sizes)
    data = Dataset("mnist", TensorInputs(torch.zeros(len(labels), 1)), labels, tuple(map(str, range(10))))
    counts = corrupt(data, [plan], seed=0).dataset.counts.tolist()
    assert counts == [1000, 599, 359, 215, 129, 77, 46, 27, 16, 10]
    assert [len(group) for group in shots(counts).values()] == [5, 3, 2]


def test_the_test_set_is_scored_once():
    assert TABLE.job("ce", "mnist", seed=0).settings["train"] == {
        "epochs": 30,
        "batch_size": 128,
        "evaluate": False,
        "seed": 0,
    }


def test_every_anchored_method_stands_beside_the_plain_one():
    names = {row.name for row in TABLE.rows}
    anchored = {name for name in names if name.endswith("+pal")}
    assert len(anchored) > 10
    assert {name.removesuffix("+pal") for name in anchored} <= names
    assert TABLE.published == {}


def test_every_row_is_a_method():
    assert all(parse(row.method).name == row.method for row in TABLE.rows)
