"""Mirror of src/anchored/paper/live.py: progress is read from the run folders, and time left is arithmetic."""

import io
from dataclasses import replace

import pytest

from anchored.paper import Outcome, run_job
from anchored.paper.live import LiveTable, Pace, PlainLines, make_watcher


@pytest.fixture
def half(tiny, store, place):
    """A job of four epochs whose first two are done, at three seconds each."""
    job = tiny.job("ce", "digits/0.0", seed=0, epochs=4)
    run_job(job, place)
    run = store.run(job)
    (run.path / "result.json").unlink()
    run.write_lines("history.jsonl", run.read_lines("history.jsonl")[:2])
    run.write_lines("speed.jsonl", [{"epoch": e, "seconds": 3.0} for e in (1, 2)])
    return job


def test_time_left_is_epochs_left_at_the_mean_pace(tiny, store, half):
    waiting = tiny.jobs(methods=["ce"], cells=["digits/0.4"], seeds=[0, 1])
    pace = Pace(store)
    assert str(pace.left(waiting, at_once=1)) == "-"
    pace.note(half)
    assert pace.left([half], at_once=1).seconds == pytest.approx(6.0)
    assert pace.left([half, *waiting], at_once=1).seconds == pytest.approx(3 * (2 + 2 + 2))
    assert pace.left([half, *waiting], at_once=2).seconds == pytest.approx(3 * (2 + 2 + 2) / 2)
    assert str(pace.left([], at_once=1)) == "0:00"


def test_the_pace_of_one_network_says_nothing_of_another(tiny, store, half):
    larger = {**half.settings, "backbone": {"name": "mlp", "options": {"hidden": [512]}}}
    pace = Pace(store)
    pace.note(half)
    left = pace.left([half, replace(half, settings=larger)], at_once=1)
    assert left.seconds == pytest.approx(6.0)
    assert str(left) == "over 0:06"
    fewer = {**half.settings, "data": {**half.settings["data"], "corrupt": ["longtail=10"]}}
    assert str(pace.left([replace(half, settings=fewer)], at_once=1)) == "-"


def test_plain_lines_tell_what_goes_on(store, half):
    out = io.StringIO()
    lines = PlainLines(store, out, at_once=1)
    lines.begin([half], 0)
    lines.started(half)
    lines.pause = 0.0
    lines.beat([half])
    lines.ended(half, Outcome("lost", "signal 9"))
    lines.ended(half, Outcome("finished"))
    lines.end()
    said = out.getvalue().splitlines()
    assert said[0] == "1 cell, 0 finished before"
    assert said[1] == "tiny digits/0.0 ce seed 0: started, resumed after epoch 2 of 4"
    assert said[2] == "digits/0.0 ce 2/4; 0:06 left"
    assert said[3].startswith("tiny digits/0.0 ce seed 0: lost (signal 9)")
    assert said[4].endswith("%  [1/1]")


def test_a_damaged_history_does_not_keep_the_rest_from_being_shown(store, half):
    (store.run(half).path / "history.jsonl").write_text('{"epoch": 1')
    out = io.StringIO()
    lines = PlainLines(store, out, at_once=1)
    lines.begin([half], 0)
    lines.started(half)
    lines.ended(half, Outcome("failed", "damaged"))
    assert out.getvalue().splitlines()[-1] == "tiny digits/0.0 ce seed 0: failed (damaged)  [0/1]"


def test_nothing_is_said_too_often(store, half):
    out = io.StringIO()
    lines = PlainLines(store, out, at_once=1)
    lines.begin([half], 0)
    for _ in range(5):
        lines.beat([half])
    assert len(out.getvalue().splitlines()) == 1


def test_the_live_table_shows_every_running_cell(store, half):
    from rich.console import Console

    console = Console(file=io.StringIO(), width=120, force_terminal=True)
    live = LiveTable(store, console, at_once=1)
    live.begin([half], 0)
    live.beat([half])
    plain = Console(file=io.StringIO(), width=120)
    plain.print(live.drawing([half]))
    live.ended(half, Outcome("failed", "no [room]"))
    plain.print(live.drawing([]))
    live.end()
    shown = plain.file.getvalue()
    assert "0 of 1 cells, 0:06 left" in shown
    assert "digits/0.0" in shown
    assert "2/4" in shown
    assert "0 of 1 cells, 1 failed, 0:00 left" in shown
    assert "no [room]" in console.file.getvalue()


def test_lines_go_where_nobody_looks_on(store):
    assert isinstance(make_watcher(store, at_once=1), PlainLines)
