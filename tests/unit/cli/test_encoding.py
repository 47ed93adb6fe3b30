"""Mirror of src/anchored/cli/encoding.py: lines that can be read in a log, a bar that keeps pace."""

import io
import sys

from rich.console import Console

from anchored.cli import encoding
from anchored.cli.encoding import EncodingBar, EncodingLines, make_encoding_progress


def test_lines_in_a_file_and_a_bar_on_a_terminal(monkeypatch):
    assert isinstance(make_encoding_progress(), EncodingLines)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert isinstance(make_encoding_progress(), EncodingBar)


def test_a_line_every_ten_seconds_and_one_at_the_end(monkeypatch):
    clock = iter([0.0, 4.0, 10.0, 12.0, 20.0, 21.0])
    monkeypatch.setattr(encoding.time, "monotonic", lambda: next(clock))
    out = io.StringIO()
    lines = EncodingLines(out)
    lines.start(samples=4000)
    for _ in range(4):
        lines.step(samples=1000)
    lines.say("a note")
    lines.stop()
    assert out.getvalue().splitlines() == [
        "encoded 2,000 of 4,000, 0:10 left",
        "a note",
        "encoded 4,000 of 4,000 in 0:21",
    ]


def test_the_bar_shows_how_far_it_is():
    out = io.StringIO()
    bar = EncodingBar(Console(file=out, force_terminal=True, width=100))
    bar.start(samples=30)
    bar.step(samples=10)
    bar.step(samples=10)
    bar.say("a note [1]")
    bar.stop()
    assert bar._drawing.tasks[0].completed == 20
    assert "a note [1]" in out.getvalue()
    assert "20/30" in out.getvalue()
