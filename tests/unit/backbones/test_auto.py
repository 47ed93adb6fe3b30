"""Mirror of src/anchored/backbones/_auto.py: the table of its docstring, and that every choice can be built."""

import pytest
import torch

from anchored import InputError, backbones


@pytest.mark.parametrize(
    ("shape", "k", "name"),
    [
        ((54,), 7, "mlp"),
        ((1, 8, 8), 10, "cnn4"),
        ((3, 8, 8), 10, "cnn4"),
        ((1, 28, 28), 10, "cnn4"),
        ((1, 28, 28), 129, "cnn4"),
        ((1, 28, 28), 130, "cnn8"),
        ((1, 28, 28), None, "cnn4"),
        ((3, 32, 32), 10, "cnn8"),
        ((3, 32, 32), 257, "cnn8"),
        ((3, 32, 32), 258, "resnet34"),
        ((3, 64, 64), 200, "cnn8"),
        ((3, 65, 40), 10, "resnet10"),
        ((3, 224, 224), 513, "resnet10"),
        ((3, 224, 224), 1000, "resnet50"),
        ((1, 12, 5000), 10, "tiny"),
        ((1, 4, 4), 10, "tiny"),
    ],
)
def test_chooses_by_shape_and_classes(shape, k, name):
    assert backbones.auto(shape, k) == name
    with torch.device("meta"):
        assert backbones.get("auto", shape, num_classes=k).input_shape == shape


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_every_size_gets_a_network_that_takes_it(channels):
    sides = [1, 3, 7, 8, 15, 16, 31, 32, 64, 65, 100]
    with torch.device("meta"):
        for height in sides:
            for width in sides:
                backbones.get("auto", (channels, height, width))


def test_refuses_no_classes():
    with pytest.raises(InputError, match="num_classes must be at least 1, got 0"):
        backbones.auto((3, 32, 32), 0)
