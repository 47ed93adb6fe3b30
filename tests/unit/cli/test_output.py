"""Mirror of src/anchored/cli/output.py: strict JSON, and tables whose title and note stay whole."""

import json
import math

from anchored.cli.output import print_json, print_table, score_rows


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


def test_scores_are_told_in_plain_words_and_the_words_of_the_paper_stand_behind_them():
    test = {"accuracy": 0.9, "many": 0.95, "ece": 0.012, "ece_uncalibrated": 0.2, "nll": 0.5, "gamma_min": -0.25}
    rows = {row[0].strip(): row[1:] for row in score_rows([test, {"accuracy": 0.8, "few": None}])}
    assert rows["right answers, accuracy (%)"] == ["90.00", "80.00"]
    assert rows["classes with over 100 samples (%)"] == ["95.00", "-"]
    assert rows["error of its probabilities, ECE (%)"] == ["1.20", "-"]
    assert rows["smallest gap to the next class, gamma_min"] == ["-0.250", "-"]
    assert not any("under 20" in title for title in rows)  # known on no part
