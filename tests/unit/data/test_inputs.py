"""Mirror of src/anchored/data/inputs.py: rows by index, copies, and what is refused."""

import pytest
import torch

from anchored._errors import InputError
from anchored.data import FileInputs, Inputs, TensorInputs, TextInputs, TorchInputs


def test_take_gives_the_rows_in_the_order_asked_for():
    rows = torch.arange(12.0).view(4, 3)
    assert TensorInputs(rows).take(torch.tensor([3, 0, 3])).tolist() == [rows[i].tolist() for i in (3, 0, 3)]


def test_a_subset_is_a_copy():
    rows = torch.zeros(4, 3)
    part = TensorInputs(rows).subset(torch.tensor([1, 2]))
    rows += 1
    assert len(part) == 2
    assert part.take(torch.tensor([0])).sum() == 0


def test_each_kind_is_inputs_and_says_whether_its_rows_are_at_hand():
    pairs = [(torch.zeros(3), 0), (torch.ones(3), 1)]
    kinds = {
        TensorInputs(torch.zeros(2, 3)): True,
        FileInputs(["a.png"], (3, 8, 8)): False,
        TorchInputs(pairs): True,
        TextInputs(["a"]): True,
    }
    for inputs, in_memory in kinds.items():
        assert isinstance(inputs, Inputs)
        assert inputs.in_memory is in_memory


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (torch.zeros(3), r"got shape \(3,\)"),
        (torch.zeros(3, 2, 2), r"got shape \(3, 2, 2\)"),
        (torch.zeros(3, 2, dtype=torch.int64), "got torch.int64"),
        (torch.zeros(3, 2, dtype=torch.uint8), "vectors must be floats"),
    ],
)
def test_refuses_what_is_neither_images_nor_vectors(tensor, words):
    with pytest.raises(InputError, match=words):
        TensorInputs(tensor)
