"""Mirror of src/anchored/runs/conclude.py: the numbers are those of the model that is handed out."""

import pytest
import torch
from tests.builders import blobs

from anchored.data import Split, load_digits
from anchored.metrics import accuracy, ece, least_temperature
from anchored.runs import Decision, Look, RunData, decide, fit
from anchored.runs.conclude import conclude
from anchored.training import Runtime, TrainingSetup, validate

SETTINGS = {
    "method": {"name": "ce"},
    "backbone": {"name": "tiny"},
    "data": {"corrupt": ["longtail=20"]},
    "train": {"epochs": 3},
}


def finished(posterior=None, split=None, **changes):
    """A run that ends before it has begun: the network as it was drawn."""
    settings = validate({**SETTINGS, **changes})
    data = RunData.open(load_digits() if split is None else split, settings)
    decision = decide(settings, data, None)
    setup = TrainingSetup(decision.config, data.parts(decision.config), Runtime(torch.device("cpu")))
    look = None if posterior is None else Look(decision.config, None, posterior, None, posterior)
    return setup, *conclude(setup, decision, data, look, None)


@pytest.fixture(scope="module")
def run():
    return fit(load_digits(), SETTINGS)


def test_the_numbers_are_those_of_the_model(run):
    test = load_digits().test
    likely = run.model.predict_proba(test.inputs.take(torch.arange(len(test))))
    said = run.result["test"]
    assert said["n"] == len(test)
    assert said["accuracy"] == pytest.approx(accuracy(likely, test.labels), abs=2e-3)
    assert said["ece"] == pytest.approx(ece(likely.double(), test.labels), abs=2e-3)
    own = likely[torch.arange(len(test)), test.labels].double()
    assert said["nll"] == pytest.approx(float(-own.log().mean()), rel=1e-3)


def test_the_best_epoch_is_shown_beside_the_last_and_not_chosen(run):
    accuracies = [record["test_accuracy"] for record in run.history]
    assert run.result["history_best"]["test_accuracy"] == max(accuracies)
    assert accuracies[run.result["history_best"]["epoch"] - 1] == max(accuracies)
    assert run.result["test"]["accuracy"] == accuracies[-1]


def test_the_best_epoch_is_one_of_the_last_stage():
    result = fit(
        load_digits(), {**SETTINGS, "method": {"name": "crt"}, "train": {"epochs": 2}, "second": {"epochs": 2}}
    )
    accuracies = [record["test_accuracy"] for record in result.history]
    assert len(accuracies) == 4
    assert result.result["history_best"]["epoch"] in (3, 4)
    assert result.result["history_best"]["test_accuracy"] == max(accuracies[2:])
    post_hoc = fit(load_digits(), {**SETTINGS, "method": {"name": "post-hoc"}, "train": {"epochs": 1}})
    assert post_hoc.result["history_best"] == {}  # its epochs are those of another network


def test_without_epochs_there_is_no_best_one():
    _, _, result = finished()
    assert result["history_best"] == {}
    assert result["epochs"] == 0


def test_the_temperature_comes_from_held_out_data_where_there_is_any():
    work, model, result = finished()
    assert result["calibration"]["on"] == "held-out data"
    assert result["calibration"]["n"] == len(work.held_out)
    assert result["temperature"] == model.temperature
    work, _, result = finished(data={"corrupt": ["longtail=20"], "hold_out": 0.0})
    assert (result["calibration"]["on"], result["calibration"]["n"]) == ("training data", len(work.train_set))
    assert "held_out" not in result


def test_no_temperature_claims_more_than_the_samples_show(run):
    work, model, _ = finished()
    with torch.no_grad():
        x = model.normalization(work.held_out.inputs.take(torch.arange(len(work.held_out))))
        logits = model.classifier(x)
    assert model.temperature >= least_temperature(logits) * (1 - 1e-6)


def test_the_drawn_noise_rate_is_told_to_the_temperature():
    work, _, result = finished(data={"corrupt": ["symmetric=0.4"]})
    wrong = work.held_out.labels != work.held_out.clean_labels
    assert result["calibration"]["noise_rate"] == pytest.approx(float(wrong.double().mean()))
    assert result["corruption"]["noise"]["flipped"] > 0


def test_margins_are_shown_where_the_head_has_rows():
    assert "gamma_min" in finished()[2]["test"]
    work, _, _ = finished(method={"name": "ncm"})
    work.enter()
    data = RunData.open(load_digits(), work.config)
    _, result = conclude(work, Decision(work.config), data, None, None)
    assert "gamma_min" not in result["test"]


def test_the_model_is_a_copy_that_stays_when_training_goes_on():
    work, model, _ = finished()
    before = model.classifier.head.weight.clone()
    with torch.no_grad():
        work.network.head.weight.zero_()
    assert torch.equal(model.classifier.head.weight, before)
    assert not any(p.requires_grad for p in model.parameters())


def test_the_description_is_enough_to_make_the_network_again(run, tmp_path):
    from anchored.runs import TrainedModel

    run.model.save(tmp_path)
    x = load_digits().test.inputs.take(torch.arange(20))
    assert torch.equal(TrainedModel.load(tmp_path)(x), run.model(x))
    assert run.model.description["training_counts"] == run.result["class_counts"]
    assert run.model.description["config_hash"] == run.config.content_hash


def test_held_out_labels_in_doubt_are_judged_by_their_probabilities():
    """Labels are wrong, the look at them is right: the estimate is the true accuracy, the labels' word is not."""
    split = load_digits()
    wrong = (split.train.labels + (torch.arange(len(split.train)) % 2)) % 10
    data = split.train.with_labels(wrong)
    posterior = torch.nn.functional.one_hot(split.train.labels, 10).double()
    setup, model, result = finished(posterior, Split(data), data={"hold_out": 0.2})
    held = RunData.open(Split(data), setup.config).held_index(setup.config)
    logits = model.predict_proba(data.inputs.take(held)).double()
    assert result["held_out"]["accuracy"] == pytest.approx(accuracy(logits, wrong[held]), abs=2e-3)
    assert result["estimated"]["accuracy"] == pytest.approx(accuracy(logits, split.train.labels[held]), abs=2e-3)
    assert result["estimated"]["ece"] == pytest.approx(ece(logits, split.train.labels[held]), abs=5e-3)
    assert result["calibration"]["noise_rate"] == pytest.approx(
        float((wrong != split.train.labels)[held].double().mean())
    )
    _, _, blind = finished(None, Split(data), data={"hold_out": 0.2})
    assert "estimated" not in blind
    assert blind["held_out"]["accuracy"] == result["held_out"]["accuracy"]


def test_if_the_true_labels_are_known_nothing_is_estimated():
    posterior = torch.full((1437, 10), 0.1, dtype=torch.float64)
    assert "estimated" not in finished(posterior, data={"corrupt": ["symmetric=0.3"]})[2]


def test_a_part_of_many_logits_gives_nearly_the_same_temperature(monkeypatch):
    data = blobs(3000, distance=1.5)
    whole = fit(Split(data), {"method": {"name": "ridge"}}).model.temperature
    monkeypatch.setattr("anchored.runs.conclude._MOST_NUMBERS", 3000)  # every third sample
    part = fit(Split(data), {"method": {"name": "ridge"}}).model.temperature
    assert part != whole
    assert part == pytest.approx(whole, rel=0.15)
