"""Mirror of src/anchored/cli/output.py: strict JSON, and tables whose title and note stay whole."""

import json
import math

from anchored.cli.output import print_json, print_table


def test_what_json_cannot_say_becomes_null_and_text_stays_readable(capsys):
    print_json({"a": math.nan, "b": [math.inf, 1.5, (-math.inf,)], "c": {3: "Käse <b>"}})
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    assert "Käse <b>" in printed
    assert json.loads(printed) == {"a": None, "b": [None, 1.5, [None]], "c": {"3": "Käse <b>"}}


def test_title_and_note_are_never_wrapped(capsys):
    long = "/a/very/long/path" * 20
    print_table(long, ["x", "y"], [["[red]left[/red]", 1]], f"in {long}")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == long
    assert lines[-1] == f"in {long}"
    assert any("[red]left[/red]" in line for line in lines)
