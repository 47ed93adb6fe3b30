"""Mirror of src/anchored/features/columns/text.py: any text encoder can be handed in, and its state goes along."""

import numpy as np
import pytest
import torch

from anchored._errors import InputError
from anchored.data import column_of
from anchored.features import Encoder
from anchored.features.columns import FreeTextEncoder


class Lengths(Encoder):
    """A stand-in for a text encoder: the numbers of letters and of words, and what it was fitted on."""

    name = "lengths"

    def __init__(self, offset=0.0):
        self.offset = offset

    @property
    def dim(self):
        return 2

    @property
    def digest(self):
        return str(self.offset)

    def fit(self, inputs):
        self.offset = float(np.mean([len(text) for text in inputs.texts]))
        return self

    def transform(self, inputs):
        return torch.tensor(
            [[len(text) - self.offset, len(text.split())] for text in inputs.texts], dtype=torch.float32
        )

    def state(self):
        return {"offset": self.offset}, {}

    @classmethod
    def from_state(cls, about, tensors):
        return cls(about["offset"])


COLUMN = column_of(["a bb ccc", "dd ee", None, "a bb ccc", "f", "NA"], "t")


def test_a_text_encoder_is_fitted_in_a_copy_and_scaled():
    given = Lengths()
    encoder = FreeTextEncoder.fit(COLUMN, encoder=given)
    assert given.offset == 0.0
    found = encoder.transform(COLUMN, where=str)
    assert found.shape == (6, 3)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-6)
    assert (found[[2, 5], :2] == 0).all()
    assert found[[0, 1, 3, 4], :2].var(axis=0).max() == pytest.approx(1.0, rel=1e-5)


def test_hashed_words_are_the_default():
    encoder = FreeTextEncoder.fit(COLUMN)
    assert encoder.encoder == "words"
    assert np.isfinite(encoder.transform(column_of(["new words", ""], "t"), where=str)).all()


@pytest.mark.parametrize("given", [None, Lengths()])
def test_the_state_makes_the_same_features(given):
    encoder = FreeTextEncoder.fit(COLUMN, encoder=given)
    again = FreeTextEncoder.restore(encoder.model_dump(mode="json"), encoder.tensors(), {"lengths": Lengths})
    np.testing.assert_array_equal(again.transform(COLUMN, where=str), encoder.transform(COLUMN, where=str))


def test_an_unknown_or_damaged_text_encoder_is_refused():
    about = FreeTextEncoder.fit(COLUMN, encoder=Lengths()).model_dump(mode="json")
    with pytest.raises(InputError, match="encoded by 'lengths', which is not known here"):
        FreeTextEncoder.restore(about, {})
    with pytest.raises(InputError, match="sizes do not fit"):
        FreeTextEncoder.restore(about | {"mean": [0.0]}, {}, {"lengths": Lengths})
