"""Mirror of src/anchored/prototypes/_request.py: what is refused, and the way out that is named."""

import math

import pytest
import torch

from anchored import InputError
from anchored.prototypes._request import check_dtype, check_prototypes, check_sizes


@pytest.mark.parametrize(
    ("k", "d", "message"),
    [
        (1, 5, r"k must be at least 2, got 1; .*number of classes"),
        (0, 5, r"k must be at least 2, got 0"),
        (-3, 5, r"k must be at least 2, got -3"),
        (2.0, 5, r"k must be a whole number at least 2, got 2.0"),
        (True, 5, r"k must be a whole number"),
        ("10", 5, r"k must be a whole number at least 2, got '10'"),
        (5, 0, r"d must be at least 1, got 0; .*number of features"),
        (5, None, r"d must be a whole number at least 1, got None"),
        (3, 1, r"d=1 has only the directions \+1 and -1, got k=3 classes; use d >= 2"),
    ],
)
def test_refuses_sizes_without_room_for_k_directions(k, d, message):
    with pytest.raises(InputError, match=message):
        check_sizes(k, d)


def test_accepts_whole_numbers_of_other_types():
    assert check_sizes(torch.tensor([7]).numpy()[0], 3) == (7, 3)


@pytest.mark.parametrize("dtype", [torch.int64, torch.complex64, torch.bool, "float32", None])
def test_refuses_a_dtype_that_cannot_hold_a_unit_vector(dtype):
    with pytest.raises(InputError, match=r"dtype must be a real floating-point torch dtype, got .*; use torch.float32"):
        check_dtype(dtype)


@pytest.mark.parametrize(
    ("w", "message"),
    [
        (torch.ones(3), r"shape \(k, d\).*got \(3,\)"),
        (torch.ones(1, 3), r"k >= 2.*got \(1, 3\)"),
        (torch.ones(2, 0), r"d >= 1, got \(2, 0\)"),
        (torch.tensor([[1.0, 0.0], [0.0, 0.0]]), r"not zero, got \[0.0, 0.0\] ... in row 1"),
        (torch.tensor([[math.nan, 0.0], [0.0, 1.0]]), r"finite.*in row 0"),
        (torch.ones(2, 2, dtype=torch.complex64), r"real numbers, got torch.complex64"),
    ],
)
def test_refuses_rows_that_are_no_prototypes(w, message):
    with pytest.raises(InputError, match=message):
        check_prototypes(w)


def test_prototypes_come_back_as_float64_and_untouched():
    w = torch.eye(3, dtype=torch.float16, requires_grad=True)
    checked = check_prototypes(w)
    assert checked.dtype == torch.float64
    assert not checked.requires_grad
    assert torch.equal(checked, torch.eye(3).double())
