"""One word per concept: words that were retired do not come back into the source. CONTRIBUTING has the glossary."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "anchored"

RETIRED = {
    r"pilots?": "look",
    r"crossed": "look, or answers of a cross-fit",
    r"judge?ments?": "look, judged labels",
    r"spoil(s|t|ed|ing)?": "corrupt",
    r"falsif(y|ies|ied|ying)": "corrupt",
    r"anchored\.auto": "anchored.runs",
    r"anchored\.training\.fit": "anchored.runs.fit",
    r"(runtime|plan|stage)\.prepare": "wrap, begin_epoch",
    r"hindrance": "why_blocked",
    r"let_go": "released",
}
"""Pattern of a whole word, to what is said instead."""

ALLOWED = {("runs/folder.py", "pilot")}
"""File and word: the folder that version 0.1.0 called its look."""


def retired_words(text):
    """Yield ``(line number, word, what to say instead)``."""
    for number, line in enumerate(text.splitlines(), start=1):
        for pattern, instead in RETIRED.items():
            for found in re.finditer(rf"(?<![A-Za-z]){pattern}(?![A-Za-z])", line, flags=re.IGNORECASE):
                yield number, found.group(), instead


@pytest.mark.parametrize("path", sorted(SRC.rglob("*.py")), ids=lambda path: str(path.relative_to(SRC)))
def test_retired_words_stay_away(path):
    place = str(path.relative_to(SRC))
    wrong = [
        f"{place}:{number}: {word!r}, say {instead}"
        for number, word, instead in retired_words(path.read_text(encoding="utf-8"))
        if (place, word) not in ALLOWED
    ]
    assert not wrong, "\n".join(wrong)


def test_what_is_allowed_is_still_there():
    """An exception that nothing needs any more goes."""
    for place, word in ALLOWED:
        assert word in {found for _, found, _ in retired_words((SRC / place).read_text(encoding="utf-8"))}


PAGES = [ROOT / "README.md", *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "paper")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_speak_the_same_words(page):
    assert list(retired_words(page.read_text(encoding="utf-8"))) == []


def test_the_checker_sees_what_it_looks_for():
    text = "labels that were spoilt\nfrom anchored.auto import fit\na judgement, _judgement\ncrossed_out\npilots"
    assert [number for number, _, _ in retired_words(text)] == [1, 2, 3, 3, 4, 5]
    assert list(retired_words("a spoiler, autopilot, the judges, to prepare")) == []


def test_the_glossary_names_what_is_said_instead():
    glossary = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for word in (
        "look",
        "corrupt",
        "posterior",
        "trusted labels",
        "settings",
        "configuration",
        "anchors",
        "prototypes",
    ):
        assert re.search(rf"^\| {word}\b", glossary, flags=re.MULTILINE), word
