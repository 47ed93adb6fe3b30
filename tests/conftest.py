"""What every test may rely on: no deadlines on a shared machine, the same examples in every run, a cache of its own."""

import hypothesis
import pytest

hypothesis.settings.register_profile("steady", deadline=None, derandomize=True)
hypothesis.settings.load_profile("steady")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """Features that tests encode are kept in a folder of theirs, never in that of the user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANCHORED_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
