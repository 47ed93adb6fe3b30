"""The tutorials: page and notebook are those of the script, without output, and the notebook runs to its end."""

import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest

LEARN = Path(__file__).parents[2] / "docs" / "learn"
_spec = importlib.util.spec_from_file_location("build_tutorials", LEARN / "build.py")
build = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(build)
SCRIPTS = build.scripts()


def test_there_are_three():
    assert [script.stem for script in SCRIPTS] == ["loop", "photos", "table"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_page_and_notebook_are_those_of_the_script(script):
    for path, text in build.built(script).items():
        assert path.read_text(encoding="utf-8") == text, "python docs/learn/build.py makes it again"
    notebook = json.loads(script.with_suffix(".ipynb").read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert "assert" not in "".join("".join(cell["source"]) for cell in code), "checks are for the test alone"


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_notebook_runs(script, tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat", reason="notebooks are run with pip install 'anchored[docs]'")
    nbclient = pytest.importorskip("nbclient", reason="notebooks are run with pip install 'anchored[docs]'")
    pytest.importorskip("ipykernel", reason="notebooks are run with pip install 'anchored[docs]'")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", f"{LEARN.parents[1] / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("ANCHORED_CACHE", str(tmp_path / "cache"))
    parts = build.cells(script.read_text(encoding="utf-8"))
    notebook = nbformat.reads(json.dumps(build.notebook(parts, checks=True)), as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
