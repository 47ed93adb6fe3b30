"""Mirror of src/anchored/runs/fit.py: the whole way, what it keeps, and what it refuses before it begins."""

import json
import sys

import pytest
import torch
from tests.builders import blobs

from anchored._errors import InputError
from anchored.data import Split, load_digits
from anchored.runs import RunFolder, TrainedModel, fit
from anchored.training import Progress, RunConfig

TINY = {"backbone": {"name": "tiny"}, "method": {"name": "ce"}, "train": {"epochs": 1, "batch_size": 64}}


def clouds(counts=(60, 40), *, names=("no", "yes"), **more):
    return blobs(counts=counts, d=4, distance=3.0, names=names, **more)


def settings(**parts):
    return {**TINY, **{name: {**TINY.get(name, {}), **part} for name, part in parts.items()}}


def test_a_run_leaves_everything_that_is_needed_and_nothing_else(tmp_path):
    fitted = fit(load_digits(), TINY, folder=tmp_path / "run")
    left = sorted(str(path.relative_to(tmp_path / "run")) for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert left == [
        ".lock",
        "checkpoint/last.safetensors",
        "config.yaml",
        "history.jsonl",
        "model.json",
        "model.safetensors",
        "result.json",
        "speed.jsonl",
    ]
    run = RunFolder.open(tmp_path / "run")
    assert run.read_config() == fitted.config
    assert run.read_lines("history.jsonl") == fitted.history
    assert run.read_result() == json.loads(json.dumps(fitted.result))
    assert run.read_lines("speed.jsonl")[0]["samples_per_second"] > 0
    loaded, x = TrainedModel.load(run.path), load_digits().test.inputs.take(torch.arange(20))
    assert torch.equal(loaded.predict_proba(x), fitted.model.predict_proba(x))


def test_history_and_result_tell_of_held_out_and_test_data():
    fitted = fit(load_digits(), settings(data={"corrupt": ["symmetric=0.4"]}, train={"epochs": 3}))
    assert [record["epoch"] for record in fitted.history] == [1, 2, 3]
    assert {"held_out_loss", "held_out_accuracy", "test_accuracy"} <= set(fitted.history[0])
    assert fitted.result["test"]["accuracy"] == fitted.history[-1]["test_accuracy"]
    assert fitted.result["corruption"]["noise"]["rate"] == pytest.approx(0.4, abs=0.05)
    assert fitted.result["calibration"]["noise_rate"] == pytest.approx(0.4, abs=0.1)
    # In training labels are wrong; the final numbers are against the true ones.
    assert fitted.result["held_out"]["accuracy"] > fitted.history[-1]["held_out_accuracy"]
    best = max(record["test_accuracy"] for record in fitted.history)
    assert fitted.result["history_best"]["test_accuracy"] == best


def test_a_small_set_keeps_nothing_aside_and_needs_no_test_set():
    fitted = fit(Split(clouds()), settings(train={"epochs": 3}))
    assert fitted.result["samples"] == 100
    assert fitted.result["calibration"]["on"] == "training data"
    assert "test" not in fitted.result
    assert "held_out" not in fitted.result


def test_a_weight_counts_as_often_as_a_copy():
    twice = torch.ones(100)
    twice[:60] = 2
    weighted = fit(Split(clouds(weights=twice)), settings(train={"epochs": 1, "batch_size": 512}))
    plain = clouds()
    index = torch.cat([torch.arange(100), torch.arange(60)])
    copied = fit(Split(plain.subset(index)), settings(train={"epochs": 1, "batch_size": 512}))
    assert weighted.history[0]["train_loss"] == pytest.approx(copied.history[0]["train_loss"], rel=1e-5)


@pytest.mark.parametrize("precision", ["64", "bf16"])
def test_precision_is_a_setting(precision):
    fitted = fit(load_digits(), settings(train={"epochs": 2, "precision": precision}))
    assert fitted.result["test"]["accuracy"] > 0.7
    dtypes = {value.dtype for value in fitted.model.state_dict().values()}
    assert dtypes == {torch.float64 if precision == "64" else torch.float32}


@pytest.mark.parametrize(("precision", "said"), [("bf16", ["slow here"]), ("32", [])])
def test_a_slow_precision_is_warned_of_before_the_first_epoch(monkeypatch, precision, said):
    monkeypatch.setattr(
        sys.modules["anchored.runs.fit"], "precision_warning", lambda _, asked: {"bf16": "slow here"}.get(asked)
    )
    heard = []

    class Listener(Progress):
        def say(self, line):
            heard.append(line)

        def epoch(self, record, *, seconds, samples):
            heard.append("epoch")

    fit(Split(clouds()), settings(train={"epochs": 1, "precision": precision}), progress=Listener())
    assert [line for line in heard[: heard.index("epoch")] if "slow" in line] == said


def test_a_module_of_ones_own_is_trained_and_loaded_again(tmp_path):
    def own():
        return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 24), torch.nn.ReLU())

    fitted = fit(load_digits(), settings(train={"epochs": 2}), folder=tmp_path / "run", module=own())
    assert fitted.result["test"]["accuracy"] > 0.7
    x = load_digits().test.inputs.take(torch.arange(9))
    again = TrainedModel.load(tmp_path / "run", backbone=own())
    assert torch.equal(again.predict_proba(x), fitted.model.predict_proba(x))
    with pytest.raises(InputError, match="pass it as backbone="):
        TrainedModel.load(tmp_path / "run")


def test_killed_between_the_last_checkpoint_and_its_history_the_history_is_whole(tmp_path):
    straight = fit(load_digits(), settings(train={"epochs": 2}), folder=tmp_path / "run")
    run = RunFolder.open(tmp_path / "run")
    run.write_lines("history.jsonl", straight.history[:1])
    for name in ("result.json", "model.safetensors", "speed.jsonl"):
        (run.path / name).unlink()
    resumed = fit(load_digits(), settings(train={"epochs": 2}), folder=run)
    assert run.read_lines("history.jsonl") == straight.history == resumed.history
    assert resumed.result["test"] == straight.result["test"]


MEMORISING = settings(
    data={"corrupt": ["symmetric=0.6"], "hold_out": 0.3},
    optimizer={"name": "adamw", "lr": 0.03, "clip": None},
    schedule={"name": "constant"},
    train={"epochs": 40, "early_stop": 3},
)


def test_a_model_that_memorises_is_stopped_and_goes_back_to_its_best_epoch():
    fitted = fit(load_digits(), MEMORISING)
    history = fitted.history
    assert len(history) < 40
    assert [record["epochs_worse"] for record in history[-4:]] == [0, 1, 2, 3]
    predicted = [record["held_out_accuracy"] for record in history]
    kept = fitted.result["kept_epoch"]
    assert predicted[kept - 1] == max(predicted)
    assert fitted.result["test"]["accuracy"] == history[kept - 1]["test_accuracy"] > history[-1]["test_accuracy"]


def test_a_stopped_run_that_is_taken_up_again_stops_at_the_same_place(tmp_path):
    straight = fit(load_digits(), MEMORISING)
    interrupt = InterruptedAt(straight.result["kept_epoch"] + 1)
    with pytest.raises(KeyboardInterrupt):
        fit(load_digits(), MEMORISING, folder=tmp_path / "run", progress=interrupt)
    resumed = fit(load_digits(), MEMORISING, folder=RunFolder.open(tmp_path / "run"))
    assert resumed.history == straight.history
    assert resumed.result["test"] == straight.result["test"]
    for name, value in straight.model.classifier.state_dict().items():
        assert torch.equal(value, resumed.model.classifier.state_dict()[name])


class InterruptedAt(Progress):
    def __init__(self, epoch):
        self.last = epoch

    def epoch(self, record, *, seconds, samples):
        if record["epoch"] == self.last:
            raise KeyboardInterrupt


class Interrupted(Progress):
    def epoch(self, record, *, seconds, samples):
        raise KeyboardInterrupt


def test_a_path_is_for_a_new_run_and_an_opened_folder_for_a_started_one(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        fit(load_digits(), TINY, folder=tmp_path / "run", progress=Interrupted())
    with pytest.raises(InputError, match="interrupted; go on with: anchored resume"):
        fit(load_digits(), TINY, folder=tmp_path / "run")
    fit(load_digits(), TINY, folder=RunFolder.open(tmp_path / "run"))
    with pytest.raises(InputError, match="holds a finished run"):
        fit(load_digits(), TINY, folder=tmp_path / "run")


@pytest.mark.parametrize(
    ("split", "changes", "message"),
    [
        (Split(clouds((5, 0))), {}, "no training sample of class 'yes'"),
        (Split(clouds((5,), names=("only",))), {}, "only one class, 'only'"),
        (Split(clouds().with_labels(torch.full((100,), -1))), {}, "every training sample needs a label"),
        (Split(clouds()), {"data": {"normalize": "mnsit"}}, "unknown normalisation 'mnsit'"),
        (Split(clouds()), {"data": {"augment": ["flip"]}}, "augmentations work on images"),
        (Split(clouds()), {"backbone": {"name": "tinny"}}, "unknown backbone 'tinny'"),
        (Split(clouds()), {"method": {"name": "ce+fnpall"}}, "unknown word 'fnpall'"),
        (Split(clouds()), {"method": {"name": "gce", "loss": {"qq": 1.0}}}, "qq"),
        (Split(clouds()), {"schedule": {"name": "cosinus"}}, "unknown schedule 'cosinus'"),
        (Split(clouds()), {"train": {"device": "tpu-v9"}}, "device 'tpu-v9' cannot be used here"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_anything_is_written(split, changes, message, tmp_path):
    with pytest.raises(InputError, match=message):
        fit(split, settings(**changes), folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_data_is_prepared_and_settings_are_decided_once(monkeypatch, tmp_path):
    """One run prepares its data, completes its settings and decides once, and checks what was asked once."""
    counts = {}

    def counted(module, name):
        inner = getattr(module, name)

        def outer(*arguments, **named):
            key = getattr(module, "__name__", str(module)) + "." + name
            counts[key] = counts.get(key, 0) + 1
            return inner(*arguments, **named)

        monkeypatch.setattr(module, name, outer)

    modules = {name: sys.modules[f"anchored.runs.{name}"] for name in ("data", "decide", "fit", "look")}
    counted(modules["data"], "corrupt")
    counted(sys.modules["anchored.runs.recipes"], "get")
    counted(modules["fit"], "decide")
    counted(RunConfig, "model_validate")
    split = Split(clouds((300, 300)))
    asked = settings(method={"name": "auto"}, data={"corrupt": ["symmetric=0.2"]})
    fit(split, asked, folder=tmp_path / "run")
    assert counts == {
        "anchored.runs.data.corrupt": 1,
        "anchored.runs.recipes.get": 1,
        "anchored.runs.fit.decide": 1,
        "RunConfig.model_validate": 2,  # what was asked, and the same laid over the recipe
    }
