"""What docstrings and pages refer to exists: modules, functions, files."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "anchored"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
ROLE = r":(?:func|class|mod|data|meth):`~?(anchored(?:\.\w+)+)`"


def exists(name):
    """Whether ``name`` is a module, or something in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def test_docstrings_refer_to_what_exists():
    named = {
        (str(path.relative_to(SRC)), name)
        for path in sorted(SRC.rglob("*.py"))
        for name in re.findall(ROLE, path.read_text(encoding="utf-8"))
    }
    assert len(named) > 50
    assert [(place, name) for place, name in sorted(named) if not exists(name)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_refer_to_what_exists(page):
    text = page.read_text(encoding="utf-8")
    files = set(re.findall(r"`((?:src/anchored|tests)/[\w/]+\.py)`", text))
    assert [name for name in sorted(files) if not (ROOT / name).is_file()] == []
    names = set(re.findall(r"`(anchored(?:\.\w+)+)", text))
    assert [name for name in sorted(names) if not exists(name)] == []


def test_the_checker_sees_what_is_missing():
    assert exists("anchored.runs.fit")
    assert exists("anchored.runs.RunFolder.open")
    assert not exists("anchored.training.fit")
    assert not exists("anchored.no_such_module")
