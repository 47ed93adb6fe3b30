"""Mirror of src/anchored/features/base.py: what an encoder must bring, and what it gets."""

import pytest
import torch

from anchored.features import Encoder


class Length(Encoder):
    name = "length"
    dim = 1
    digest = "0"

    def transform(self, inputs):
        return torch.full((len(inputs), 1), 2.0)

    def state(self):
        return {"encoder": self.name}, {}

    @classmethod
    def from_state(cls, about, tensors):
        return cls()


def test_a_pretrained_encoder_is_fitted_as_it_is():
    encoder = Length()
    assert encoder.fit([1, 2]) is encoder
    assert (encoder.kind, encoder.cached) == ("any", False)


def test_an_encoder_without_a_state_cannot_be_made():
    class Forgetful(Length):
        state = Encoder.state

    with pytest.raises(TypeError, match="abstract"):
        Forgetful()
