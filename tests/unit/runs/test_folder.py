"""Mirror of src/anchored/runs/folder.py: what a folder may be used for, and what a crash may leave in it."""

import os
import subprocess
import sys

import pytest
import torch

from anchored._errors import InputError
from anchored.runs import RunFolder, default_path
from anchored.training import RunConfig, validate
from anchored.training.checkpoint import Checkpoint


def created(path):
    run = RunFolder.plan(path)
    run.make()
    return run


def started(path):
    run = created(path)
    run.settle(RunConfig().change({"train": {"epochs": 7}}))
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
    result = {"method": "ce", "epochs": 3, "temperature": 1.0, "test": {"accuracy": 0.5}}
    run.write_result(result)
    assert run.finished
    assert run.read_result() == result


def test_a_folder_in_use_is_refused_with_the_way_out(tmp_path):
    run = started(tmp_path / "run")
    with pytest.raises(InputError, match="interrupted; go on with: anchored resume"):
        created(run.path)
    run.write_result({})
    with pytest.raises(InputError, match="holds a finished run"):
        created(run.path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file; give a folder"):
        created(tmp_path / "file")
    with pytest.raises(InputError, match="is not empty"):
        created(tmp_path)
    with pytest.raises(InputError, match="cannot create the run folder"):
        created(tmp_path / "file" / "run")


def test_what_is_no_run_is_not_opened(tmp_path):
    with pytest.raises(InputError, match=r"holds no run \(config.yaml is missing\)"):
        RunFolder.open(tmp_path)


def test_killed_before_the_configuration_was_written_the_folder_can_be_used(tmp_path):
    run = created(tmp_path / "run")
    (run.path / ".config.yaml.abc.tmp").write_text("tra")
    assert created(run.path).path == run.path
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
def test_a_damaged_configuration_is_refused_with_its_file(text, tmp_path):
    run = started(tmp_path / "run")
    (run.path / "config.yaml").write_text(text)
    with pytest.raises(InputError, match=r"config\.yaml"):
        run.read_config()


@pytest.mark.parametrize("text", ['{"epoch": 1', "[1]"])
def test_damaged_numbers_are_refused_with_their_file(text, tmp_path):
    run = started(tmp_path / "run")
    for name, read in (("history.jsonl", lambda: run.read_lines("history.jsonl")), ("result.json", run.read_result)):
        (run.path / name).write_text(text)
        with pytest.raises(InputError, match=rf"{name}(, line 1)? is damaged: not .*; remove the run's folder"):
            read()


def test_numbers_that_are_not_json_are_refused(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        started(tmp_path / "run").write_lines("history.jsonl", [{"loss": float("nan")}])


def test_settings_are_kept_until_everything_is_decided(tmp_path):
    run = RunFolder.plan(tmp_path / "run")
    asked = validate({"train": {"epochs": 3}, "data": {"corrections": "c.csv"}})
    run.begin(asked, {"digest": "sha256:ab:1"})
    assert (run.started, run.decided) == (True, False)
    kept = RunFolder.open(run.path).read_settings()
    assert kept.data.corrections_digest == "sha256:ab:1"
    assert kept.train.model_fields_set == {"epochs"}
    run.settle(asked.change({"method": {"name": "ce"}}))
    assert not (run.path / "settings.yaml").exists()
    assert RunFolder.open(run.path).read_settings().method.name == "ce"


def test_a_folder_without_a_name_is_named_after_what_was_decided(tmp_path):
    asked = validate({"data": {"source": "digits"}})
    run = RunFolder.plan(default_path(asked, tmp_path), unnamed=True)
    run.begin(asked, {})
    before = run.path
    assert RunFolder.open(before).unnamed
    config = asked.change({"method": {"name": "gce"}})
    run.settle(config)
    assert run.path == tmp_path / f"digits-gce-{config.content_hash}"
    assert not before.exists()
    assert not RunFolder.open(run.path).unnamed
    again = RunFolder.plan(default_path(asked, tmp_path), unnamed=True)
    again.begin(asked, {})
    with pytest.raises(InputError, match="holds this very run already; go on with: anchored resume"):
        again.settle(config)
    assert sorted(path.name for path in tmp_path.iterdir()) == [run.path.name]


def test_a_run_has_one_owner(tmp_path):
    run = started(tmp_path / "run")
    with (  # the same object twice is one owner, another object is another
        run.owned(),
        run.owned(),
        pytest.raises(InputError, match=rf"is in use by process {os.getpid()} on .*; wait until it ends"),
        RunFolder.open(run.path).owned(),
    ):
        pass
    with RunFolder.open(run.path).owned():
        pass


def test_the_second_of_two_new_runs_is_refused_when_it_begins(tmp_path):
    first, second = RunFolder.plan(tmp_path / "run"), RunFolder.plan(tmp_path / "run")
    with first.owned(), second.owned():
        first.begin(RunConfig(), {})
        with pytest.raises(InputError, match="is in use by process"):
            second.begin(RunConfig(), {})
    late = RunFolder(tmp_path / "run")
    late._new = True
    with pytest.raises(InputError, match="holds another run by now"), late.owned():
        late.make()


def test_an_owner_that_died_owns_nothing(tmp_path):
    run = started(tmp_path / "run")
    code = (
        "import os, sys; from anchored.runs import RunFolder\n"
        "owned = RunFolder.open(sys.argv[1]).owned(); owned.__enter__(); os.kill(os.getpid(), 9)"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(run.path)], check=False)
    assert ended.returncode == -9
    with run.owned():
        pass
