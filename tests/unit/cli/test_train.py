"""Mirror of src/anchored/cli/train.py: notes and progress on stderr, the result on stdout, from one process only."""

import json

import pytest
import torch

from anchored.cli.train import show, summary, train
from anchored.data import Dataset, Split, TensorInputs
from anchored.runs import RunFolder
from anchored.training import validate


def test_the_report_is_the_result_with_place_and_speed(table_run):
    printed = summary(table_run)
    assert printed["run"] == str(table_run.path)
    assert printed["samples_per_second"] > 0
    assert {name: value for name, value in printed.items() if name not in ("run", "samples_per_second")} == (
        table_run.read_result()
    )


def test_show_prints_a_table_or_one_object(table_run, capsys):
    show(table_run, json=False)
    printed = capsys.readouterr().out
    assert "temperature" in printed
    assert printed.rstrip().endswith(f"the run is in {table_run.path}")
    show(table_run, json=True)
    assert json.loads(capsys.readouterr().out) == summary(table_run)


def test_another_process_prints_nothing(table_run, capsys, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    show(table_run, json=True)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("hold_out", [0.0, 0.25])
def test_training_tells_the_notes_and_leaves_a_run(tmp_path, capsys, hold_out):
    x = torch.eye(2).repeat(20, 1)
    data = Dataset("toy", TensorInputs(x), torch.arange(40) % 2, ("a", "b"), notes=("two rows are odd",))
    run = RunFolder(tmp_path / "run")
    train(Split(data), validate({"train": {"epochs": 1}, "data": {"hold_out": hold_out, "source": "toy"}}), run)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "anchored: toy: two rows are odd\n" in printed.err
    assert "epoch 1/1" in printed.err
    assert run.finished
    show(run, json=False)
    assert ("held-out" in capsys.readouterr().out) == (hold_out > 0)


@pytest.mark.parametrize(("kept", "said"), [(4, "4 "), (2, "4, kept: 2")])
def test_the_table_says_which_epoch_was_kept(table_run, capsys, monkeypatch, kept, said):
    result = {**table_run.read_result(), "epochs": 4, "kept_epoch": kept}
    monkeypatch.setattr(RunFolder, "read_result", lambda run: dict(result))
    show(table_run, json=False)
    line = next(line for line in capsys.readouterr().out.splitlines() if "epochs" in line)
    assert said in line
    assert ("kept" in line) == (kept == 2)


def test_numbers_that_allow_for_wrong_labels_have_a_column_of_their_own(table_run, capsys, monkeypatch):
    result = table_run.read_result()
    result |= {"held_out": {"accuracy": 0.3}, "estimated": {"accuracy": 0.4321}}
    monkeypatch.setattr(RunFolder, "read_result", lambda run: dict(result))
    show(table_run, json=False)
    printed = capsys.readouterr().out
    assert "held-out labels" in printed
    assert "wrong labels allowed for" in printed
    assert "43.21" in printed
