"""Imports point downwards: a package sees only the levels below its own, and what its level allows by name."""

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "anchored"

LEVELS = {
    "_errors": 0, "_files": 0, "_names": 0, "_random": 0, "_checks": 0, "_memory": 0,
    "prototypes": 1, "losses": 1, "noise": 1, "imbalance": 1, "metrics": 1, "schedules": 1, "theory": 1,
    "heads": 2, "backbones": 2, "data": 2,
    "features": 3, "methods": 3, "training": 3,
    "audit": 4, "auto": 4, "estimator": 4, "paper": 4, "export": 4,
    "report": 5, "review": 5, "cli": 5, "bench": 5, "demo": 5, "__main__": 5,
}  # fmt: skip
SIDEWAYS = {
    ("theory", "losses"), ("theory", "prototypes"),          # theorems speak of both
    ("metrics", "imbalance"),                                # accuracy is reported by its groups
    ("auto", "audit"), ("estimator", "auto"), ("estimator", "audit"),   # auto acts on what an audit finds
    ("paper", "auto"),                                       # one of our tables is about it
    ("training", "methods"),                                 # the loop runs what a method describes
    ("cli", "bench"), ("cli", "report"), ("cli", "review"), ("cli", "demo"), ("demo", "cli"), ("demo", "report"),
    ("__main__", "cli"),
}  # fmt: skip
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
        assert below or (own, other) in SIDEWAYS, f"{own} may not import {other}"


@pytest.mark.parametrize(
    "path", [p for p in FILES if package_of(p) in TORCH_ONLY], ids=lambda p: str(p.relative_to(SRC))
)
def test_heads_losses_and_prototypes_need_torch_only(path):
    import sys

    outside = {module.split(".")[0] for module in imported_modules(path)} - set(sys.stdlib_module_names)
    assert outside <= {"torch", "anchored"}


def test_the_checker_sees_an_upward_import(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text("def f():\n    from anchored.cli import main\n")
    assert list(imported_modules(bad)) == ["anchored.cli"]
