"""Mirror of src/anchored/training/run_folder.py: what a folder may be used for, and what a crash may leave in it."""

import pytest
import torch

from anchored._errors import InputError
from anchored.runs import RunFolder
from anchored.training import RunConfig
from anchored.training.checkpoint import Checkpoint


def started(path):
    run = RunFolder.create(path)
    run.write_config(RunConfig().change({"train": {"epochs": 7}}))
    return run


def test_a_run_begins_and_is_opened_again(tmp_path):
    run = started(tmp_path / "a" / "run")
    assert (run.started, run.finished) == (True, False)
    assert RunFolder.open(run.path).read_config().train.epochs == 7


def test_a_plan_writes_nothing_before_it_is_made(tmp_path):
    run = RunFolder.plan(tmp_path / "run")
    assert not run.path.exists()
    run.make()
    assert run.checkpoint_path.parent.is_dir()


def test_a_checkpoint_and_its_history_come_back(tmp_path):
    run = started(tmp_path / "run")
    assert run.read_checkpoint() is None
    history = [{"epoch": 1, "train_loss": 0.25}, {"epoch": 2, "train_loss": None}]
    run.write_checkpoint(Checkpoint({"x": torch.ones(2)}, {"history": history}))
    assert run.read_checkpoint().facts["history"] == history
    assert run.read_lines("history.jsonl") == history
    assert run.read_lines("nothing.jsonl") == []


def test_a_result_makes_a_run_finished(tmp_path):
    run = started(tmp_path / "run")
    with pytest.raises(InputError, match="is not finished; go on with: anchored resume"):
        run.read_result()
    run.write_result({"test": {"accuracy": 0.5}})
    assert run.finished
    assert run.read_result() == {"test": {"accuracy": 0.5}}


def test_a_folder_in_use_is_refused_with_the_way_out(tmp_path):
    run = started(tmp_path / "run")
    with pytest.raises(InputError, match="interrupted; go on with: anchored resume"):
        RunFolder.create(run.path)
    run.write_result({})
    with pytest.raises(InputError, match="holds a finished run"):
        RunFolder.create(run.path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file; give a folder"):
        RunFolder.create(tmp_path / "file")
    with pytest.raises(InputError, match="is not empty"):
        RunFolder.create(tmp_path)
    with pytest.raises(InputError, match="cannot create the run folder"):
        RunFolder.create(tmp_path / "file" / "run")


def test_what_is_no_run_is_not_opened(tmp_path):
    with pytest.raises(InputError, match=r"holds no run \(config.yaml is missing\)"):
        RunFolder.open(tmp_path)


def test_killed_before_the_configuration_was_written_the_folder_can_be_used(tmp_path):
    run = RunFolder.create(tmp_path / "run")
    (run.path / ".config.yaml.abc.tmp").write_text("tra")
    assert RunFolder.create(run.path).path == run.path
    run.sweep()
    assert [item.name for item in run.path.iterdir()] == ["checkpoint"]


def test_only_temporary_files_are_swept(tmp_path):
    run = started(tmp_path / "run")
    run.write_checkpoint(Checkpoint({"x": torch.ones(2)}, {"history": []}))
    for name in (".history.jsonl.x1.tmp", "checkpoint/.last.safetensors.x2.tmp"):
        (run.path / name).write_bytes(b"half")
    run.sweep()
    left = sorted(str(item.relative_to(run.path)) for item in run.path.rglob("*") if item.is_file())
    assert left == ["checkpoint/last.safetensors", "config.yaml", "history.jsonl"]


@pytest.mark.parametrize("text", ["- a list", "train: [", "train:\n  epoch: 3\n"])
def test_a_spoilt_configuration_is_refused_with_its_file(text, tmp_path):
    run = started(tmp_path / "run")
    (run.path / "config.yaml").write_text(text)
    with pytest.raises(InputError, match=r"config\.yaml"):
        run.read_config()


@pytest.mark.parametrize("text", ['{"epoch": 1', "[1]"])
def test_spoilt_numbers_are_refused_with_their_file(text, tmp_path):
    run = started(tmp_path / "run")
    for name, read in (("history.jsonl", lambda: run.read_lines("history.jsonl")), ("result.json", run.read_result)):
        (run.path / name).write_text(text)
        with pytest.raises(InputError, match=rf"{name} is damaged: not a JSON object; remove the run's folder"):
            read()


def test_numbers_that_are_not_json_are_refused(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        started(tmp_path / "run").write_lines("history.jsonl", [{"loss": float("nan")}])
