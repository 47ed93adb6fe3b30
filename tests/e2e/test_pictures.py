"""The pictures of the docs: each SVG has its script, and the script still writes what the picture says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

IMAGES = Path(__file__).parents[2] / "docs" / "images"
SCRIPTS = sorted(path for path in IMAGES.glob("*.py") if not path.name.startswith("_"))


def said(svg):
    """Titles, labels and numbers of a picture: matplotlib keeps each as a comment beside its outlines."""
    return re.findall(r"<!-- (.*?) -->", svg.read_text(encoding="utf-8"))


def test_every_drawing_has_its_script():
    assert [path.stem for path in SCRIPTS] == sorted(path.stem for path in IMAGES.glob("*.svg"))
    assert all(said(path.with_suffix(".svg")) for path in SCRIPTS)


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_script_draws_the_picture(script, tmp_path):
    subprocess.run([sys.executable, "-W", "error", script, tmp_path], check=True, capture_output=True)
    assert said(tmp_path / f"{script.stem}.svg") == said(script.with_suffix(".svg"))
