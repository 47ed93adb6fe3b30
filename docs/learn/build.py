"""Make the tutorials' pages and notebooks from their scripts: ``python docs/learn/build.py``.

A script ``docs/learn/NAME.py`` is cells, each under a line ``# %% [kind]``: ``markdown`` and ``shell`` are comments,
a bare ``# %%`` is Python, and ``check`` is Python that only the test runs. ``NAME.md`` is the page and ``NAME.ipynb``
the notebook, which carries no output.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
NOTE = "Every line of this page is run by a test. [The same as a notebook]({}.ipynb)."


class Cell(NamedTuple):
    """A part of a tutorial: its kind, and its text without the marks of comments."""

    kind: str
    text: str


def scripts() -> list[Path]:
    """Return the scripts of the tutorials."""
    return sorted(path for path in HERE.glob("*.py") if path.name != "build.py")


def cells(script: str) -> list[Cell]:
    """Split a script into its cells."""
    parts = re.split(r"^# %%(?: \[(\w+)\])?\n", script, flags=re.MULTILINE)[1:]
    found = []
    for kind, text in zip(parts[::2], parts[1::2], strict=True):
        kind = kind or "python"
        if kind in ("markdown", "shell"):
            text = re.sub(r"^# ?", "", text, flags=re.MULTILINE)
        found.append(Cell(kind, text.strip("\n")))
    return found


def page(name: str, parts: list[Cell]) -> str:
    """Return the tutorial as Markdown."""
    fences = {"python": "python", "shell": "bash"}
    title, *rest = [cell for cell in parts if cell.kind != "check"]
    blocks = [title.text, NOTE.format(name)]
    blocks += [f"```{fences[c.kind]}\n{c.text}\n```" if c.kind in fences else c.text for c in rest]
    return "\n\n".join(blocks) + "\n"


def notebook(parts: list[Cell], *, checks: bool = False) -> dict[str, Any]:
    """Return the tutorial as a notebook without output.

    Args:
        parts: Its cells.
        checks: Whether what the test asserts is in it, and that every command ends well.
    """
    made = []
    for number, (kind, text) in enumerate(parts):
        if kind == "check" and not checks:
            continue
        if kind == "shell":
            after = "\nassert _exit_code == 0" if checks else ""
            text = "\n".join(f"!{line}{after}" for line in text.splitlines())
        made.append(
            {
                "cell_type": "markdown" if kind == "markdown" else "code",
                "id": f"cell-{number}",
                "metadata": {},
                "source": text.splitlines(keepends=True),
                **({} if kind == "markdown" else {"execution_count": None, "outputs": []}),
            }
        )
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def built(script: Path) -> dict[Path, str]:
    """Return the files that belong to a script, and their texts."""
    parts = cells(script.read_text(encoding="utf-8"))
    return {
        script.with_suffix(".md"): page(script.stem, parts),
        script.with_suffix(".ipynb"): json.dumps(notebook(parts), indent=1, ensure_ascii=False) + "\n",
    }


if __name__ == "__main__":
    for each in scripts():
        for path, text in built(each).items():
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")
                print(path)
