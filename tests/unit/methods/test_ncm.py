"""Mirror of src/anchored/methods/ncm.py: the means of the training features, against scikit-learn."""

import numpy as np
import pytest
import torch
from sklearn.neighbors import NearestCentroid
from tests.builders import resolved as resolve

from anchored._errors import InputError
from anchored.data import load_digits
from anchored.methods.ncm import NearestClassMean
from anchored.runs import fit


def settings(name="ncm", **options):
    return {
        "method": {"name": name, "options": options},
        "backbone": {"name": "tiny"},
        "data": {"corrupt": ["longtail=20"], "hold_out": 0.0},
        "train": {"epochs": 2},
    }


@pytest.mark.filterwarnings("ignore:self.within_class_std_dev_")  # a feature that is always zero is no matter here
@pytest.mark.parametrize(("name", "transform"), [("ncm", "un"), ("ncm+pal", "cl2n"), ("ncm+mixup", "l2n")])
def test_predictions_are_those_of_the_nearest_centroid(name, transform):
    split = load_digits()
    run = fit(split, settings(name, transform=transform))
    train = run.data.labelled

    @torch.no_grad()
    def features(data):
        x = run.model.normalization(data.inputs.take(torch.arange(len(data))))
        return run.model.classifier.features(x).double().numpy()

    z, other = features(train), features(split.test)
    centre = z.mean(axis=0) if transform == "cl2n" else 0

    def moved(rows):
        rows = rows - centre
        return rows if transform == "un" else rows / np.linalg.norm(rows, axis=1, keepdims=True)

    reference = NearestCentroid().fit(moved(z), train.labels.numpy())
    found = run.model(split.test.inputs.take(torch.arange(len(split.test)))).argmax(dim=1).numpy()
    assert (found == reference.predict(moved(other))).mean() > 0.99, "but for ties in the last digit"


def test_it_has_no_second_stage_to_train_and_no_rows_to_show():
    assert NearestClassMean.second_epochs is None
    run = fit(load_digits(), settings())
    assert len(run.history) == 2
    assert run.model.classifier.rows() is None
    assert "gamma_min" not in run.result["test"]


def test_an_unknown_transform_is_refused():
    with pytest.raises(InputError, match="unknown transform 'l2'; did you mean 'l2n'"):
        resolve(settings(transform="l2"), load_digits().train)
