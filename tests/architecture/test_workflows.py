"""The workflows and templates of the repository: they parse, and their commands and versions are ones that exist."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import anchored

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in sorted((GITHUB / "workflows").glob("*.yml"))}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def commands():
    """Every line that a workflow runs."""
    for workflow in WORKFLOWS.values():
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                yield from step.get("run", "").splitlines()


def test_what_is_made_can_be_made():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    asked = {word for line in commands() for word in re.findall(r"\bmake ([a-z-]+)", line)}
    assert asked >= {"check", "test", "docs", "coverage"}
    assert asked <= targets


def test_the_matrix_is_what_the_project_promises():
    matrix = WORKFLOWS["tests"]["jobs"]["test"]["strategy"]["matrix"]
    promised = [name.rsplit(" ", 1)[1] for name in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", name)]
    assert matrix["python"] == promised
    (oldest,) = [re.match(r"torch>=([\d.]+)", line)[1] for line in PROJECT["dependencies"] if line.startswith("torch")]
    newest = re.search(r"^torch==(.*)$", (ROOT / "constraints.txt").read_text(), flags=re.MULTILINE)[1]
    assert matrix["torch"] == [f"{oldest}.0", newest]
    assert {*matrix["lock"], *(each["lock"] for each in matrix["include"])} == {
        "constraints.txt",
        "constraints-oldest.txt",
    }


def pins(kind):
    done = subprocess.run([sys.executable, GITHUB / "pins.py", kind], capture_output=True, text=True, check=True)
    return dict(line.split("==") for line in done.stdout.splitlines())


def test_every_requirement_has_both_bounds_and_the_lock_holds_all():
    optional = PROJECT["optional-dependencies"]
    lines = [*PROJECT["dependencies"], *(line for name in optional if name != "dev" for line in optional[name])]
    bounded = [re.match(r"[\w.-]+", line)[0] for line in lines if ">=" in line]
    assert len(bounded) >= 25
    for line in PROJECT["dependencies"]:
        assert re.search(r">=[\w.]+,<\d+$", line), line
    normal = {re.sub(r"[-_.]+", "-", name).lower() for name in bounded}
    oldest = pins("oldest")
    assert normal - {"torch"} <= set(oldest)
    assert oldest["numpy"] == "2.2"
    unlocked = {
        re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", line)[0]).lower()
        for extra in ("docs", "coverage")
        for line in optional[extra]
    }
    locked = dict(
        line.split("==") for line in (ROOT / "constraints-dev.txt").read_text().splitlines() if line[:1] not in "#"
    )
    assert normal - unlocked <= set(locked)


def test_scripts_of_workflows_exist():
    scripts = {word for line in commands() for word in re.findall(r"\S+\.py\b", line)}
    assert scripts
    assert all((ROOT / script).is_file() for script in scripts)


def test_every_template_parses():
    found = [yaml.safe_load(path.read_text()) for path in sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml"))]
    assert len(found) >= 3
    assert all("body" in each or "blank_issues_enabled" in each for each in found)
    assert yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]


@pytest.mark.parametrize("tag", ["v9.9.9", anchored.__version__])
def test_a_tag_that_is_not_the_version_is_refused(tag):
    done = subprocess.run([sys.executable, GITHUB / "release.py", tag], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"v{anchored.__version__}" in done.stderr
