"""Mirror of src/anchored/methods/equiangular.py: the network and its scale."""

import pytest
import torch
import torch.nn.functional as F
from tests.builders import build_context

from anchored import InputError
from anchored.methods import make_procedure
from anchored.methods.equiangular import EquiangularVectors

K = 4


def given(**settings):
    return build_context("equiangular", **settings)


def largest(rows):
    return float((rows @ rows.T).fill_diagonal_(0).abs().max())


def test_logits_are_cosines_divided_by_the_temperature():
    network = make_procedure(given()).network()
    x = torch.randn(5, 6, generator=torch.Generator().manual_seed(0))
    cosines = F.normalize(network.features(x), dim=1) @ network.head.prototypes.T
    torch.testing.assert_close(network(x), cosines / 0.07)


def test_dimensions_are_those_of_prototypes_and_output():
    network = make_procedure(given(options={"dimensions": 3, "alpha": 0.6})).network()
    assert network.features(torch.zeros(1, 6)).shape == (1, 3)
    assert largest(network.head.prototypes) <= 0.6001


def test_prototypes_that_are_going_to_be_loaded_are_not_searched(monkeypatch):
    monkeypatch.setattr("anchored.methods.equiangular.nearly_orthogonal", None)
    assert make_procedure(given(blank=True)).network().head.prototypes.shape == (K, K)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dimensions": 1}, "dimensions must be at least 2"),
        ({"alpha": 1.0}, r"alpha must lie in \[0, 1\)"),
        ({"steps": 0}, "steps must be at least 1"),
    ],
)
def test_refuses_settings_without_sense(options, message):
    with pytest.raises(InputError, match=message):
        EquiangularVectors.Options(**options)
