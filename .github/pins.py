"""Print constraints for pip: the oldest versions that pyproject.toml states, or the lock of this environment.

    python .github/pins.py oldest > constraints-oldest.txt     # every lower bound, exactly
    .venv/bin/python .github/pins.py lock > constraints-dev.txt  # what is installed here and needed by .[dev]

torch is left to constraints.txt by ``oldest``, because a machine may offer only one; the workflow tries both ends.
"""

import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCKED = ("dev", "ray", "slurm", "cleanlab")
"""Extras that the tests need; those of the site and of coverage have bounds only."""


def stated(*extras: str) -> list[str]:
    """Return the requirements of pyproject.toml with those of some extras, by default of all."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for extra in extras or optional for line in optional[extra])]
    more = [extra for line in lines if line.startswith("anchored[") for extra in line[9:-1].split(",")]
    return lines if set(more) <= set(extras or optional) else stated(*dict.fromkeys((*extras, *more)))


def name_of(requirement: str) -> str:
    """Return the name of a requirement as indexes write it."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()


def oldest() -> list[str]:
    """Return ``name==version`` for every lower bound; a package that is named twice must state one bound."""
    found = {}
    for line in stated():
        bound = re.search(r">=\s*([\w.]+)", line)
        if bound is None or name_of(line) == "torch":
            continue
        if found.setdefault(name_of(line), bound[1]) != bound[1]:
            sys.exit(f"{name_of(line)} has two lower bounds: {found[name_of(line)]} and {bound[1]}")
    return [f"{name}=={bound}" for name, bound in sorted(found.items())]


def lock() -> list[str]:
    """Return ``name==version`` for all that the locked extras need, directly or not, as it is installed here."""
    from packaging.requirements import Requirement

    found: dict[str, str] = {}
    waiting = [(line, "") for line in stated(*LOCKED)]
    seen: set[tuple[str, str]] = set()
    while waiting:
        line, extra = waiting.pop()
        requirement = Requirement(line)
        name = name_of(requirement.name)
        if name == "anchored" or (requirement.marker and not requirement.marker.evaluate({"extra": extra})):
            continue
        try:
            found[name] = version(name).partition("+")[0]
            needs = requires(name) or []
        except PackageNotFoundError:
            sys.exit(f"{name} is not installed here; make lock installs all that is locked")
        for wanted in ("", *requirement.extras):
            if (name, wanted) not in seen:
                seen.add((name, wanted))
                waiting += [(need, wanted) for need in needs]
    return [f"{name}=={found[name]}" for name in sorted(found)]


if __name__ == "__main__":
    kinds = {"oldest": oldest, "lock": lock}
    if sys.argv[1:] not in ([kind] for kind in kinds):
        sys.exit(f"one of {', '.join(kinds)} is needed")
    print("\n".join(kinds[sys.argv[1]]()))
