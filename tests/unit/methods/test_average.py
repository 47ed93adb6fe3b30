"""Mirror of src/anchored/methods/average.py: the pool of its members, with the weights that were given."""

import pytest
import torch
from tests.builders import blobs

from anchored._errors import InputError
from anchored.data import Split
from anchored.methods.average import shares_of
from anchored.runs import TrainedModel, fit


def run(data, method, **options):
    return fit(Split(data), {"method": {"name": method, "options": options}})


def test_it_is_the_weighted_mean_of_log_probabilities(tmp_path):
    data = blobs(150, distance=2.0)
    x = data.inputs.tensor.double()
    both = run(data, "average", members="ridge,probe", weights="3,1").model
    ridge, probe = (run(data, name).model for name in ("ridge", "probe"))
    parts = [each.classifier(x).log_softmax(1) for each in (ridge, probe)]
    expected = 0.75 * parts[0] + 0.25 * parts[1]
    torch.testing.assert_close(both.classifier(x), expected, atol=1e-8, rtol=1e-8)
    both.save(tmp_path)
    assert torch.equal(TrainedModel.load(tmp_path).predict_proba(x), both.predict_proba(x))


def test_one_member_alone_is_that_member():
    data = blobs(150, distance=2.0)
    x = data.inputs.tensor.double()
    torch.testing.assert_close(
        run(data, "average", members="ridge").model.predict_proba(x), run(data, "ridge").model.predict_proba(x)
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"members": "ridge,forest"}, "'forest' cannot be averaged; there are ridge"),
        ({"members": "ridge,probe", "weights": "1"}, "one number per member"),
        ({"members": "ridge,probe", "weights": "1,x"}, "not negative"),
        ({"members": "ridge,probe", "weights": "1,-1"}, "not negative"),
    ],
)
def test_what_cannot_be_averaged_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        run(blobs(60), "average", **options)


def test_without_weights_all_members_count_alike():
    assert shares_of("", "ridge,probe") == [0.5, 0.5]
