"""The page about judging vectors: its examples run, one after the other, and find what they should."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "judges.md").read_text(encoding="utf-8")


def test_the_examples_run_and_hold(capsys):
    names = {"__name__": "page"}
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(compile(block, "judges.md", "exec"), names)
    flagged = names["wrong"] > 0.5
    assert (flagged == (names["given"] != names["truth"])).double().mean() > 0.97
    low, high = names["verdict"].noise.interval
    assert low <= 0.2 <= high
    assert "Of 50 labels checked at random" in capsys.readouterr().out


def test_every_judge_is_on_the_page():
    from anchored.audit.judges import JUDGES

    assert all(f"| `{name}` |" in PAGE for name in (*JUDGES, "network"))
