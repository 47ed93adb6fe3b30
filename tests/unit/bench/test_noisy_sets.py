"""Mirror of src/anchored/bench/noisy_sets.py: as many wrong labels as the law says, and truth beside them."""

import math

import numpy as np
import pytest
import torch

from anchored.bench import noisy_sets as sets
from anchored.bench.tables import load
from anchored.data import Dataset, Split, TensorInputs


@pytest.fixture(scope="module")
def digits():
    X, y = load("digits")
    return {each.law: each for each in sets._all_laws("digits", torch.from_numpy(X), torch.from_numpy(y), 0)}


@pytest.mark.parametrize(
    ("law", "rate"),
    [("clean", 0.0), ("symmetric 0.2", 0.2), ("symmetric 0.6", 0.6), ("asymmetric 0.3", 0.3), ("instance 0.3", 0.3)],
)
def test_a_law_changes_the_share_that_it_names(digits, law, rate):
    assert (digits[law].labels != digits[law].truth).double().mean() == pytest.approx(rate, abs=0.03)


def test_a_long_tail_has_few_samples_of_its_last_class(digits):
    sizes = digits["long tail"].truth.bincount()
    assert sizes[0] > 20 * sizes[-1] > 0
    assert len(digits["long tail"].X) == len(digits["long tail"].truth)


def test_closer_clouds_are_harder():
    """The best classifier takes the nearest centre; it errs more often the closer they are."""
    errors = []
    for distance in (1.0, 2.5):
        X, y = sets._clouds(distance, 0)
        centres = distance / math.sqrt(2) * torch.eye(4, 10)
        errors.append(float((torch.cdist(X, centres).argmin(dim=1) != y).double().mean()))
    assert errors[0] > 0.3 > errors[1] > 0.05


def test_encoded_sets_are_read_from_beside_the_data(tmp_path):
    (tmp_path / "features").mkdir()
    y = np.arange(40) % 4
    np.savez(tmp_path / "features" / "agnews.npz", X=np.eye(40, 8, dtype=np.float32), y=np.roll(y, 1), truth=y)
    for root in (tmp_path, tmp_path / "data"):
        people, clean, spoilt = sets._human("agnews", root, 0)
        assert (people.law, people.compared, people.k) == ("people", True, 4)
        assert torch.equal(clean.labels, clean.truth)
        assert not torch.equal(spoilt.labels, spoilt.truth)
    assert list(sets._human("cifar10n", tmp_path, 0)) == []
    assert list(sets._human("agnews", None, 0)) == []


def test_the_seed_changes_the_noise_and_not_the_data(digits):
    X, y = load("digits")
    other = sets._corrupted("digits", "symmetric 0.2", torch.from_numpy(X), torch.from_numpy(y), 1, False)
    assert torch.equal(other.X, digits["symmetric 0.2"].X)
    assert not torch.equal(other.labels, digits["symmetric 0.2"].labels)


def test_photos_and_texts_are_encoded_if_only_they_are_there(tmp_path, monkeypatch):
    truth = torch.arange(20) % 2
    given = {"aggre": truth, "random1": 1 - truth, "worse": truth.flip(0)}

    def load(root, labels):
        return Split(Dataset(labels, TensorInputs(torch.eye(20)), given[labels], ("a", "b"), clean_labels=truth))

    asked = []
    monkeypatch.setattr(sets, "load_cifar10n", load)
    monkeypatch.setattr(sets, "load_agnews", lambda root: load(root, "worse"))
    monkeypatch.setattr(sets, "encode", lambda data, encoder: asked.append(encoder) or data)
    monkeypatch.setattr(sets, "_PHOTOS", 8)
    assert list(sets._human("cifar10n", tmp_path, 0)) == []
    for file in ("cifar10n/labels.npz", "agnews/train.csv"):
        (tmp_path / file).parent.mkdir()
        (tmp_path / file).touch()
    photos = {each.law: each for each in sets._human("cifar10n", tmp_path, 0)}
    assert list(photos) == ["aggre", "random1", "worse", "clean", "symmetric 0.2"]
    places = photos["aggre"].X.argmax(dim=1)
    assert len(places) == 8
    for law, labels in given.items():
        assert torch.equal(photos[law].labels, labels[places])
    people = next(sets._human("agnews", tmp_path, 0))
    assert torch.equal(people.labels, given["worse"])
    assert asked == ["efficientnet-lite0", "wordllama+tfidf"]
