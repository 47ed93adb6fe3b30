"""Mirror of src/anchored/runs/look.py: a look, a decision, a training; and a stopped run goes on as if it was not."""

import json
import shutil

import numpy as np
import pytest
import torch
from tests.builders import blobs
from tests.cut import Cut, CutAfter

from anchored import noise
from anchored.audit import CrossFit
from anchored.data import Dataset, Split, TensorInputs, corrupt, from_arrays, open_source
from anchored.runs import RunData, RunFolder, fit, look_at_labels
from anchored.training import Progress, TrainingSetup, validate

FAST = {"train": {"epochs": 8, "batch_size": 32}, "backbone": {"name": "tiny"}, "optimizer": {"lr": 0.02}}


def clouds(n=400, k=4, seed=0):
    return blobs(n, k, d=8, distance=3.0, seed=seed)


@pytest.fixture(scope="module")
def split():
    return Split(clouds(), clouds(200, seed=1))


@pytest.fixture
def seen(monkeypatch):
    """The setup of the training that comes last, under ``"setup"``."""
    seen = {}
    made = TrainingSetup.__init__

    def watched(self, *arguments, **named):
        made(self, *arguments, **named)
        seen["setup"] = self

    monkeypatch.setattr(TrainingSetup, "__init__", watched)
    return seen


def with_noise(**more):
    settings = {**FAST, "data": {"corrupt": ["symmetric=0.4"]}}
    return {name: {**settings.get(name, {}), **more.get(name, {})} for name in {*settings, *more}}


def test_it_finds_the_noise_and_says_what_it_does_about_it(split, tmp_path):
    said = []

    class Listening(Progress):
        def say(self, line):
            said.append(line)

    fitted = fit(split, with_noise(), folder=tmp_path / "run", progress=Listening())
    found = fitted.result["auto"]
    assert found["noise_rate"] == pytest.approx(0.4, abs=0.1)
    assert found["interval"][0] < 0.4 < found["interval"][1]
    assert fitted.config.train.labels == "cleaned"
    assert found["text"] in said
    run = RunFolder.open(tmp_path / "run")
    assert run.read_result()["auto"] == json.loads(json.dumps(found))
    assert run.read_config() == fitted.config
    assert CrossFit.load(tmp_path / "run" / "look", n=400) is not None
    assert fitted.result["test"]["accuracy"] > 0.85


def test_it_is_never_told_the_rate(split):
    """The clean labels, which a run that corrupts its data keeps for evaluation, change nothing of what is trained."""
    settings = {**FAST, "data": {"hold_out": 0.1}}
    noisy = noise.symmetric(split.train.labels, 0.4, 4, generator=torch.Generator().manual_seed(0)).labels
    blind = fit(Split(split.train.with_labels(noisy)), settings)
    seeing = fit(Split(split.train.with_labels(noisy, clean_labels=split.train.labels)), settings)
    assert blind.result["auto"] == seeing.result["auto"]
    weights = zip(blind.model.classifier.parameters(), seeing.model.classifier.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in weights)


def test_a_stopped_run_ends_as_if_it_had_not_been_stopped(split, tmp_path):
    class Stops(Progress):
        def epoch(self, record, *, seconds, samples):
            if record["epoch"] == 5:  # the two short trainings have four
                raise KeyboardInterrupt

    whole = fit(split, with_noise(), folder=tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        fit(split, with_noise(), folder=tmp_path / "cut", progress=Stops())
    run = RunFolder.open(tmp_path / "cut")
    assert not run.finished
    resumed = fit(split, run.read_settings(), folder=run)
    assert resumed.result == whole.result
    assert (tmp_path / "cut" / "model.safetensors").read_bytes() == (
        tmp_path / "whole" / "model.safetensors"
    ).read_bytes()


def test_what_the_two_models_said_can_be_lost_and_is_made_again(split, tmp_path):
    class Stops(Progress):
        def epoch(self, record, *, seconds, samples):
            if record["epoch"] == 5:
                raise KeyboardInterrupt

    whole = fit(split, with_noise())
    with pytest.raises(KeyboardInterrupt):
        fit(split, with_noise(), folder=tmp_path / "cut", progress=Stops())
    shutil.rmtree(tmp_path / "cut" / "look")
    run = RunFolder.open(tmp_path / "cut")
    resumed = fit(split, run.read_settings(), folder=run)
    assert resumed.result["test"] == whole.result["test"]


def test_a_method_of_the_users_trains_on_the_labels_as_given(split):
    fitted = fit(split, with_noise(method={"name": "ce+fnpal", "noise_rate": "auto"}))
    assert fitted.config.train.labels == "given"
    assert fitted.config.method.noise_rate == pytest.approx(0.4, abs=0.1)


def test_without_anything_left_open_nobody_looks(split):
    fitted = fit(split, with_noise(method={"name": "ce"}))
    assert fitted.look is None
    assert fitted.config.look is None
    assert "auto" not in fitted.result


def test_a_refusal_comes_before_any_training_and_leaves_nothing_behind(split, tmp_path):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "note.txt").write_text("mine")
    with pytest.raises(ValueError, match="not empty"):
        fit(split, with_noise(), folder=tmp_path / "taken")
    with pytest.raises(ValueError, match="backbone"):
        fit(split, {"backbone": {"name": "nonsense"}}, folder=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_what_is_held_out_keeps_its_labels_and_counts_fully(split, seen):
    fitted = fit(split, with_noise(data={"hold_out": 0.2}))
    assert fitted.config.train.labels == "cleaned"
    made = seen["setup"]
    assert made.held_out.weights is None
    assert len(made.held_out) == 80
    assert len(made.train_set) == 320
    flipped = made.train_set.labels != made.train_set.clean_labels
    assert made.train_set.weights[flipped].mean() < 0.3 < 0.7 < made.train_set.weights[~flipped].mean()


def test_labels_that_a_person_confirmed_count_fully(split, seen, tmp_path):
    """Also the ones that the two models would contradict: here a person insists on four wrong labels.

    (Ten times as many would be taken as a sign that such contradictions are the models' mistakes, and rightly so.)
    """
    corrupted = corrupt(split.train, ["symmetric=0.4"], seed=0).dataset
    wrong = (corrupted.labels != corrupted.clean_labels).nonzero()[:4, 0].tolist()
    names = [corrupted.class_names[i] for i in corrupted.labels.tolist()]
    path = tmp_path / "corrections.csv"
    rows = [f"{i},{corrupted.ids[i]},{names[i]},keep,," for i in wrong]
    path.write_text("\n".join(["index,id,given,decision,label,time", *rows]) + "\n")
    fit(split, with_noise(data={"hold_out": 0.0, "corrections": str(path)}, train={"early_stop": None}))
    weights, flipped = seen["setup"].train_set.weights, corrupted.labels != corrupted.clean_labels
    assert (weights[wrong] == 1).all()
    flipped[wrong] = False
    assert weights[flipped].mean() < 0.3


def test_the_model_is_judged_by_what_the_labels_probably_are(split, tmp_path):
    """Nobody knows the truth but this test: the estimate lies nearer to it than what the noisy labels say."""
    noisy = noise.symmetric(split.train.labels, 0.4, 4, generator=torch.Generator().manual_seed(0)).labels
    settings = {**FAST, "data": {"hold_out": 0.25}}
    looked = fit(Split(split.train.with_labels(noisy), split.test), settings, folder=tmp_path / "run")
    true, held, estimated = (looked.result[part]["accuracy"] for part in ("test", "held_out", "estimated"))
    assert abs(estimated - true) < 0.1 < true - held
    confidence = looked.result["test"]["ece"]
    assert confidence < 0.1
    again = fit(
        Split(split.train.with_labels(noisy), split.test),
        RunFolder.open(tmp_path / "run").read_settings(),
        folder=RunFolder.open(tmp_path / "run"),
    )
    assert again.result == looked.result


@pytest.fixture(scope="module")
def mnist_like(tmp_path_factory):
    """A small data set in MNIST's file format: its recipe leaves images as they are, so the decision shifts them."""
    root = tmp_path_factory.mktemp("root") / "MNIST" / "raw"
    root.mkdir(parents=True)
    generator = np.random.default_rng(0)
    patterns = generator.integers(0, 256, (10, 14, 14))
    for part, n in (("train", 500), ("t10k", 100)):
        labels = np.arange(n) % 10
        noise_ = generator.integers(-60, 60, (n, 28, 28))
        images = np.clip(np.kron(patterns[labels], np.ones((1, 2, 2))) + noise_, 0, 255).astype(np.uint8)
        header = np.array([2051, n, 28, 28], dtype=">i4").tobytes()
        (root / f"{part}-images-idx3-ubyte").write_bytes(header + images.tobytes())
        header = np.array([2049, n], dtype=">i4").tobytes()
        (root / f"{part}-labels-idx1-ubyte").write_bytes(header + labels.astype(np.uint8).tobytes())
    return open_source("mnist", root=root.parent.parent)


def test_a_run_on_images_is_repeated_from_its_configuration(mnist_like, tmp_path):
    settings = {
        "data": {"source": "mnist", "corrupt": ["symmetric=0.3"]},
        "backbone": {"name": "tiny"},
        "train": {"epochs": 6},
    }
    first = fit(mnist_like, settings, folder=tmp_path / "first")
    assert first.config.data.augment == ("crop=2",)
    assert first.config.look.augment == ()
    again = fit(mnist_like, RunFolder.open(tmp_path / "first").read_config(), folder=tmp_path / "again")
    for name in ("model.safetensors", "model.json", "result.json", "config.yaml", "audit/suspects.csv"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "again" / name).read_bytes(), name
    assert again.config.content_hash == first.config.content_hash


def run_to_the_end(split, run):
    return fit(split, run.read_settings(), folder=run)


def test_a_run_stopped_during_the_look_goes_on(split, tmp_path):
    whole = fit(split, with_noise(), folder=tmp_path / "whole")
    with pytest.raises(Cut):
        fit(split, with_noise(), folder=tmp_path / "cut", progress=CutAfter(40))
    run = RunFolder.open(tmp_path / "cut")
    assert (run.started, run.decided) == (True, False)
    resumed = run_to_the_end(split, run)
    assert resumed.result == whole.result
    same_files(tmp_path / "whole", tmp_path / "cut")


def same_files(one, other):
    for name in ("model.safetensors", "model.json", "result.json", "config.yaml", "history.jsonl", "audit/audit.json"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


@pytest.mark.parametrize("lost", [("look", "model.json", "audit", "result.json"), ("audit", "result.json")])
def test_what_a_kill_left_out_is_completed(lost, split, tmp_path):
    """Killed after the configuration and before anything else, or between the model and the audit."""
    fit(split, with_noise(), folder=tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "cut")
    for name in lost:
        path = tmp_path / "cut" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if "look" in lost:
        shutil.rmtree(tmp_path / "cut" / "checkpoint")
    resumed = run_to_the_end(split, RunFolder.open(tmp_path / "cut"))
    assert "auto" in resumed.result
    same_files(tmp_path / "whole", tmp_path / "cut")


@pytest.mark.parametrize(("spread", "asked"), [(0.1, False), (1.0, True)])
def test_a_network_judges_vectors_only_if_the_others_leave_something_to_explain(spread, asked):
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(300) % 3
    rows = torch.eye(3)[labels] + spread * torch.randn(300, 3, generator=generator)
    data = Dataset("toy", TensorInputs(rows), labels, ("a", "b", "c"))
    settings = validate({})
    look = look_at_labels(RunData.open(Split(data), settings), settings)
    assert ("network" in look.settings.judges) == asked
    assert ("network" in [each.name for each in look.opinions]) == asked
    again = validate({"look": look.settings.model_copy(update={"judges": ("ridge", "network")}).model_dump()})
    look = look_at_labels(RunData.open(Split(data), again), again)
    assert "network" in [each.name for each in look.opinions]  # who names it, gets it


def test_random_labels_are_not_known_because_a_network_joins_in():
    """Seed 2: the judges together pass a test by chance once the network is among them, and fail the exact one."""
    rng = np.random.default_rng(2)
    data = from_arrays(rng.normal(size=(900, 5)), rng.integers(0, 3, 900))
    settings = validate({})
    look = look_at_labels(RunData.open(Split(data), settings), settings)
    assert not look.knowable
