"""Mirror of src/anchored/bench/_measure.py."""

import time

import pytest
import torch

from anchored.bench import peak_bytes, seconds


def test_functions_take_turns_after_a_warm_up():
    calls = []
    times = seconds([lambda: calls.append("a"), lambda: calls.append("b")], repeats=2, warmup=1)
    assert calls == ["a", "b", "a", "b", "a", "b"]
    assert len(times) == 2


def test_a_longer_function_takes_longer():
    short, long = seconds([lambda: None, lambda: time.sleep(0.02)], repeats=3)
    assert long > 0.015
    assert short < long


@pytest.mark.parametrize("megabytes", [1, 4])
def test_the_peak_counts_what_is_held_at_one_moment(megabytes):
    n = megabytes * 2**18

    def one_after_the_other():
        for _ in range(3):
            torch.ones(n)

    def together():
        return [torch.ones(n) for _ in range(3)]

    assert peak_bytes(one_after_the_other) == pytest.approx(4 * n, rel=0.01)
    assert peak_bytes(together) == pytest.approx(12 * n, rel=0.01)
