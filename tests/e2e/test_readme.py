"""The README's examples run as they stand, and its commands are ones that exist."""

import re
from pathlib import Path

import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.filterwarnings("ignore:.*columns do not vary")
def test_the_five_lines_give_the_numbers_that_stand_above_them(capsys):
    (block,) = BLOCKS
    assert len([line for line in block.splitlines() if line and "import" not in line]) <= 5
    names = {"__name__": "readme"}
    state = torch.random.get_rng_state()
    exec(compile(block, "README.md", "exec"), names)
    torch.random.set_rng_state(state)
    ours, theirs = map(float, re.findall(r"has\s(\d\d) %", README[: README.index("```python")])[-2:])
    X, y, given = names["X"], names["y"], names["given"]
    plain = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)).fit(X[:1200], given[:1200])
    assert abs(100 * names["model"].score(X[1200:], y[1200:]) - ours) < 1.5
    assert abs(100 * plain.score(X[1200:], y[1200:]) - theirs) < 1.5


def test_it_is_short_and_names_the_two_commands_of_a_clone():
    assert len(README.split()) < 560
    assert "make demo" in README
    assert "make test" in README


def test_every_command_named_exists():
    from typer.main import get_command

    from anchored.cli import app

    known = set(get_command(app).commands)
    named = set(re.findall(r"^anchored (\w+)", README, flags=re.MULTILINE))
    assert named
    assert named <= known


def test_every_linked_file_exists():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
