"""The page about anchored least squares: its example runs and says what the page says."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "ridge.md").read_text(encoding="utf-8")


def test_the_example_runs_and_holds(capsys):
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    names = {"__name__": "page"}
    exec(compile(block, "ridge.md", "exec"), names)
    right = (names["model"].predict(names["X"]) == names["truth"]).mean()
    assert right > 0.9
    assert names["model"].noise_interval_[0] <= 0.3 <= names["model"].noise_interval_[1]
    assert len(capsys.readouterr().out.splitlines()) == 3
