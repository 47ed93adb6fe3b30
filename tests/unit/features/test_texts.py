"""Mirror of src/anchored/features/texts.py: texts are found, other inputs refused, batches bounded."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.features.standins import Texts, some_images

from anchored import InputError
from anchored.data import TensorInputs
from anchored.features.texts import batches_of_texts, chosen_texts, texts_of


def test_texts_are_found():
    texts = Texts(["a", "b", "c"])
    assert texts_of(texts, "x") == ("a", "b", "c")
    assert chosen_texts(texts, torch.tensor([2, 0]), "x") == ["c", "a"]


def test_other_inputs_are_refused():
    with pytest.raises(InputError, match="wordllama encodes texts, got images; choose another encoder"):
        texts_of(some_images(1), "wordllama")
    with pytest.raises(InputError, match=r"got inputs of shape \(4,\)"):
        texts_of(TensorInputs(torch.zeros(1, 4)), "wordllama")


@given(texts=st.lists(st.text(max_size=12), max_size=30), count=st.integers(1, 5), characters=st.integers(1, 20))
def test_batches_are_the_texts_in_order_within_the_limits(texts, count, characters):
    batches = [list(batch) for batch in batches_of_texts(texts, count=count, characters=characters)]
    assert [text for batch in batches for text in batch] == texts
    for batch in batches:
        assert 1 <= len(batch) <= count
        assert len(batch) == 1 or sum(map(len, batch)) <= characters
