"""Mirror of src/anchored/methods/ridge.py: the head is the closed form itself."""

import pytest
import torch
from tests.builders import blobs

from anchored._errors import InputError
from anchored.data import Split
from anchored.methods.ridge import RidgeHead
from anchored.ridge import fit_ridge
from anchored.runs import fit


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_the_head_says_what_the_fitted_model_says(kernel):
    data = blobs(200)
    x = data.inputs.tensor.double()
    ridge = fit_ridge(x, data.labels, 3, kernel=kernel)
    torch.testing.assert_close(RidgeHead.of(ridge)(x), ridge.logits(x))


def test_the_run_is_the_closed_form_on_raw_inputs():
    data = blobs(200, distance=2.0)
    fitted = fit(Split(data), {"method": {"name": "ridge"}})
    ridge = fit_ridge(data.inputs.tensor.double(), data.labels, 3)
    x = data.inputs.tensor
    expected = (ridge.logits(x.double()) / fitted.result["temperature"]).softmax(1)
    torch.testing.assert_close(fitted.model.predict_proba(x), expected, atol=1e-6, rtol=1e-6)


def test_a_strength_can_be_given_and_a_negative_one_is_refused():
    data = blobs(100)
    strong = fit(Split(data), {"method": {"name": "ridge", "options": {"alpha": 1e6}}})
    weak = fit(Split(data), {"method": {"name": "ridge", "options": {"alpha": 1e-3}}})
    slopes = [run.model.classifier.head.slope.norm() * run.model.temperature for run in (strong, weak)]
    assert slopes[0] < slopes[1]
    with pytest.raises(InputError, match="alpha must be positive"):
        fit(Split(data), {"method": {"name": "ridge", "options": {"alpha": -1.0}}})


def test_balanced_weights_help_rare_classes():
    data, test = blobs(counts=(300, 300, 6), distance=1.5), blobs(300, distance=1.5, seed=1)
    plain, balanced = (
        fit(Split(data, test), {"method": {"name": "ridge", "options": {"balanced": flag}}}).result["test"]["per_class"]
        for flag in (False, True)
    )
    assert balanced[2] > plain[2] + 0.2


def test_a_head_of_an_earlier_version_answers_the_same():
    data = blobs(120, 3, d=4, seed=0)
    X = data.inputs.take(torch.arange(120))
    ridge = fit_ridge(X, data.labels, 3, kernel="rbf")
    head, old = RidgeHead.of(ridge), RidgeHead()
    slope = ridge.slope / ridge.temperature
    tensors = {name: getattr(head, name) for name in RidgeHead.names}
    tensors |= {"mix": ridge.kernel.mix, "mean": ridge.mean, "slope": slope, "offset": ridge.offset / ridge.temperature}
    old.put(tensors)
    torch.testing.assert_close(old(X), head(X), rtol=1e-6, atol=1e-6)
    assert not len(head.mix)
    with pytest.raises(InputError, match="do not fit together"):
        old.put(tensors | {"slope": slope[:-1]})


def test_a_width_can_be_given_and_a_negative_one_is_refused():
    data = blobs(150, 3, d=4, seed=0)
    made = fit(Split(data), {"method": {"name": "kernel-ridge", "options": {"gamma": 0.125}}})
    assert float(made.model.classifier.head.gamma) == 0.125
    with pytest.raises(InputError, match="gamma must be positive"):
        fit(Split(data), {"method": {"name": "kernel-ridge", "options": {"gamma": -1.0}}})
