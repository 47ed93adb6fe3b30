"""Mirror of src/anchored/bench/training.py: each of the three loops trains; the speed itself is not a test."""

import pytest
import torch

from anchored.bench import training as bench


@pytest.mark.parametrize("augment", [False, True])
def test_the_three_loops_move_the_weights(augment):
    dataset = bench._random_images(160, (1, 28, 28), 10)
    for make in (
        lambda model: bench._ours(dataset, model, "mnist", augment, 5.0),
        lambda model: bench._bare(dataset, model, "mnist"),
        lambda model: bench._ordinary(dataset, model, "mnist", augment),
    ):
        model = bench._model("cnn4", (1, 28, 28), 10)
        before = model.head.weight.detach().clone()
        make(model)()
        assert not torch.equal(before, model.head.weight)
        assert torch.isfinite(model.head.weight).all()


def test_a_sample_of_the_ordinary_way_is_the_normalised_image():
    dataset = bench._random_images(4, (1, 28, 28), 10)
    image, label = bench._Samples(dataset, "mnist", augment=False)[2]
    by_hand = (dataset.inputs.take(torch.tensor([2]))[0].double() / 255 - 0.1307) / 0.3081
    torch.testing.assert_close(image.double(), by_hand, atol=1e-5, rtol=0)
    assert label == dataset.labels[2]
