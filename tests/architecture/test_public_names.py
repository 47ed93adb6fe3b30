"""What is public is listed, exists, and is all that a package shows."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import anchored

SRC = Path(__file__).parents[2] / "src" / "anchored"
PACKAGES = sorted(path.parent.name for path in SRC.glob("*/__init__.py"))

PUBLIC = [
    "AnchoredClassifier", "AnchoredHead", "AnchoredRegression", "AnchoredRidge", "CosineHead", "InputError",
    "LinearHead", "__version__", "anchor_", "audit", "backbones", "bench", "cli", "data", "demo", "estimator",
    "export", "features", "heads", "imbalance", "integrations", "load", "losses", "methods", "metrics",
    "noise", "paper", "prototypes", "report", "review", "ridge", "runs", "schedules", "theory", "training",
]  # fmt: skip


def test_the_top_level_shows_the_public_list():
    assert anchored.__all__ == PUBLIC
    assert all(getattr(anchored, name) is not None for name in PUBLIC)
    assert dir(anchored) == sorted(PUBLIC)


def test_every_package_is_reachable_after_one_import():
    assert set(PACKAGES) <= set(PUBLIC)
    code = f"import anchored; print([getattr(anchored, name).__name__ for name in {PACKAGES!r}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str([f"anchored.{name}" for name in PACKAGES]), done.stderr


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'anchr_'"):
        anchored.anchr_  # noqa: B018


@pytest.mark.parametrize("package", PACKAGES)
def test_all_lists_exactly_what_the_package_imports_for_others(package):
    module = importlib.import_module(f"anchored.{package}")
    assert len(set(module.__all__)) == len(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)
    tree = ast.parse((SRC / package / "__init__.py").read_text())
    shown = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("anchored")
        for alias in node.names
    }
    assert {name for name in shown if not name.startswith("_")} <= set(module.__all__)


def test_importing_the_package_and_its_command_line_does_not_import_torch():
    code = "import sys, anchored, anchored.cli; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
