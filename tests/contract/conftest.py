"""What every contract may rely on: one thread, because the last bit of a sum may depend on their number."""

import pytest
import torch


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
