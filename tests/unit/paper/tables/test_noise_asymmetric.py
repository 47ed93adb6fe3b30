"""Mirror of src/anchored/paper/tables/noise_asymmetric.py: the noise of the reference, with its accidents."""

import torch

from anchored.data import Dataset, TensorInputs, corrupt
from anchored.paper.tables.noise_asymmetric import TABLE


def noisy(name, k):
    (plan,) = TABLE.job("ce", f"{name}/0.4", seed=0).settings["data"]["corrupt"]
    labels = torch.arange(k).repeat_interleave(1000)
    data = Dataset(name, TensorInputs(torch.zeros(len(labels), 1)), labels, tuple(map(str, range(k))))
    return labels, corrupt(data, [plan], seed=0).dataset.labels


def test_its_rows_and_cells_are_the_published_ones():
    assert {key[1] for key in TABLE.published} == {cell.name for cell in TABLE.cells}
    assert {key[0] for key in TABLE.published} <= {row.name for row in TABLE.rows if not row.ours}


def test_cats_turned_dogs_partly_turn_back_on_cifar10():
    clean, observed = noisy("cifar10", 10)
    wrong = (observed != clean).double()
    assert abs(wrong[clean == 3].mean() - 0.24) < 0.03
    assert abs(wrong[clean == 5].mean() - 0.40) < 0.03


def test_cifar100_turns_within_blocks_of_five_indices():
    clean, observed = noisy("cifar100", 100)
    wrong = observed != clean
    assert torch.equal(observed[wrong], clean[wrong] // 5 * 5 + (clean[wrong] + 1) % 5)
    assert abs(wrong.double().mean() - 0.4) < 0.01


def test_mnist_confuses_look_alikes_sample_by_sample():
    clean, observed = noisy("mnist", 10)
    wrong = observed != clean
    assert set(zip(clean[wrong].tolist(), observed[wrong].tolist(), strict=True)) == {
        (7, 1),
        (2, 7),
        (5, 6),
        (6, 5),
        (3, 8),
    }
    assert int(wrong[clean == 7].sum()) != 400  # drawn, not counted out
