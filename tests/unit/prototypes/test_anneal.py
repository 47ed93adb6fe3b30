"""Mirror of src/anchored/prototypes/_anneal.py: a problem with a known answer, the blocks, the effort."""

import math

import torch

from anchored.prototypes._anneal import Effort, anneal, effort, row_blocks, without_diagonal


def nearest_axis(x, scale):
    """Soft maximum of the entries of one unit row: the true minimum is at -(1, ..., 1)/sqrt(d)."""
    logits = scale * x[:, 0]
    return logits.logsumexp(dim=1) / scale, logits.softmax(dim=1)[:, None, :]


def test_lowers_the_largest_entry_of_a_unit_vector_to_its_known_minimum():
    start = torch.randn(8, 1, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    best = anneal(nearest_axis, start, Effort(restarts=8, steps=60, first=4.0, last=2.0**16))
    assert best.shape == (1, 5)
    torch.testing.assert_close(best, torch.full((1, 5), -1 / math.sqrt(5)).double(), atol=1e-5, rtol=0)


def test_returns_the_best_restart():
    """Two basins that the descent cannot leave: without steps the better start must win."""
    good, poor = -torch.ones(1, 1, 3).double(), torch.tensor([[[1.0, 0.0, 0.0]]]).double()
    plan = Effort(restarts=2, steps=1, first=4.0, last=4.0)
    torch.testing.assert_close(anneal(nearest_axis, torch.cat([poor, good]), plan)[0], good[0, 0] / math.sqrt(3))


def test_row_blocks_cover_every_row_once_within_the_memory_asked():
    for k, restarts, entries in [(10, 1, 1000), (10, 1, 35), (10, 64, 1), (1000, 4, 9000)]:
        blocks = row_blocks(k, restarts, entries)
        assert [row for rows in blocks for row in range(rows.start, rows.stop)] == list(range(k))
        assert all((rows.stop - rows.start) * k * restarts <= max(entries, k * restarts) for rows in blocks)


def test_without_diagonal_hides_only_a_row_from_itself():
    block = without_diagonal(torch.zeros(2, 3, 7), slice(4, 7))
    hidden = [(i, j) for i in range(3) for j in range(7) if block[1, i, j] == -math.inf]
    assert hidden == [(0, 4), (1, 5), (2, 6)]


def test_effort_falls_with_size_and_never_to_nothing():
    small, large, huge = effort(7, 3), effort(1000, 256), effort(10**5, 2048)
    assert small.restarts > large.restarts == huge.restarts == 1
    assert small.steps > large.steps > huge.steps >= 10
    for plan in (small, large, huge):
        assert math.log2(plan.first).is_integer()
        assert math.log2(plan.last).is_integer()
