"""Mirror of src/anchored/data/batch.py."""

import dataclasses

import pytest
import torch

from anchored.data import Batch


def test_its_length_is_its_number_of_samples_and_it_cannot_be_changed():
    batch = Batch(torch.zeros(5, 2), torch.zeros(5, dtype=torch.int64), torch.arange(5))
    assert len(batch) == 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        batch.labels = torch.ones(5)
