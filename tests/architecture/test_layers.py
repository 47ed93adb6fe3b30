"""Imports point downwards, without exceptions; and a package is entered by its door."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "anchored"

FLOORS = (
    (
        "_errors",
        "_names",
        "_random",
        "_checks",
        "_files",
        "_memory",
        "_threads",
        "_progress",
        "_lock",
        "_signals",
        "_spreadsheet",
    ),
    ("prototypes", "losses", "noise", "imbalance", "schedules", "theory"),
    ("metrics",),
    ("heads", "backbones", "data"),
    ("features",),
    ("ridge",),
    ("methods",),
    ("training",),
    ("audit",),
    ("runs",),
    ("estimator",),
    ("export", "integrations", "paper", "report", "review"),
    ("bench",),
    ("cli",),
    ("demo", "__main__"),
)
"""From the ground up; a package may import those below its own floor, and the first floor also itself."""
LEVELS = {name: level for level, names in enumerate(FLOORS) for name in names}
TORCH_ONLY = {"heads", "losses", "prototypes"}


def package_of(path):
    return path.relative_to(SRC).with_suffix("").parts[0]


def imported_modules(path):
    """Every module that the file imports, at the top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.module == "anchored":
                yield from (f"anchored.{alias.name}" for alias in node.names)
            elif node.module:
                yield node.module


FILES = sorted(path for path in SRC.rglob("*.py") if path != SRC / "__init__.py")


def test_every_package_has_a_level():
    assert {package_of(path) for path in FILES} <= set(LEVELS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_imports_point_downwards(path):
    own = package_of(path)
    for module in imported_modules(path):
        parts = module.split(".")
        if parts[0] != "anchored" or len(parts) == 1 or parts[1] in (own, "__version__"):
            continue
        other = parts[1]
        below = LEVELS[other] < LEVELS[own] or LEVELS[own] == LEVELS[other] == 0
        assert below, f"{own} may not import {other}"
        assert not any(part.startswith("_") for part in parts[2:]), f"{module} is private to {other}; use its door"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_a_package_is_entered_by_its_door(path):
    """No import of another package's private module."""
    others = [module.split(".") for module in imported_modules(path) if module.startswith("anchored.")]
    assert not [parts for parts in others if parts[1] != package_of(path) and any(p[0] == "_" for p in parts[2:])]


@pytest.mark.parametrize(
    "path", [p for p in FILES if package_of(p) in TORCH_ONLY], ids=lambda p: str(p.relative_to(SRC))
)
def test_heads_losses_and_prototypes_need_torch_only(path):
    import sys

    outside = {module.split(".")[0] for module in imported_modules(path)} - set(sys.stdlib_module_names)
    assert outside <= {"torch", "anchored"}


APP = {"typer", "rich", "matplotlib", "jinja2", "markupsafe"}
"""What ``anchored[app]`` brings; ``pip install anchored`` does without."""
OF_THE_APP = {"cli", "paper", "report", "demo"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_the_library_does_without_the_app(path):
    needed = {module.split(".")[0] for module in imported_modules(path)}
    if package_of(path) not in OF_THE_APP:
        assert not needed & APP
    if package_of(path) != "cli":
        assert not {module.split(".")[0] for module in imported_at_once(path)} & {"typer", "rich", "matplotlib"}


def imported_at_once(path):
    """Modules that the file imports as soon as it is imported itself."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_the_app_is_what_pyproject_says():
    project = tomllib.loads((SRC.parents[1] / "pyproject.toml").read_text())["project"]
    always = {re.split(r"[<>=\[]", line)[0] for line in project["dependencies"]}
    app = {re.split(r"[<>=\[]", line)[0] for line in project["optional-dependencies"]["app"]}
    assert not always & APP
    assert app >= APP - {"markupsafe"}, "markupsafe is jinja2's own"


def test_the_checker_sees_an_upward_import(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text("def f():\n    from anchored.cli import main\n")
    assert list(imported_modules(bad)) == ["anchored.cli"]
