"""Mirror of src/anchored/backbones/names.py: names, options, the refusals."""

import pytest
import torch

from anchored import InputError, backbones
from anchored.backbones import BACKBONES, ConvNet


def test_the_table_is_sorted_so_that_it_reads_as_a_list():
    assert list(BACKBONES) == sorted(BACKBONES)


def test_names_are_taken_in_any_case():
    assert isinstance(backbones.get("CNN4", (1, 8, 8)), ConvNet)


def test_hands_options_to_the_backbone():
    assert backbones.get("mlp", (5,), hidden=(4, 3)).feature_dim == 3


def test_a_shape_may_be_an_iterator():
    assert backbones.get("auto", iter((1, 8, 8))).input_shape == (1, 8, 8)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("cnn5", {}, "unknown backbone 'cnn5'; did you mean 'cnn8' or 'cnn4'"),
        ("zzzzzz", {}, "unknown backbone 'zzzzzz'; choose from .*cnn4.*auto"),
        ("cnn4", {"hidden": (3,)}, "backbone 'cnn4' has no option 'hidden'; it has none"),
        ("tiny", {"features": 3}, "backbone 'tiny' has no option 'features'; did you mean 'feature_dim'"),
        (torch.nn.Linear(2, 2), {}, "backbone must be a name, got Linear; give modules to backbones.wrap"),
    ],
)
def test_refuses_with_the_way_out(name, options, message):
    with pytest.raises(InputError, match=message):
        backbones.get(name, (1, 28, 28), **options)
