"""Mirror of src/anchored/heads/_base.py: sizes under both names, refusals at construction, nothing left abstract."""

import pytest
import torch

from anchored._errors import InputError
from anchored.heads import Head


class Zeros(Head):
    def forward(self, features):
        return features @ self.rows().T

    def rows(self):
        return torch.zeros(self.num_classes, self.in_features)


def test_sizes_have_the_names_of_torch_and_of_the_constructor():
    head = Zeros(5, 3)
    assert (head.in_features, head.num_classes, head.out_features) == (5, 3, 3)
    assert repr(head) == "Zeros(in_features=5, num_classes=3)"


def test_a_head_adds_nothing_and_keeps_lengths_unless_it_says_so():
    head = Zeros(5, 3)
    assert head.offset() is None
    assert head.normalize is False


def test_a_head_without_rows_cannot_be_made():
    class NoRows(Head):
        def forward(self, features):
            return features

    with pytest.raises(TypeError, match="abstract"):
        NoRows(5, 3)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((0, 3), "in_features must be at least 1, got 0"),
        ((2.5, 3), "in_features must be a whole number at least 1, got 2.5"),
        ((5, 1), "num_classes must be at least 2, got 1; a single class needs no classifier"),
        ((5, True), "num_classes must be a whole number at least 2, got True"),
    ],
)
def test_refuses_impossible_sizes(sizes, message):
    with pytest.raises(InputError) as refusal:
        Zeros(*sizes)
    assert str(refusal.value).startswith(message)
