"""Mirror of src/anchored/training/finish.py: the numbers are those of the model that is handed out."""

import pytest
import torch
from anchored.training.finish import finish
from anchored.training.resolve import resolve
from anchored.training.work import Work

from anchored._errors import InputError
from anchored.data import Split, load_digits
from anchored.data.holdout import held_out_mask
from anchored.metrics import accuracy, ece, least_temperature
from anchored.runs import fit, prepare
from anchored.training import Runtime

SETTINGS = {
    "method": {"name": "ce"},
    "backbone": {"name": "tiny"},
    "data": {"corrupt": ["longtail=20"]},
    "train": {"epochs": 3},
}


def finished(**changes):
    """A run that ends before it has begun: the network as it was drawn."""
    split = load_digits()
    asked = {**SETTINGS, **changes}
    prepared = prepare(split.train, resolve(asked, split.train))
    config = resolve(asked, prepared.dataset)
    work = Work(config, prepared.dataset, split.test, Runtime(torch.device("cpu")), None)
    return work, *finish(work, prepared)


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
    split = load_digits()
    _, result = finish(work, prepare(split.train, work.config))
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
    settings = {**SETTINGS, "data": {"hold_out": 0.2}}
    truth = torch.nn.functional.one_hot(split.train.labels, 10).double()
    run = fit(Split(data), {**settings, "train": {"epochs": 1}}, truth=truth)
    held = held_out_mask(data, 0.2, 0)
    logits = run.model.predict_proba(data.inputs.take(held.nonzero()[:, 0])).double()
    assert run.result["held_out"]["accuracy"] == pytest.approx(accuracy(logits, wrong[held]), abs=2e-3)
    assert run.result["estimated"]["accuracy"] == pytest.approx(accuracy(logits, split.train.labels[held]), abs=2e-3)
    assert run.result["estimated"]["ece"] == pytest.approx(ece(logits, split.train.labels[held]), abs=5e-3)
    assert run.result["calibration"]["noise_rate"] == pytest.approx(
        float((wrong != split.train.labels)[held].double().mean())
    )
    blind = fit(Split(data), {**settings, "train": {"epochs": 1}})
    assert "estimated" not in blind.result
    assert blind.result["held_out"]["accuracy"] == run.result["held_out"]["accuracy"]


def test_where_the_true_labels_are_known_nothing_is_estimated():
    split = load_digits()
    settings = {**SETTINGS, "data": {"corrupt": ["symmetric=0.3"]}, "train": {"epochs": 1}}
    truth = torch.full((len(split.train), 10), 0.1, dtype=torch.float64)
    assert "estimated" not in fit(split, settings, truth=truth).result


def test_truth_about_other_samples_is_refused():
    with pytest.raises(
        InputError, match=r"truth must be \(1437, 10\), a row of probabilities per sample, got \(3, 10\)"
    ):
        fit(load_digits(), {"train": {"epochs": 1}}, truth=torch.ones(3, 10) / 10)
