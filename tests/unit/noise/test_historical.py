"""Mirror of src/anchored/noise/_historical.py: both procedures, against a plain loop over labels."""

import torch

from anchored import noise


def test_sequential_counts_agree_with_a_plain_loop():
    clean = torch.tensor([0] * 50 + [1] * 30 + [2] * 20)
    receipt = noise.apl_sequential(clean, 0.3, {0: 1, 1: 2, 2: 0})
    sizes = [50, 30, 20]
    for source, target in ((0, 1), (1, 2), (2, 0)):
        moved = int(sizes[source] * 3 / 10)
        sizes[source] -= moved
        sizes[target] += moved
    assert torch.bincount(receipt.labels).tolist() == sizes


def test_sequential_is_the_mode_of_the_same_name():
    clean = torch.arange(10).repeat(100)
    a = noise.apl_sequential(clean, 0.4, generator=torch.Generator().manual_seed(5))
    b = noise.asymmetric(clean, 0.4, "cifar10", mode="apl_sequential", generator=torch.Generator().manual_seed(5))
    assert torch.equal(a.labels, b.labels)
    assert a.procedure == b.procedure == "asymmetric (cifar10, apl_sequential)"


def test_order_matters_only_where_one_source_is_another_ones_target():
    clean = torch.arange(4).repeat(100)
    receipt = noise.apl_sequential(clean, 0.4, {0: 1, 2: 3})
    assert receipt.per_class == (0.4, 0.0, 0.4, 0.0)


def test_index_blocks_never_leave_their_block_of_five():
    clean = torch.arange(100).repeat(500)
    receipt = noise.index_blocks(clean, 0.4).check()
    assert torch.equal(receipt.labels // 5, clean // 5)
    assert torch.equal(receipt.labels[receipt.flipped] % 5, (clean[receipt.flipped] + 1) % 5)
