"""Print the changelog of a release, or refuse: ``python .github/release.py v1.2.3``."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def notes(tag: str) -> str:
    """Return the section of the changelog for ``tag``; the package must name the same version."""
    package = (ROOT / "src" / "anchored" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"$', package, flags=re.MULTILINE)
    if tag != f"v{version}":
        sys.exit(f"the tag is {tag}, the package says {version}; a release of it is v{version}")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for section in re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]:
        title, _, text = section.partition("\n")
        if title.split()[0] == version:
            return text.strip() + "\n"
    sys.exit(f"CHANGELOG.md has no section {version}; give the unreleased one its name")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python .github/release.py v1.2.3")
    print(notes(sys.argv[1]), end="")
