"""Mirror of src/anchored/audit/cross_fit.py: nobody judges what he saw, and the price is half of one training."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import blobs
from tests.cut import Cut, CutAfter

from anchored.audit import CrossFit, cross_fit, look_settings
from anchored.audit.cross_fit import FILE, halves, look_epochs
from anchored.data import Split
from anchored.runs import complete, fit
from anchored.training import Progress, TrainingSetup

FAST = {"train": {"epochs": 8, "batch_size": 16}, "backbone": {"name": "tiny"}, "optimizer": {"lr": 0.02}}


def look(data, settings=FAST, **more):
    return cross_fit(data, complete(settings, data), **more)


def test_each_half_is_judged_by_the_model_of_the_other(monkeypatch):
    data = blobs()
    seen = []
    made = TrainingSetup.__init__

    def watched(self, config, parts, *rest):
        seen.append({tuple(row) for row in parts.train.inputs.tensor.tolist()})
        made(self, config, parts, *rest)

    monkeypatch.setattr(TrainingSetup, "__init__", watched)
    answers = look(data)
    for number in (0, 1):
        judged = {tuple(row) for row in data.inputs.tensor[answers.half == number].tolist()}
        assert judged.isdisjoint(seen[number])
        assert judged | seen[number] == {tuple(row) for row in data.inputs.tensor.tolist()}
    assert answers.epochs == 4
    assert (answers.logits.argmax(1) == data.labels).double().mean() > 0.9


@pytest.mark.parametrize("steps", [0, 5, 31, 32, 40, 60])
def test_a_look_that_was_stopped_anywhere_goes_on_to_the_same_end(steps, tmp_path):
    data = blobs()
    settings = {**FAST, "train": {**FAST["train"], "checkpoint_seconds": 0.0}}
    whole = look(data, settings)
    with pytest.raises(Cut):
        look(data, settings, folder=tmp_path, progress=CutAfter(steps))
    counted = Counting()
    resumed = look(data, settings, folder=tmp_path, progress=counted)
    assert torch.equal(resumed.logits, whole.logits)
    assert counted.steps <= 64 - steps + 1
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    assert torch.equal(look(data, settings, folder=tmp_path, progress=CutAfter(0)).logits, whole.logits)


class Counting(Progress):
    steps = 0

    def step(self, *, batch, samples, loss):
        self.steps += 1


def test_the_logits_are_cosines():
    logits = look(blobs()).logits
    assert logits.abs().max() <= 1 + 1e-5
    assert logits.dtype == torch.float32


def test_the_same_settings_give_the_same_logits():
    one, other = look(blobs()), look(blobs())
    assert torch.equal(one.logits, other.logits)
    assert torch.equal(one.half, other.half)


def test_the_only_sample_of_a_class_is_judged_too():
    data = blobs(counts=[40, 40, 1], k=3)
    assert torch.isfinite(look(data).logits).all()


@given(labels=st.lists(st.integers(0, 4), min_size=2, max_size=200), seed=st.integers(0, 99))
def test_halves_split_every_class_in_two(labels, seed):
    half = halves(torch.tensor(labels), seed)
    for j in set(labels):
        own = [h for h, y in zip(half.tolist(), labels, strict=True) if y == j]
        assert abs(own.count(0) - own.count(1)) <= 1
    assert abs(int((half == 0).sum()) - int((half == 1).sum())) <= 1


@given(st.integers(2, 300), st.integers(2, 10**6), st.integers(1, 512))
def test_two_halves_never_cost_more_than_half_a_training_but_for_a_few_steps(epochs, n, batch_size):
    found = look_epochs(epochs, n, batch_size)  # two models, half of the data each
    steps = -(-(n // 2) // min(batch_size, 64))
    assert found * steps >= 25
    assert found <= 0.5 * epochs or (found - 1) * steps < 25


@pytest.mark.parametrize(("n", "asked", "used"), [(6_000, 128, 64), (60_000, 128, 128), (6_000, 32, 32)])
def test_few_samples_come_in_small_batches_so_that_there_are_enough_steps(n, asked, used):
    chosen = look_settings(complete({"train": {"epochs": 12, "batch_size": asked}}, blobs()), n)
    assert chosen.batch_size == used
    assert chosen.epochs == look_epochs(12, n, asked)


def test_what_was_said_can_be_kept(tmp_path):
    answers = CrossFit(torch.randn(5, 3), torch.tensor([0, 1, 0, 1, 1]), 7)
    answers.save(tmp_path / "look")
    read = CrossFit.load(tmp_path / "look", n=5)
    assert torch.equal(read.logits, answers.logits)
    assert torch.equal(read.half, answers.half)
    assert read.epochs == 7
    assert CrossFit.load(tmp_path / "look", n=6) is None
    assert CrossFit.load(tmp_path) is None


def test_a_broken_file_is_named(tmp_path):
    (tmp_path / FILE).write_bytes(b"no tensors")
    with pytest.raises(ValueError, match="cannot be read"):
        CrossFit.load(tmp_path)


@pytest.mark.parametrize("method", ["ce+fnpal", "ce", "ce+pal"])
def test_raw_logits_order_the_classes_as_the_model_does(method):
    data = blobs()
    model = fit(Split(data), {"method": {"name": method, "noise_rate": 0.2}, **FAST}).model
    logits = model.raw_logits(data)
    with torch.inference_mode():
        calibrated = model(data.inputs.tensor)
    ratio = (logits / (calibrated * model.temperature)).flatten()
    assert ratio.std() < 1e-3 * ratio.mean().abs()
    if method == "ce+fnpal":
        assert logits.abs().max() <= 1 + 1e-5


def test_refuses_data_without_labels():
    data = blobs()
    with pytest.raises(ValueError, match="only if there are some"):
        cross_fit(data.with_labels(torch.full((240,), -1)), complete(FAST, data))


def test_refuses_too_few_samples():
    with pytest.raises(ValueError, match="too few to train on one half"):
        look(blobs(5))
