"""Lines of Markdown end by column 120, as code does; ``python tests/architecture/test_markdown.py`` wraps them."""

import re
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WIDTH = 120
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / ".github").rglob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

FENCE = re.compile(r"\s*(`{3,}|~{3,})")
AS_IT_IS = re.compile(r"\s*(\||#+ |<|:::|!!!|\?\?\?|\[[^\]]+\]: |$)")
"""Lines that are never wrapped: tables, headings, HTML, directives, link targets, empty lines."""
INDENTED_CODE = re.compile(r"( {4}|\t)(?!\s*([-*+]|\d+[.)]) )")
START = re.compile(r"(\s*(?:>\s?)*)((?:[-*+]|\d+[.)])\s+)?")
LIKE_A_MARK = re.compile(r" (?=([-+*#>|=]+|\d+[.)])( |$))")
GLUE = "\x00"


def blocks(lines):
    """Yield ``(is prose, lines)``: paragraphs and list items, and what lies between them."""
    fence = ""
    prose = []
    for line in lines:
        mark = FENCE.match(line)
        closes = bool(fence) and mark and mark[1].startswith(fence) and not line.strip().strip("`~")
        kept = fence or mark or AS_IT_IS.match(line) or (not prose and INDENTED_CODE.match(line))
        if mark and not fence:
            fence = mark[1]
        elif closes:
            fence = ""
        if prose and (kept or START.match(line)[2] or START.match(line)[1] != _margin(prose)):
            yield True, prose
            prose = []
        if kept:
            yield False, [line]
        else:
            prose.append(line)
    if prose:
        yield True, prose


def _margin(prose):
    """How a further line of this paragraph begins."""
    before, mark = START.match(prose[0]).groups()
    return before + " " * len(mark or "")


def wrapped(text):
    """The page with every paragraph wrapped that has a line beyond the width; the others stay as they are."""
    out = []
    for prose, lines in blocks(text.splitlines()):
        if not prose or max(map(len, lines)) <= WIDTH:
            out += lines
            continue
        before, mark = START.match(lines[0]).groups()
        margin = _margin(lines)
        words = " ".join([lines[0][len(before) + len(mark or "") :], *(line[len(margin) :] for line in lines[1:])])
        words = re.sub(r"`[^`]+`|\]\([^)]*\)", lambda found: found[0].replace(" ", GLUE), words)
        words = LIKE_A_MARK.sub(GLUE, words)
        new = textwrap.wrap(
            words,
            WIDTH,
            initial_indent=before + (mark or ""),
            subsequent_indent=margin,
            break_long_words=False,
            break_on_hyphens=False,
        )
        out += [line.replace(GLUE, " ") for line in new]
    return "\n".join(out) + "\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_are_wrapped(page):
    text = page.read_text(encoding="utf-8")
    new = set(wrapped(text).splitlines())
    long = [number for number, line in enumerate(text.splitlines(), start=1) if len(line) > WIDTH and line not in new]
    assert not long, f"lines {long} are too long; python tests/architecture/test_markdown.py wraps them"


def test_what_is_wrapped_and_what_is_not():
    long = "word " * 40
    table, code = f"| {long}|", f"```\n{long}\n```"
    item = f"- {long}`{'a b ' * 10}`".rstrip()
    page = f"# {long}\n\n{long.strip()}\n\n{table}\n\n{code}\n\n{item}\n- short\n"
    new = wrapped(page)
    assert new.split() == page.split(), "no word is lost"
    lines = new.splitlines()
    assert lines[0] == f"# {long}"
    assert table in lines
    assert long in lines
    assert [line for line in lines if len(line) > WIDTH] == [lines[0], table, long]
    assert [line[:2] for line in lines if line.startswith(("- ", "  "))] == ["- ", "  ", "  ", "- "]
    assert wrapped(new) == new
    assert wrapped("x " * 59 + "- y and more words\n").splitlines()[1][0] != "-", "no new list begins"


if __name__ == "__main__":
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        if wrapped(before) != before:
            page.write_text(wrapped(before), encoding="utf-8")
            print(page.relative_to(ROOT))
