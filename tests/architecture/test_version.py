"""The version is written once, in ``src/anchored/__init__.py``; what must repeat it agrees."""

import re
import tomllib
from pathlib import Path

import anchored

ROOT = Path(__file__).parents[2]
SECTIONS = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)


def as_numbers(version):
    return [int(number) for number in re.findall(r"\d+", version)[:3]]


def test_pyproject_takes_it_from_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/anchored/__init__.py"


def test_the_citation_agrees():
    assert f"\nversion: {anchored.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_changelog_has_versions_newest_first_and_this_one_is_not_older():
    versions = [as_numbers(name) for name in SECTIONS if name[0].isdigit()]
    assert versions == sorted(versions, reverse=True)
    assert as_numbers(anchored.__version__) >= versions[0]
    assert SECTIONS[0] == "Unreleased" or SECTIONS[0].startswith(anchored.__version__)
