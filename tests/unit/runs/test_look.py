"""Mirror of src/anchored/auto/_fit.py: a look, a choice, a training; and a stopped run goes on as if it was not."""

import json
import shutil
import sys

import pytest
import torch

from anchored import auto, noise
from anchored.audit import CrossFit
from anchored.data import Dataset, Split, TensorInputs, corrupt
from anchored.runs import RunFolder, looks_first
from anchored.runs import fit as plain_fit
from anchored.training import Progress

FAST = {"train": {"epochs": 8, "batch_size": 32}, "backbone": {"name": "tiny"}, "optimizer": {"lr": 0.02}}


def blobs(n=400, k=4, seed=0):
    g = torch.Generator().manual_seed(seed)
    labels = torch.arange(n) % k
    rows = 3.0 * torch.eye(k, 8)[labels] + torch.randn(n, 8, generator=g)
    return Dataset("blobs", TensorInputs(rows), labels, tuple("abcd"[:k]))


@pytest.fixture(scope="module")
def split():
    return Split(blobs(), blobs(200, seed=1))


@pytest.fixture
def seen(monkeypatch):
    """The work of the training that comes last, under ``"work"``."""
    seen = {}
    work = sys.modules["anchored.training.fit"].Work

    def watched(*arguments, **named):
        seen["work"] = work(*arguments, **named)
        return seen["work"]

    monkeypatch.setattr(sys.modules["anchored.training.fit"], "Work", watched)
    return seen


def with_noise(**more):
    settings = {**FAST, "data": {"corrupt": ["symmetric=0.4"]}}
    return {name: {**settings.get(name, {}), **more.get(name, {})} for name in {*settings, *more}}


def test_it_finds_the_noise_and_says_what_it_does_about_it(split, tmp_path):
    said = []

    class Listening(Progress):
        def say(self, line):
            said.append(line)

    fitted = auto.fit(split, with_noise(), folder=tmp_path / "run", progress=Listening())
    found = fitted.result["auto"]
    assert found["noise_rate"] == pytest.approx(0.4, abs=0.1)
    assert found["interval"][0] < 0.4 < found["interval"][1]
    assert fitted.config.train.labels == "cleaned"
    assert found["text"] in said
    run = RunFolder.open(tmp_path / "run")
    assert run.read_result()["auto"] == json.loads(json.dumps(found))
    assert run.read_config() == fitted.config
    assert CrossFit.load(tmp_path / "run" / "pilot", n=400) is not None
    assert fitted.result["test"]["accuracy"] > 0.85


def test_it_is_never_told_the_rate(split):
    """The clean labels, which a run that spoils its data keeps for evaluation, change nothing of what is trained."""
    settings = {**FAST, "data": {"hold_out": 0.1}}
    noisy = noise.symmetric(split.train.labels, 0.4, 4, generator=torch.Generator().manual_seed(0)).labels
    blind = auto.fit(Split(split.train.with_labels(noisy)), settings)
    seeing = auto.fit(Split(split.train.with_labels(noisy, clean_labels=split.train.labels)), settings)
    assert blind.result["auto"] == seeing.result["auto"]
    weights = zip(blind.model.classifier.parameters(), seeing.model.classifier.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in weights)


def test_a_stopped_run_ends_as_if_it_had_not_been_stopped(split, tmp_path):
    class Stops(Progress):
        def epoch(self, record, *, seconds, samples):
            if record["epoch"] == 5:  # the two short trainings have four
                raise KeyboardInterrupt

    whole = auto.fit(split, with_noise(), folder=tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        auto.fit(split, with_noise(), folder=tmp_path / "cut", progress=Stops())
    run = RunFolder.open(tmp_path / "cut")
    assert not run.finished
    resumed = auto.fit(split, run.read_config().as_dict(), folder=run)
    assert resumed.result == whole.result
    assert (tmp_path / "cut" / "model.safetensors").read_bytes() == (
        tmp_path / "whole" / "model.safetensors"
    ).read_bytes()


def test_what_the_two_models_said_can_be_lost_and_is_made_again(split, tmp_path):
    class Stops(Progress):
        def epoch(self, record, *, seconds, samples):
            if record["epoch"] == 5:
                raise KeyboardInterrupt

    whole = auto.fit(split, with_noise())
    with pytest.raises(KeyboardInterrupt):
        auto.fit(split, with_noise(), folder=tmp_path / "cut", progress=Stops())
    shutil.rmtree(tmp_path / "cut" / "pilot")
    run = RunFolder.open(tmp_path / "cut")
    resumed = auto.fit(split, run.read_config().as_dict(), folder=run)
    assert resumed.result["test"] == whole.result["test"]


def test_a_method_of_the_users_trains_on_the_labels_as_given(split):
    fitted = auto.fit(split, with_noise(method={"name": "ce+fnpal", "noise_rate": "auto"}))
    assert fitted.config.train.labels == "given"
    assert fitted.config.method.noise_rate == pytest.approx(0.4, abs=0.1)


def test_without_anything_left_open_it_is_plain_training(split):
    settings = with_noise(method={"name": "ce"})
    one, other = auto.fit(split, settings), plain_fit(split, settings)
    assert one.result == other.result
    assert "auto" not in one.result


@pytest.mark.parametrize(
    ("settings", "looks"),
    [
        ({}, True),
        ({"method": {"name": "ce"}}, False),
        ({"method": {"name": "ce"}, "train": {"labels": "cleaned"}}, True),
        ({"method": {"name": "ce+fnpal"}}, True),
        ({"method": {"name": "ce+fnpal", "noise_rate": 0.3}}, False),
        ({"method": {"name": "ce+fnpal", "scale": 2.0}}, False),
        ({"method": {"name": "ce+fnpal"}, "data": {"corrupt": ["symmetric=0.4"]}}, False),
        ({"method": {"name": "ce+fnpal", "noise_rate": "auto"}, "data": {"corrupt": ["symmetric=0.4"]}}, True),
        ({"method": {"name": "ce+fnpal"}, "data": {"corrupt": ["longtail=5"]}}, True),
    ],
)
def test_it_looks_only_where_something_depends_on_it(settings, looks):
    assert looks_first(settings, blobs()) is looks


def test_a_handful_of_samples_is_not_looked_at():
    assert not looks_first({}, blobs(120))


def test_a_refusal_comes_before_any_training_and_leaves_nothing_behind(split, tmp_path):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "note.txt").write_text("mine")
    with pytest.raises(ValueError, match="not empty"):
        auto.fit(split, with_noise(), folder=tmp_path / "taken")
    with pytest.raises(ValueError, match="backbone"):
        auto.fit(split, {"backbone": {"name": "nonsense"}}, folder=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_what_is_held_out_keeps_its_labels_and_counts_fully(split, seen):
    fitted = auto.fit(split, with_noise(data={"hold_out": 0.2}))
    assert fitted.config.train.labels == "cleaned"
    made = seen["work"]
    assert made.held_out.weights is None
    assert len(made.held_out) == 80
    assert len(made.train_set) == 320
    flipped = made.train_set.labels != made.train_set.clean_labels
    assert made.train_set.weights[flipped].mean() < 0.3 < 0.7 < made.train_set.weights[~flipped].mean()


def test_labels_that_a_person_confirmed_count_fully(split, seen, tmp_path):
    """Also the ones that the two models would contradict: here a person insists on forty wrong labels."""
    spoiled = corrupt(split.train, ["symmetric=0.4"], seed=0).dataset
    wrong = (spoiled.labels != spoiled.clean_labels).nonzero()[:40, 0].tolist()
    names = [spoiled.class_names[i] for i in spoiled.labels.tolist()]
    path = tmp_path / "corrections.csv"
    rows = [f"{i},{spoiled.ids[i]},{names[i]},keep,," for i in wrong]
    path.write_text("\n".join(["index,id,given,decision,label,time", *rows]) + "\n")
    auto.fit(split, with_noise(data={"hold_out": 0.0, "corrections": str(path)}, train={"early_stop": None}))
    weights, flipped = seen["work"].train_set.weights, spoiled.labels != spoiled.clean_labels
    assert (weights[wrong] == 1).all()
    flipped[wrong] = False
    assert weights[flipped].mean() < 0.3


def test_training_alone_refuses_labels_that_nobody_looked_at(split):
    with pytest.raises(ValueError, match=r"call anchored\.auto\.fit"):
        plain_fit(split, {**FAST, "train": {"labels": "cleaned"}})


def test_the_model_is_judged_by_what_the_labels_probably_are(split, tmp_path):
    """Nobody knows the truth but this test: the estimate lies nearer to it than what the noisy labels say."""
    noisy = noise.symmetric(split.train.labels, 0.4, 4, generator=torch.Generator().manual_seed(0)).labels
    settings = {**FAST, "data": {"hold_out": 0.25}}
    looked = auto.fit(Split(split.train.with_labels(noisy), split.test), settings, folder=tmp_path / "run")
    true, held, estimated = (looked.result[part]["accuracy"] for part in ("test", "held_out", "estimated"))
    assert abs(estimated - true) < 0.1 < true - held
    confidence = looked.result["test"]["ece"]
    assert confidence < 0.1
    again = auto.fit(
        Split(split.train.with_labels(noisy), split.test),
        RunFolder.open(tmp_path / "run").read_config().as_dict(),
        folder=RunFolder.open(tmp_path / "run"),
    )
    assert again.result == looked.result
