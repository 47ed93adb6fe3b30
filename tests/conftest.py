"""What every test may rely on: no deadlines on a shared machine, the same examples in every run."""

import hypothesis
import pytest
import torch

hypothesis.settings.register_profile("steady", deadline=None, derandomize=True)
hypothesis.settings.load_profile("steady")


@pytest.fixture(autouse=True)
def _global_generator_is_left_alone():
    """No code of ours may move torch's global generator: a user's own randomness would change with ours."""
    before = torch.random.get_rng_state()
    yield
    assert torch.equal(before, torch.random.get_rng_state()), "the global generator was used"
