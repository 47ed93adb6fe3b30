"""Mirror of src/anchored/methods/neighbours.py: votes that scikit-learn counts, and leave-one-out as refitting."""

import pytest
import torch
from sklearn.neighbors import NearestNeighbors
from tests.builders import blobs, build_context

from anchored import InputError
from anchored.data import Split
from anchored.methods import neighbours
from anchored.methods.neighbours import NearestNeighbours
from anchored.runs import TrainedModel, fit


def made(X, y, **options):
    method = NearestNeighbours(build_context("neighbours", shape=X.shape[1:], counts=tuple(y.bincount().tolist())))
    if options:
        method.options = NearestNeighbours.Options(**options)
    tensors, left_out = method.compute(X, y, None)
    head = method.blank_head()
    head.put(tensors)
    return head, left_out


def test_the_votes_are_those_of_scikit_learns_neighbours():
    data = blobs(200, distance=2.0)
    head, _ = made(data.inputs.tensor, data.labels)
    asked = blobs(50, distance=2.0, seed=1).inputs.tensor
    turned = (asked.double() - head.mean) @ head.turn
    count, (inverse, sharpness) = len(head.ranks), head.settings.tolist()
    found = NearestNeighbors(n_neighbors=count, metric="cosine").fit(head.kept.numpy())
    distance, index = found.kneighbors(turned.numpy())
    votes = head.shares.repeat(50, 1)
    for i in range(50):
        for d, j in zip(distance[i], index[i], strict=True):
            votes[i, data.labels[j]] += float(torch.exp(torch.tensor(-d * inverse)))
    torch.testing.assert_close(head(asked), sharpness * votes.log(), atol=1e-4, rtol=1e-4)


def test_left_out_is_what_a_model_without_the_sample_says(monkeypatch):
    """But for the shares, centre and axes, of which one sample in 300 is a small part."""
    monkeypatch.setattr("anchored.methods.nearest.COUNTS", (10,))
    monkeypatch.setattr("anchored.methods.nearest.WIDTHS", (0.2,))
    data = blobs(300, distance=2.0)
    X, y = data.inputs.tensor, data.labels
    _, left_out = made(X, y)
    for i in (0, 50, 299):
        others = torch.arange(300) != i
        head, _ = made(X[others], y[others])
        torch.testing.assert_close(head(X[[i]]).softmax(1), left_out[[i]].softmax(1), atol=0.05, rtol=0)


def test_a_part_is_kept_and_the_others_are_asked_of_it():
    data = blobs(200, distance=3.0)
    head, left_out = made(data.inputs.tensor, data.labels, most_kept=60)
    assert len(head.kept) == 60
    assert (left_out.argmax(1) == data.labels).double().mean() > 0.85


def test_features_that_say_nothing():
    y = torch.arange(40) % 2
    head, left_out = made(torch.ones(40, 3), y)
    assert bool(torch.isfinite(left_out).all())
    assert bool(torch.isfinite(head(torch.ones(2, 3))).all())


def test_saved_and_loaded_is_the_same_and_damage_is_refused(tmp_path):
    data = blobs(150, distance=2.0)
    model = fit(Split(data), {"method": {"name": "neighbours"}}).model
    model.save(tmp_path)
    x = data.inputs.tensor
    assert torch.equal(TrainedModel.load(tmp_path).predict_proba(x), model.predict_proba(x))
    head = neighbours.NeighboursHead()
    tensors = dict(model.classifier.head.state_dict())
    for name, value in (
        ("labels", tensors["labels"] + 3),
        ("weights", tensors["weights"][1:]),
        ("ranks", torch.arange(1000)),
    ):
        with pytest.raises(InputError, match="train it again"):
            head.put({**tensors, name: value})
