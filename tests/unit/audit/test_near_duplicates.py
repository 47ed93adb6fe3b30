"""Mirror of src/anchored/audit/near_duplicates.py: what a loop over all pairs finds, without the loop."""

import math
import sys

import pytest
import torch
from scipy.spatial import cKDTree

from anchored.audit import NearDuplicates, near_duplicates
from anchored.data import Dataset, TensorInputs


def vectors(n=300, d=30, seed=0):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(n, d, generator=g), torch.randint(3, (n,), generator=g)


def data(rows, labels, k=3):
    return Dataset("toy", TensorInputs(rows), labels, tuple("abcdefgh"[:k]))


def by_loop(rows, labels, share):
    """Every pair, in plain floats: those nearer than ``share`` of the median nearest distance, labelled differently."""
    spread = rows.std(dim=0)
    points = (rows / spread).tolist()
    n = len(points)
    distance = [[math.dist(points[i], points[j]) for j in range(n)] for i in range(n)]
    nearest = sorted(min(d for d in row if d > 0) for row in distance)
    usual = nearest[(n - 1) // 2]
    return {
        (i, j) for i in range(n) for j in range(i + 1, n) if distance[i][j] <= share * usual and labels[i] != labels[j]
    }


def test_finds_what_a_loop_over_all_pairs_finds():
    rows, labels = vectors()
    for i, (j, size) in {10: (200, 0.0), 20: (210, 1e-3), 30: (220, 0.02), 40: (230, 0.2)}.items():
        rows[j] = rows[i] + size * torch.randn(30, generator=torch.Generator().manual_seed(i))
        labels[i], labels[j] = 0, 1
    found = {group.indices for group in near_duplicates(data(rows, labels))}
    assert found == by_loop(rows, labels.tolist(), 0.1)
    assert {(10, 200), (20, 210), (30, 220)} <= found


def test_copies_under_one_label_are_nobodys_fault():
    rows, labels = vectors()
    rows[5], labels[5] = rows[6], labels[6]
    assert near_duplicates(data(rows, labels)) == []


def test_three_copies_are_one_group_and_copies_come_first():
    rows, labels = vectors()
    rows[[50, 60, 70]] = rows[50].clone()
    labels[[50, 60, 70]] = torch.tensor([0, 0, 2])
    rows[90] = rows[80] + 1e-3
    labels[[80, 90]] = torch.tensor([1, 2])
    first, second = near_duplicates(data(rows, labels))
    assert first == NearDuplicates((50, 60, 70), (0, 0, 2), 0.0)
    assert second.indices == (80, 90)
    assert 0 < second.distance < 0.1


def test_images_are_compared_by_their_look():
    g = torch.Generator().manual_seed(0)
    images = torch.randint(256, (80, 3, 16, 16), generator=g, dtype=torch.uint8)
    images[70] = images[3]
    images[70, 0, 0, 0] ^= 1  # one pixel by one step
    labels = torch.zeros(80, dtype=torch.long)
    labels[70] = 1
    [group] = near_duplicates(data(images, labels))
    assert group.indices == (3, 70)


def test_a_thousand_identical_rows_are_one_group():
    rows, labels = torch.zeros(1000, 4), torch.arange(1000) % 3
    [group] = near_duplicates(data(rows, labels))
    assert group.indices == tuple(range(1000))


def test_a_cloud_of_samples_that_are_all_alike_does_not_fill_the_memory(monkeypatch):
    module, listed = sys.modules["anchored.audit.near_duplicates"], []

    class Tree(cKDTree):
        def query_pairs(self, *arguments, **named):
            pairs = super().query_pairs(*arguments, **named)
            listed.append(len(pairs))
            return pairs

    monkeypatch.setattr(module, "cKDTree", Tree)
    rows, labels = vectors(400, 6)
    rows[:150] = rows[0] + 1e-6 * rows[:150]  # less than half, or their distance would be the usual one
    near_duplicates(data(rows, labels))
    monkeypatch.setattr(module, "_MOST_PAIRS", 50)
    near_duplicates(data(rows, labels))
    without, limited = listed
    assert without == 150 * 149 // 2, "every pair of the cloud lies within the ordinary limit"
    assert limited <= 50


def test_samples_without_a_label_are_left_out():
    rows, labels = vectors()
    rows[5] = rows[6]
    labels[5], labels[6] = -1, 0
    assert near_duplicates(data(rows, labels)) == []


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_to_compare_is_no_error(n):
    assert near_duplicates(data(torch.zeros(n, 2), torch.zeros(n, dtype=torch.long))) == []


@pytest.mark.parametrize("d", [3, 40])
def test_grids_find_what_the_tree_finds(d, monkeypatch):
    chance = torch.Generator().manual_seed(d)
    rows = torch.randn(3_000, d, generator=chance)
    rows[:150] = rows[150:300] + 0.02 * torch.randn(150, d, generator=chance) / d**0.5
    data = Dataset("toy", TensorInputs(rows), (torch.arange(3_000) < 150).long(), ("a", "b"))
    by_tree = near_duplicates(data)
    assert len(by_tree) >= 30
    told = []
    monkeypatch.setattr(sys.modules["anchored.audit.near_duplicates"], "_TREE_LIMIT", 100)
    assert near_duplicates(data, say=told.append) == by_tree
    assert told[-1].startswith("near-duplicates: ")


def test_a_cloud_of_samples_that_are_all_alike_ends_too(monkeypatch):
    chance = torch.Generator().manual_seed(0)
    rows = torch.cat([1e-6 * torch.randn(2_000, 2, generator=chance), torch.randn(2_000, 2, generator=chance)])
    data = Dataset("toy", TensorInputs(rows), torch.arange(4_000) % 2, ("a", "b"))
    here = sys.modules["anchored.audit.near_duplicates"]
    for name, value in (
        ("_TREE_LIMIT", 100),
        ("_MOST_PAIRS", 500),
        ("_MOST_LOOKED_AT", 100_000),
        ("_LOOKS_PER_SAMPLE", 1),
    ):
        monkeypatch.setattr(here, name, value)
    assert len(near_duplicates(data)) <= 500
