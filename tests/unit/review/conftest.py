"""A small image data set with suspects, and a review of it."""

import pytest
import torch

from anchored.audit import Suspect
from anchored.data import Dataset, TensorInputs
from anchored.review import Cases, DecisionLog, Review

NAMES = ("cat", "dog", "<img src=x onerror=alert(1)>")


@pytest.fixture
def images():
    """Twelve grey images, each of one brightness; four of each class."""
    pixels = torch.arange(12, dtype=torch.uint8).view(12, 1, 1, 1).expand(12, 1, 4, 6) * 20
    return Dataset("pets", TensorInputs(pixels), torch.arange(12) % 3, NAMES, ids=[f"p/{i}.png" for i in range(12)])


@pytest.fixture
def cases():
    """Samples 5, 0 and 7, suspected of being of the next class."""
    rows = [(5, 0.9), (0, 0.75), (7, 0.25)]
    suspects = [
        Suspect(rank, i, f"p/{i}.png", NAMES[i % 3], NAMES[(i + 1) % 3], wrong, -wrong, 1 - wrong, wrong, "few")
        for rank, (i, wrong) in enumerate(rows, start=1)
    ]
    return Cases(NAMES, tuple(suspects), expected_elsewhere=1.5)


@pytest.fixture
def review(images, cases, tmp_path):
    with DecisionLog(tmp_path / "corrections.csv") as log:
        yield Review("pets", images, cases, log=log)
