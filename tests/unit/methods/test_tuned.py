"""Mirror of src/anchored/methods/tuned.py: it begins at the closed form, which is its minimum if nothing else moves."""

import pytest
import torch
from tests.builders import blobs

from anchored._errors import InputError
from anchored.losses import AnchoredSquared
from anchored.methods import BuildContext, parse, start_from
from anchored.methods.tuned import FineTuned, Vectors
from anchored.ridge import fit_ridge


def procedure(k=3, d=2, **options):
    counts = torch.full((k,), 10)
    return FineTuned(BuildContext(method=parse("tuned"), backbone=Vectors, counts=counts, shape=(d,), options=options))


@pytest.mark.parametrize("k", [2, 3])
def test_it_begins_with_the_logits_of_the_closed_form(k):
    data = blobs(120)
    x, y = data.inputs.tensor.double(), data.labels % k
    network, ridge = procedure(k, x.shape[1]).network().double(), fit_ridge(x, y, k)
    start_from(network, ridge)
    torch.testing.assert_close(network(x) / ridge.temperature, ridge.logits(x), atol=1e-5, rtol=1e-5)  # float32 anchors


def test_without_a_penalty_the_closed_form_is_the_minimum_of_the_loss():
    data = blobs(120, distance=1.0)
    x = data.inputs.tensor.double()
    network = procedure(3, x.shape[1]).network().double()
    weights = torch.linspace(0.1, 1.0, 120, dtype=torch.float64)
    start_from(network, fit_ridge(x, data.labels, 3, alpha=1e-9, weights=weights))
    (AnchoredSquared().pointwise(network(x), data.labels) @ weights / weights.sum()).backward()
    assert float(network.projection.weight.grad.norm()) < 1e-6
    assert float(network.projection.bias.grad.norm()) < 1e-6


def test_the_map_has_its_own_learning_rate():
    made = procedure(3, 4, map_factor=7.0)
    (stage,) = made.stages()
    assert [group.factor for group in stage.groups(made.network())] == [7.0]
    assert stage.every_step
    with pytest.raises(InputError, match="map_factor must be positive"):
        procedure(3, 4, map_factor=0.0)


def test_kernels_are_no_start():
    data = blobs(60)
    ridge = fit_ridge(data.inputs.tensor.double(), data.labels, 3, kernel="rbf")
    with pytest.raises(InputError, match="linear least squares"):
        start_from(procedure(3, data.inputs.shape[0]).network(), ridge)
