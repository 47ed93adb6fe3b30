"""Every one-stage method of the paper, by name: it learns, it is kept, it resumes, it repeats, it is calibrated."""

import functools
import math

import pytest
import torch
from tests.builders import blobs
from tests.cut import Cut, CutAfter

from anchored import methods
from anchored._errors import InputError
from anchored._random import stream
from anchored.data import Split
from anchored.runs import RunFolder, TrainedModel, fit

K = 4
TABLE = {
    # loss: what may follow it
    "ce": ("", "pal", "fnpal", "fnpn", "drw", "drw+pal", "mixup", "mixup+pal", "mixup+fnpal", "mixup+fnpn", "rs", "rw"),
    "fl": ("", "pal", "fnpal", "fnpn", "drw"),
    "gce": ("", "pal", "fnpal", "fnpn", "drw"),
    "sce": ("", "pal", "fnpal", "fnpn", "drw"),
    "mae": ("", "pal", "fnpal", "fnpn", "drw"),
    "nce+mae": ("", "pal", "fnpal", "fnpn", "drw"),
    "nce+rce": ("", "pal", "fnpal", "fnpn", "drw"),
    "nfl+rce": ("", "pal", "fnpal", "fnpn", "drw"),
    "nsl": ("", "fnpal", "drw"),
    "ldam": ("", "pal", "drw", "drw+pal"),
    "norm": ("", "pal", "drw", "drw+pal"),
    "balanced-softmax": ("", "pal", "fnpal", "fnpn"),
    "logit-adjusted": ("", "pal", "fnpal", "fnpn"),
    "lade": ("", "pal", "fnpal", "fnpn"),
    "label-aware": ("", "pal", "fnpal", "fnpn", "drw"),
    "dot-regression": ("", "fnpal", "drw"),
}
REFUSED = {
    "nsl": ("pal", "fnpn"),
    "ldam": ("fnpal", "fnpn"),
    "norm": ("fnpal", "fnpn"),
    "balanced-softmax": ("drw", "rw", "rs"),
    "logit-adjusted": ("drw", "rw", "rs"),
    "lade": ("drw", "rw", "rs"),
    "dot-regression": ("pal", "fnpn"),
    "ce": ("pal+fnpal", "rs+drw"),
}
NAMES = [loss + (f"+{rest}" if rest else "") for loss, rests in TABLE.items() for rest in rests]


def clouds(counts, seed):
    """Four round clouds at the corners of a simplex, of which the last may be much smaller."""
    return blobs(counts=counts, distance=2.5, spread=0.7, seed=seed)


@functools.cache
def split():
    return Split(clouds([100, 75, 50, 40], 0), clouds([40] * K, 1))


def settings(name, **train):
    return {
        "method": {"name": name, "noise_rate": 0.1},
        "backbone": {"name": "tiny"},
        "data": {"hold_out": 0.2},
        "optimizer": {"name": "adamw", "lr": 0.03},
        "train": {"epochs": 4, "batch_size": 32, "drw_start": 0.5, **train},
    }


@functools.cache
def fitted(name):
    return fit(split(), settings(name))


def weights(model):
    return model.classifier.state_dict()


@pytest.mark.parametrize("name", NAMES)
def test_it_learns_and_stays_finite(name):
    run = fitted(name)
    losses = [record["train_loss"] for record in run.history]
    assert all(math.isfinite(value) for value in losses)
    assert all(torch.isfinite(value).all() for value in weights(run.model).values())
    assert run.result["test"]["accuracy"] > 0.9, "chance is 0.25"


@pytest.mark.parametrize("name", NAMES)
def test_it_is_loaded_as_it_was_saved(name, tmp_path):
    model, x = fitted(name).model, split().test.inputs.take(torch.arange(160))
    model.save(tmp_path)
    again = TrainedModel.load(tmp_path)
    assert torch.equal(again.predict_proba(x), model.predict_proba(x))
    assert again.class_names == model.class_names
    assert again.description["method"] == methods.parse(name).name


@pytest.mark.parametrize("name", NAMES)
def test_cut_within_an_epoch_it_goes_on_to_the_very_same_weights(name, tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _: None)  # what a power cut would lose is another test's business
    with pytest.raises(Cut):
        fit(split(), settings(name, checkpoint_seconds=0.0), folder=tmp_path / "run", progress=CutAfter(17))
    run = RunFolder.open(tmp_path / "run")
    assert run.read_checkpoint().facts["batch"] == 17 - 2 * 7, "two epochs of seven batches, and three more"
    resumed, straight = fit(split(), settings(name), folder=run), fitted(name)
    assert resumed.history == straight.history
    for key, value in weights(straight.model).items():
        assert torch.equal(weights(resumed.model)[key], value), key
    assert resumed.model.temperature == straight.model.temperature


@pytest.mark.parametrize("name", ["ce", "ce+mixup", "ldam+drw", "lade", "nsl", "ce+rs"])
def test_the_same_configuration_gives_the_same_weights_and_another_seed_others(name):
    first, second = fitted(name), fit(split(), settings(name))
    third = fit(split(), settings(name, seed=1))
    assert all(torch.equal(weights(second.model)[key], value) for key, value in weights(first.model).items())
    assert not all(torch.equal(weights(third.model)[key], value) for key, value in weights(first.model).items())


@pytest.mark.parametrize("name", NAMES)
def test_its_temperature_makes_probabilities_honest(name):
    run = fitted(name)
    assert 1e-4 < run.model.temperature < 1e3
    # Without it, cosines and margins leave up to 0.55. The temperature comes from fifty other samples.
    assert run.result["test"]["ece"] < 0.1
    x = split().test.inputs.take(torch.arange(160))
    assert torch.allclose(run.model.predict_proba(x).sum(dim=1), torch.ones(160), atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_anchors_do_not_move(name):
    method, model = methods.parse(name), fitted(name).model
    assert ("head.prototypes" in weights(model)) == method.anchored
    if method.anchored:
        signed = method.algorithm == "dot-regression"  # BatchNorm stands between its ReLU and its head
        drawn = methods.make_head(method, 32, K, signed_features=signed, noise_rate=0.1, generator=stream(0, "head"))
        assert torch.equal(weights(model)["head.prototypes"], drawn.prototypes)


@pytest.mark.parametrize("name", [f"{loss}+{rest}" for loss, rests in REFUSED.items() for rest in rests])
def test_what_makes_no_sense_is_refused_before_anything_is_written(name, tmp_path):
    with pytest.raises(InputError, match=f"method '{name}'".replace("+", r"\+")):
        fit(split(), settings(name), folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()
