"""Mirror of src/anchored/methods/pc_softmax.py: Bayes' rule in numbers, and the same as logit adjustment with tau 1."""

import pytest
import torch
from tests.builders import resolved as resolve

from anchored._errors import InputError
from anchored.data import load_digits
from anchored.runs import fit


def run(name, **options):
    return fit(
        load_digits(),
        {
            "method": {"name": name, "options": options},
            "backbone": {"name": "tiny"},
            "data": {"corrupt": ["longtail=50"], "hold_out": 0.0},
            "train": {"epochs": 3},
        },
    )


@pytest.fixture(scope="module")
def digits():
    return load_digits().test.inputs.take(torch.arange(300))


@pytest.fixture(scope="module")
def runs():
    return {"ce": run("ce"), "pc-softmax": run("PCSoftmax"), "post-hoc": run("post-hoc", tau=1.0)}


def uncalibrated(fitted, x):
    return fitted.model(x) * fitted.model.temperature


def test_it_is_logit_adjustment_after_training_with_tau_one(runs, digits):
    assert torch.equal(runs["pc-softmax"].model(digits), runs["post-hoc"].model(digits))


def test_it_is_cross_entropy_with_bayes_rule_for_equal_frequencies(runs, digits):
    posterior = uncalibrated(runs["ce"], digits).double().softmax(dim=1)
    prior = torch.tensor(runs["ce"].result["class_counts"], dtype=torch.float64)
    prior = prior / prior.sum()
    expected = posterior / prior
    expected = expected / expected.sum(dim=1, keepdim=True)
    found = uncalibrated(runs["pc-softmax"], digits).double().softmax(dim=1)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


def test_putting_the_prior_of_training_back_on_gives_the_first_classifier(runs, digits):
    plain, fair = runs["ce"], runs["pc-softmax"]
    fair.model.temperature = 1.0
    counts = fair.result["class_counts"]
    again = fair.model.for_prior(counts).predict_proba(digits)
    torch.testing.assert_close(again, uncalibrated(plain, digits).softmax(dim=1), atol=1e-5, rtol=1e-4)


def test_rare_classes_gain(runs):
    assert runs["pc-softmax"].result["test"]["few"] > runs["ce"].result["test"]["few"]


def test_it_has_no_options():
    with pytest.raises(InputError, match="unknown option 'tau' of method 'pc-softmax'; it has none"):
        resolve({"method": {"name": "pc-softmax", "options": {"tau": 2}}}, load_digits().train)
