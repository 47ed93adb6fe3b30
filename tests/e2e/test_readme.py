"""The README's examples run as they stand, and its commands are ones that exist."""

import re
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_a_python_block_runs(block, capsys):
    state = torch.random.get_rng_state()
    exec(compile(block, "README.md", "exec"), {"__name__": "readme"})
    torch.random.set_rng_state(state)


def test_there_are_two_python_blocks_and_two_commands():
    assert len(BLOCKS) == 2
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
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
