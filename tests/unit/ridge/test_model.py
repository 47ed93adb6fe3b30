"""Mirror of src/anchored/ridge/model.py: a module, its saved state, and refusals."""

import copy
import json

import numpy as np
import pytest
import torch

from anchored._errors import InputError
from anchored.prototypes import simplex
from anchored.ridge import Ridge, fit_ridge


@pytest.fixture(params=[None, "rbf"], ids=["linear", "kernel"])
def model(data, request):
    X, y, _ = data
    return fit_ridge(torch.from_numpy(X), torch.from_numpy(y), 4, kernel=request.param)


def test_the_module_and_logits_agree_and_nothing_is_trainable(model, data):
    X = torch.from_numpy(data[0])
    torch.testing.assert_close(model(X), model.logits(X))
    assert not list(model.parameters())
    assert model.logits(X[:0]).shape == (0, 4)
    assert (model.d, model.k, model.rows) == (6, 4, 80)


def test_state_is_plain_data_and_makes_the_same_model(model, data):
    about, tensors = model.state()
    again = Ridge.from_state(json.loads(json.dumps(about)), {name: value.clone() for name, value in tensors.items()})
    X = torch.from_numpy(data[0])
    assert torch.equal(again.logits(X), model.logits(X))
    assert again.choice == model.choice
    with pytest.raises(InputError, match="leave-one-out logits were not kept"):
        again.loo_logits  # noqa: B018


@pytest.mark.parametrize("damage", ["missing", "shape", "nan", "temperature", "kernel"])
def test_a_damaged_state_is_refused(model, damage):
    about, tensors = copy.deepcopy(model.state())
    if damage == "missing":
        del tensors["slope"]
    elif damage == "shape":
        tensors["shift"] = tensors["shift"][:-1]
    elif damage == "nan":
        tensors["mean"] = tensors["mean"] * np.nan
    elif damage == "temperature":
        about["choice"]["temperature"] = -1.0
    else:
        about["choice"]["gamma"] = None if model.kernel is not None else 1.0
        tensors["mean"] = tensors["mean"][:-1]
    with pytest.raises(InputError, match=r"this is no saved ridge model \(.*\); fit and save it again"):
        Ridge.from_state(about, tensors)


def test_onto_a_simplex_the_logits_come_back(model, data):
    W = simplex(4, 7, dtype=torch.float64)
    B, b = model.onto(W)
    X = torch.from_numpy(data[0])
    features = X if model.kernel is None else model.kernel(X)
    logits = ((features - model.mean) @ B + b) @ W.T
    torch.testing.assert_close(logits / model.temperature, model(X), rtol=1e-5, atol=1e-5)
    with pytest.raises(InputError, match="must be a simplex of 4 unit vectors"):
        model.onto(torch.eye(4))


def test_another_number_of_features_is_refused(model):
    with pytest.raises(InputError, match=r"rows must be \(n, 6\) as in the fit, got \(2, 5\); give the same columns"):
        model.logits(torch.zeros(2, 5))


def test_it_can_be_traced_for_export(model, data):
    X = torch.from_numpy(data[0]).float()
    program = torch.export.export(model.float(), (X[:7],), dynamic_shapes=({0: torch.export.Dim("n")},))
    torch.testing.assert_close(program.module()(X), model(X))
