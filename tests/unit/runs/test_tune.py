"""Mirror of src/anchored/runs/tune.py: planned within the time, from the closed form on, kept only if it is better."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from anchored._errors import InputError
from anchored.data import Dataset, Split, TensorInputs, TextInputs
from anchored.features import encode, from_module
from anchored.ridge import fit_ridge
from anchored.runs import RunData, decide, fit
from anchored.runs.decide import Decision
from anchored.runs.tune import (
    FineTuning,
    check_tunable,
    held_out_likelihood,
    may_be_tuned,
    model_config,
    resolve_tuning,
    told,
    was_tuned,
)
from anchored.training import Checkpoint, FeaturesConfig, TrainingSetup, make_runtime, validate

NAMES = ("red", "green", "blue")


def photos(n=300, seed=1):
    """Noise, with a brighter square in the channel of the class."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(n) % 3
    pixels = torch.randint(0, 90, (n, 3, 8, 8), generator=generator, dtype=torch.uint8)
    for label in range(3):
        pixels[labels == label, label, 2:6, 2:6] += 60
    return Dataset("toy", TensorInputs(pixels), labels, NAMES)


def small_encoder(inputs):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return from_module(network, size=(8, 8)).fit(inputs)


def opened(settings, raw=None):
    raw = photos() if raw is None else raw
    encoder = small_encoder(raw.inputs)
    vectors = encode(raw, encoder, cache=False)
    features = FeaturesConfig(encoder="module:own")
    return RunData(vectors, vectors, None, encoder, features, raw)


def started(**tune):
    settings = validate(
        {"method": {"name": "ridge"}, "look": None, "tune": {"what": "all", "augment": (), "lr": 1e-2, **tune}}
    )
    data = opened(settings)
    decision = resolve_tuning(settings, decide(settings, data, None), data)
    return FineTuning(decision, data, None, make_runtime("cpu"))


def frozen_setup(tuning):
    config = tuning.config
    setup = TrainingSetup(config, tuning.data.parts(config), tuning.runtime)
    setup.run()
    return setup


def test_before_the_first_step_it_says_what_the_closed_form_says():
    tuning = started(epochs=1)
    setup = tuning._setup(tuning.config)
    tuning._start(setup)
    parts = tuning.data.parts(setup.config)
    x = parts.train.inputs.tensor.double()
    ridge = fit_ridge(x, parts.train.labels, 3)
    found = setup.answers(setup.train_set).logits / ridge.temperature
    torch.testing.assert_close(found, ridge.logits(x).float(), atol=1e-3, rtol=1e-3)


def test_the_better_answer_is_kept_and_both_are_judged_by_the_same_labels():
    tuning = started(epochs=3)
    trained = tuning.train()
    tuned = tuning.finish(trained, frozen_setup(tuning), photos(60, seed=2))
    likely = tuned.about["held_out_log_likelihood"]
    assert tuned.about["kept"] == max(likely, key=likely.get)
    assert tuned.about["held_out"] == 60  # a fifth of 300
    assert len(tuned.about["history"]) == 3
    # The encoder and the map on its vectors together are the network that was trained.
    held = tuned.setup.answers(tuned.setup.held_out).logits
    torch.testing.assert_close(held, trained.answers(trained.held_out).logits, atol=1e-4, rtol=1e-3)
    assert tuned.data.encoder.digest != tuning.encoder.digest
    assert tuned.setup.answers(tuned.data.test).logits.shape == (60, 3)


def test_an_answer_that_fine_tuning_has_spoilt_is_not_kept():
    tuning = started(epochs=1, lr=30.0)
    tuned = tuning.finish(tuning.train(), frozen_setup(tuning), None)
    assert tuned.about["kept"] == "frozen"
    assert "the frozen answer is kept" in told(tuned.about)
    assert not was_tuned({"tuning": tuned.about})


def test_stopped_and_resumed_is_the_same_as_not_stopped(tmp_path):
    def keep_the_first(state):
        if state.epoch == 1:
            state.checkpoint().save(tmp_path / "first.safetensors")

    whole = started(epochs=3, samples=128).train(save=keep_the_first)
    resumed = started(epochs=3, samples=128).train(checkpoint=Checkpoint.load(tmp_path / "first.safetensors"))
    for name, value in whole.network.state_dict().items():
        assert torch.equal(value, resumed.network.state_dict()[name]), name
    assert len(whole.state.history) == 3


def test_the_plan_fills_the_time_and_is_what_the_configuration_says():
    short, said = started(minutes=1).plan(20.0)
    long, _ = started(minutes=1).plan(200.0)
    sizes = [each.config.tune.epochs * each.config.tune.samples for each in (short, long)]
    assert 0 < sizes[0] <= sizes[1]
    assert "photos" in said
    assert long.config.tune.samples % long.config.tune.batch_size == 0
    planned = started(epochs=4, samples=64)
    assert planned.plan(0.0)[0] is planned.decision  # planned before: no time is asked for
    nothing, said = started(minutes=1).plan(0.001)
    assert nothing.config.tune.what == "none"
    assert "too short" in said


def test_minutes_are_not_part_of_the_content_but_the_plan_is():
    config = started(epochs=4, samples=64, minutes=3.0).config
    other = config.model_copy(update={"tune": config.tune.model_copy(update={"minutes": 9.0})})
    longer = config.model_copy(update={"tune": config.tune.model_copy(update={"epochs": 5})})
    assert other.content_hash == config.content_hash != longer.content_hash


def test_without_minutes_it_goes_through_the_photos_as_often_as_asked():
    settings = validate({"method": {"name": "ridge"}, "look": None, "tune": {"what": "all"}, "train": {"epochs": 2}})
    data = opened(settings)
    config = resolve_tuning(settings, decide(settings, data, None), data).config
    assert (config.tune.epochs, config.tune.samples) == (2, None)
    assert model_config(config).train.epochs == 2
    assert config.tune.augment == ("flip",)  # 8 pixels are too few for a shift


@pytest.mark.parametrize(
    ("tune", "text"),
    [
        ({"what": "none", "minutes": 3}, "--tune none leaves it out"),
        ({"what": "head", "minutes": 3}, "a head is trained for --epochs"),
        ({"minutes": 3}, "only photos can be fine-tuned, texts are encoded by fixed vectors"),
    ],
)
def test_what_cannot_be_tuned_is_refused_in_one_line(tune, text):
    texts = Dataset("news", TextInputs(["a", "b"]), torch.tensor([0, 1]), ("x", "y"))
    with pytest.raises(InputError, match=text) as caught:
        check_tunable(validate({"tune": tune}), texts)
    assert "\n" not in str(caught.value)


def test_vectors_and_networks_from_scratch_are_refused_and_zero_minutes_are_not():
    vectors = Dataset("v", TensorInputs(torch.zeros(4, 2)), torch.tensor([0, 1, 0, 1]), ("x", "y"))
    with pytest.raises(InputError, match="vectors have no network below them"):
        fit(Split(vectors), {"tune": {"what": "all"}})
    with pytest.raises(InputError, match="trained from scratch cannot be fine-tuned"):
        check_tunable(validate({"tune": {"minutes": 1}, "backbone": {"name": "cnn4"}}), photos())
    check_tunable(validate({"tune": {"minutes": 0}}), vectors)


def test_only_who_has_not_said_anything_gets_a_hint():
    data = opened(validate({}))
    asked = ({}, {"tune": {"minutes": 0}}, {"tune": {"what": "none"}})
    assert [may_be_tuned(validate(each), data) for each in asked] == [True, False, False]
    assert not may_be_tuned(validate({}), replace(data, encoder=None))


def test_the_encoder_must_be_one_for_photos():
    settings = validate({"tune": {"minutes": 1}})
    data = replace(opened(settings), encoder=None)
    with pytest.raises(InputError, match="no pretrained network to fine-tune"):
        resolve_tuning(settings, Decision(settings), data)


def test_wrong_labels_are_allowed_for_when_answers_are_compared():
    """A model that knows the truth is the better one, though it contradicts two labels in five."""
    generator = torch.Generator().manual_seed(0)
    truth = torch.randint(4, (3000,), generator=generator)
    given = torch.where(torch.rand(3000, generator=generator) < 0.4, (truth + 1) % 4, truth)
    sure = 6.0 * nn.functional.one_hot(truth, 4) + torch.randn(3000, 4, generator=generator)
    vague = 1.5 * nn.functional.one_hot(truth, 4) + torch.randn(3000, 4, generator=generator)
    assert held_out_likelihood(sure, given) > held_out_likelihood(vague, given)
