"""Mirror of src/anchored/methods/boosted.py: the tensors are scikit-learn's trees."""

import numpy as np
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from tests.builders import blobs

from anchored._errors import InputError
from anchored.data import Split
from anchored.methods.boosted import TreesHead, _tensors
from anchored.runs import fit


def test_the_tensors_predict_what_the_trees_predict():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 5))
    targets = np.stack([x[:, 0] ** 2 + x[:, 1], np.sin(3 * x[:, 2])], axis=1)
    trees = [HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(x, column) for column in targets.T]
    head = TreesHead()
    head.put({**_tensors(trees), "anchors": torch.eye(2, dtype=torch.float64)})
    new = rng.normal(size=(100, 5))
    expected = np.stack([tree.predict(new) for tree in trees], axis=1)
    np.testing.assert_allclose(head(torch.from_numpy(new)).numpy(), expected, rtol=1e-10)


def test_wrong_labels_cost_less_than_with_the_logarithmic_loss():
    data = blobs(600, distance=2.5)
    flipped = torch.arange(600) % 5 == 0
    noisy = data.with_labels(torch.where(flipped, (data.labels + 1) % 3, data.labels))
    test = blobs(300, distance=2.5, seed=1)
    fitted = fit(Split(noisy, test), {"method": {"name": "boosted"}})
    plain = HistGradientBoostingClassifier(random_state=0).fit(noisy.inputs.tensor.numpy(), noisy.labels.numpy())
    assert fitted.result["test"]["accuracy"] > plain.score(test.inputs.tensor.numpy(), test.labels.numpy()) + 0.02


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="folds must be at least 2"):
        fit(Split(blobs(60)), {"method": {"name": "boosted", "options": {"folds": 1}}})
