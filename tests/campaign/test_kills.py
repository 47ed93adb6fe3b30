"""A short kill campaign; the long one is ``python -m tests.campaign.kills --kills 1000``."""

import pytest

from tests.campaign.kills import campaign

SHORT = ("fit features, ridge", "fit two stages, mislas+pal", "embed", "audit", "review")


@pytest.mark.slow
def test_nothing_is_lost_by_forty_kills(tmp_path):
    counts = campaign(40, seed=3, only=SHORT, place=tmp_path / "place", say=lambda line: None)
    assert counts["failures"] == []
    assert sum(counts["kills"].values()) >= 30
    assert set(counts["kills"]) == set(SHORT)
