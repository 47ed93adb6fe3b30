"""Mirror of src/anchored/_threads.py: small work is done on one thread, and the number is what it was afterwards."""

import pytest
import torch

from anchored._threads import one_thread_if_small


@pytest.fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(("numbers", "threads"), [(0, 1), (2**20, 1), (2**20 + 1, 2)])
def test_small_arrays_have_one_thread(numbers, threads):
    with one_thread_if_small(numbers):
        assert torch.get_num_threads() == threads
    assert torch.get_num_threads() == 2


def test_the_number_comes_back_after_an_error():
    with pytest.raises(KeyError), one_thread_if_small(1):
        raise KeyError
    assert torch.get_num_threads() == 2


def test_blocks_within_blocks():
    with one_thread_if_small(1):
        with one_thread_if_small(2**30):
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2
