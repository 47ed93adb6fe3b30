"""Mirror of src/anchored/methods/hyperspherical.py: the loss, the network."""

import pytest
import torch
import torch.nn.functional as F
from tests.builders import build_context

from anchored import InputError
from anchored.methods import make_procedure
from anchored.methods.hyperspherical import HypersphericalPrototypes

K = 4


def given(**settings):
    return build_context("hyperspherical", **settings)


def test_the_loss_is_the_square_of_one_minus_the_cosine():
    plan = make_procedure(given(options={"weight": 3.0}))
    network, (stage,) = plan.network(), plan.stages()
    x, labels = torch.randn(5, 6, generator=torch.Generator().manual_seed(0)), torch.tensor([0, 1, 2, 3, 0])
    cosines = F.cosine_similarity(network.features(x), network.head.prototypes[labels], dim=1)
    torch.testing.assert_close(stage.scored_by.pointwise(network(x), labels), (1 - cosines).square())
    torch.testing.assert_close(stage.loss.pointwise(network(x), labels), 3 * (1 - cosines).square())


@pytest.mark.parametrize(("asked", "dimensions"), [(None, K), (7, 7), (2, 2)])
def test_the_output_has_the_dimensions_of_the_prototypes(asked, dimensions):
    network = make_procedure(given(options={"dimensions": asked})).network()
    assert network.head.prototypes.shape == (K, dimensions)
    assert network.features(torch.zeros(1, 6)).shape == (1, dimensions)


def test_prototypes_that_are_going_to_be_loaded_are_not_searched(monkeypatch):
    monkeypatch.setattr("anchored.methods.hyperspherical.spread", None)
    assert make_procedure(given(blank=True)).network().head.prototypes.shape == (K, K)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dimensions": 1}, "dimensions must be at least 2"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"weight": 0.0}, r"weight must lie in \(0"),
        ({"learning_rate": -1.0}, r"learning_rate must lie in \(0"),
    ],
)
def test_refuses_settings_without_sense(options, message):
    with pytest.raises(InputError, match=message):
        HypersphericalPrototypes.Options(**options)
