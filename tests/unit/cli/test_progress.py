"""Mirror of src/anchored/cli/progress.py: lines that can be read in a log, a bar that keeps pace."""

import io
import sys

from rich.console import Console

from anchored.cli.progress import Bar, Lines, make_progress

RECORD = {"epoch": 2, "train_loss": 0.5, "train_accuracy": 0.5, "held_out_accuracy": None, "test_accuracy": 0.75}


def test_lines_where_nobody_looks_on():
    assert isinstance(make_progress(), Lines)


def test_a_bar_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert isinstance(make_progress(), Bar)


def test_a_line_says_epoch_loss_accuracy_speed_and_time_left():
    out = io.StringIO()
    lines = Lines(out)
    lines.start(epochs=1000, epoch=1, batches=5, samples=100)
    lines.step(batch=1, samples=20, loss=0.5)
    lines.epoch(RECORD, seconds=4.0, samples=100)
    assert out.getvalue().splitlines() == [
        "going on after epoch 1 of 1000",
        "epoch 2/1000  loss 0.5000  accuracy: train 50.00 %, test 75.00 %  25/s  1:06:32 left",
    ]


def test_the_bar_shows_the_same_and_where_it_is():
    out = io.StringIO()
    bar = Bar(Console(file=out, force_terminal=True, width=160))
    bar.start(epochs=4, epoch=1, batches=5, samples=100)
    bar.step(batch=1, samples=20, loss=0.25)
    task = bar._drawing.tasks[0]
    assert (task.completed, task.total) == (6, 20)
    bar.step(batch=2, samples=20, loss=0.125)  # too soon to be drawn
    assert task.completed == 6
    bar.epoch(RECORD, seconds=4.0, samples=100)
    assert task.completed == 10
    bar.say("a [line]")
    bar.stop()
    shown = out.getvalue()
    assert "a [line]" in shown
    for piece in ("epoch 2/4", "loss 0.5000", "train 50.00 %, test 75.00 %", "25/s"):
        assert piece in shown
