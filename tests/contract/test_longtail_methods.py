"""Every method with a file of its own: it learns all groups of classes, is kept, resumes in any stage, repeats."""

import functools
import math

import pytest
import torch
from tests.builders import blobs
from tests.cut import Cut, CutAfter

from anchored import AnchoredClassifier, imbalance, methods
from anchored._errors import InputError
from anchored.data import Split
from anchored.methods.parse import METHODS
from anchored.runs import RunFolder, TrainedModel, fit

K = 5
COUNTS = [160, 110, 60, 30, 12]  # many, many, medium, medium, few
NAMES = [
    "+".join([own, *rest])
    for own in METHODS
    for rest in ([], ["mixup"], ["pal"], ["mixup", "pal"])
    if set(rest) <= set(methods.PROCEDURES[own].goes_with)
]
COMPUTED = [name for name in NAMES if methods.procedure_type(methods.parse(name)).computed]
TWO_STAGES = [name for name in NAMES if methods.procedure_type(methods.parse(name)).second_epochs is not None]


def clouds(counts, seed):
    """Round clouds at the corners of a simplex."""
    return blobs(counts=counts, d=7, distance=2.5, spread=0.6, seed=seed)


@functools.cache
def split():
    return Split(clouds(COUNTS, 0), clouds([40] * K, 1))


def settings(name, **train):
    tree = {
        "method": {"name": name},
        "backbone": {"name": "tiny"},
        "data": {"hold_out": 0.2},
        "optimizer": {"name": "adamw", "lr": 0.02},
        "train": {"epochs": 5, "batch_size": 32, **train},
    }
    return tree | ({"second": {"epochs": 4}} if name in TWO_STAGES else {})


@functools.cache
def fitted(name):
    return fit(split(), settings(name))


def weights(model):
    return model.classifier.state_dict()


@pytest.mark.parametrize("name", NAMES)
def test_it_learns_every_group_of_classes(name):
    run = fitted(name)
    assert all(math.isfinite(record["train_loss"]) for record in run.history)
    assert all(torch.isfinite(value).all() for value in weights(run.model).values())
    assert all(imbalance.shots(run.result["class_counts"]).values()), "each group has a class"
    for group in ("many", "medium", "few"):
        assert run.result["test"][group] > 0.6, f"{group}: chance is 0.2"


@pytest.mark.parametrize("name", NAMES)
def test_it_is_loaded_as_it_was_saved(name, tmp_path):
    model, x = fitted(name).model, split().test.inputs.take(torch.arange(200))
    model.save(tmp_path)
    again = TrainedModel.load(tmp_path)
    assert torch.equal(again.predict_proba(x), model.predict_proba(x))
    assert again.description["method"] == methods.parse(name).name


@pytest.mark.parametrize("steps", [12, 52], ids=["first stage", "second stage"])
@pytest.mark.parametrize("name", NAMES)
def test_cut_in_any_stage_it_goes_on_to_the_very_same_weights(name, steps, tmp_path, monkeypatch):
    if steps == 52 and name not in TWO_STAGES:
        pytest.skip("the method is trained in one stage")
    if name in COMPUTED:
        pytest.skip("the method has no steps: it is computed again")
    monkeypatch.setattr("os.fsync", lambda _: None)  # what a power cut would lose is another test's business
    with pytest.raises(Cut):
        fit(split(), settings(name, checkpoint_seconds=0.0), folder=tmp_path / "run", progress=CutAfter(steps))
    run = RunFolder.open(tmp_path / "run")
    assert run.read_checkpoint().facts["stage"] == (steps == 52)
    resumed, straight = fit(split(), settings(name), folder=run), fitted(name)
    assert resumed.history == straight.history
    for key, value in weights(straight.model).items():
        assert torch.equal(weights(resumed.model)[key], value), key
    assert resumed.model.temperature == straight.model.temperature


@pytest.mark.parametrize("name", NAMES)
def test_the_same_configuration_gives_the_same_weights(name):
    first, second = fitted(name), fit(split(), settings(name))
    assert all(torch.equal(weights(second.model)[key], value) for key, value in weights(first.model).items())


@pytest.mark.parametrize("name", NAMES)
def test_its_temperature_makes_probabilities_honest(name):
    run = fitted(name)
    assert 1e-4 < run.model.temperature < 1e3
    # Held-out data has the training counts and the test set is balanced, so this is not the 0.1 of balanced data.
    assert run.result["test"]["ece"] < 0.2
    x = split().test.inputs.take(torch.arange(200))
    total = run.model.predict_proba(x).sum(dim=1)
    assert torch.allclose(total, torch.ones_like(total), atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_it_trains_on_equal_counts_too(name):
    equal = Split(clouds([40] * K, 2), clouds([20] * K, 3))
    run = fit(equal, settings(name))
    assert run.result["test"]["accuracy"] > 0.7


@pytest.mark.parametrize("name", NAMES)
def test_a_class_without_samples_is_named(name, tmp_path):
    whole = clouds(COUNTS, 0)
    kept = (whole.labels != 3).nonzero().squeeze(1)
    with pytest.raises(InputError, match="no training sample of class 'd'"):
        fit(Split(whole.subset(kept)), settings(name), folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", NAMES)
def test_the_estimator_takes_it(name):
    data = split().train
    model = AnchoredClassifier(method=name, backbone="tiny", epochs=10, batch_size=32, random_state=0)
    x, y = data.inputs.take(torch.arange(len(data))).numpy(), data.labels.numpy()
    assert model.fit(x, y).score(x, y) > 0.5


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("crt+drw", "goes with mixup, pal"),
        ("tau-norm+pal", "anchors all have length one"),
        ("bbn+mixup", "goes with pal"),
        ("oltr+pal", "its classifier is its own"),
        ("crt+lws", "names two methods"),
        ("gce+crt", "has a loss of its own"),
        ("mislas+fnpal", "goes with pal"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(name, why):
    with pytest.raises(InputError, match=why):
        methods.parse(name)


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("cRT+mixup", "crt+mixup"),
        ("MiSLAS+PAL", "mislas+pal"),
        ("TDE", "causal-norm"),
        ("BBN-PAL", "bbn+pal"),
        ("ce+crt", "crt"),
        ("PCSoftmax", "pc-softmax"),
    ],
)
def test_names_are_the_papers(name, canonical):
    assert methods.parse(name).name == canonical
