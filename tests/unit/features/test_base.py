"""Mirror of src/anchored/features/base.py: what an encoder is, on the smallest one that can be."""

import pytest
import torch

from anchored.data import TensorInputs
from anchored.features import Encoder


class Doubled(Encoder):
    """Twice the inputs."""

    name = "doubled"

    @property
    def dim(self):
        return 3

    @property
    def digest(self):
        return "00"

    def transform(self, inputs):
        return 2 * inputs.take(torch.arange(len(inputs)))

    def state(self):
        return {"encoder": self.name}, {}

    @classmethod
    def from_state(cls, about, tensors):
        return cls()


def test_a_pretrained_encoder_learns_nothing_from_data():
    encoder = Doubled()
    rows = TensorInputs(torch.eye(3))
    assert encoder.fit(rows) is encoder
    assert torch.equal(encoder.transform(rows), 2 * torch.eye(3))
    assert isinstance(Doubled.from_state(*encoder.state()), Doubled)


def test_what_lacks_a_part_is_no_encoder():
    class Half(Encoder):
        name = "half"

    with pytest.raises(TypeError, match="abstract"):
        Half()
