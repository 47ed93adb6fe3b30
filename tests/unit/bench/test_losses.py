"""Mirror of src/anchored/bench/losses.py: a row per loss, with the memory that can be known beforehand."""

import torch

from anchored.bench import peak_bytes
from anchored.bench.losses import LIMITS, run


def test_every_loss_has_its_row_and_stays_within_its_memory():
    result = run(n=64, k=5000, repeats=1)
    assert [row[0] for row in result.rows] == ["F.cross_entropy", *LIMITS]
    assert all(len(row) == len(result.columns) for row in result.rows)
    # Log-probabilities, their gradient and that of the logits: three matrices, and little else.
    matrix = 64 * 5000 * 4
    assert 3 * matrix <= result.facts["cross_entropy_bytes"] < 3.2 * matrix
    assert all(row[3] <= 2.0 for row in result.rows)


def test_peak_memory_counts_what_is_held_at_once():
    def step():
        first = torch.ones(1000, dtype=torch.float64)
        second = first + first
        del first
        return second + second

    assert 16_000 <= peak_bytes(step) < 17_000
