"""What the site adds to MkDocs: pages from the code, pages of the repository's root, and formulas without scripts."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files
from mkdocs.utils import get_relative_url

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "anchored"
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT / "src"))

SHELVES = {
    "Start here": ("estimator", "heads", "losses", "prototypes", "ridge"),
    "Labels and classes": ("audit", "noise", "imbalance", "features", "data"),
    "Training": ("methods", "training", "runs", "backbones", "schedules"),
    "Numbers and theory": ("metrics", "theory"),
    "Results": ("report", "review", "export", "integrations", "paper", "bench"),
}
"""The packages of the reference, in the order in which they are shown."""

ROOT_PAGES = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
LATER = {"Guides": ["[!r]*.md", "frameworks/*.md"], "Measured": ["reliability.md", "lab/*.md"]}
"""Pages that a shelf takes in as soon as they exist, wherever the navigation does not name them."""
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', flags=re.DOTALL)


def shelves() -> dict[str, tuple[str, ...]]:
    """Return the shelves with every package on one of them: what has no place yet stands on the last."""
    placed = {name for names in SHELVES.values() for name in names} | {"cli"}
    others = sorted({path.parent.name for path in SRC.glob("*/__init__.py")} - placed)
    return {**SHELVES, "More": tuple(others)} if others else SHELVES


def on_config(config: Any) -> Any:
    """Fill in the reference where the navigation says ``reference/``."""
    packages = [{shelf: [{name: f"reference/{name}.md"} for name in names]} for shelf, names in shelves().items()]
    for entry in config.nav:
        for name, pages in entry.items():
            if pages == "reference/":
                entry[name] = [{"Commands": "reference/commands.md"}, *packages]
    named = set(re.findall(r"[\w/.-]+\.md", str(config.nav)))
    for entry in config.nav:
        for name, pages in entry.items():
            found = [
                path.relative_to(DOCS).as_posix() for glob in LATER.get(name, ()) for path in sorted(DOCS.glob(glob))
            ]
            if name == "Project":
                found = [page for page in ROOT_PAGES if (ROOT / page).exists()]
            new = [page for page in found if page not in named]
            if new:
                entry[name] = [*pages, *new]
                named.update(new)
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made: the reference, and what lies in the root of the repository."""
    for name in sorted(name for names in shelves().values() for name in names):
        text = f"# anchored.{name}\n\n::: anchored.{name}\n"
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    files.append(File.generated(config, "reference/commands.md", content=commands()))
    for name in ROOT_PAGES:
        if (ROOT / name).exists():
            files.append(File.generated(config, name, content=from_the_root((ROOT / name).read_text(encoding="utf-8"))))
    return files


def from_the_root(text: str) -> str:
    """Turn links of a page in the repository's root into those of the site."""
    return re.sub(r"\]\(docs/", "](", text)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Let pages link to the repository's root, and mark code that no test runs, as GitHub understands them."""
    markdown = re.sub(r"\]\(((?:\.\./)*)\.\./README\.md\)", r"](\1index.md)", markdown)
    return markdown.replace("```python notest", "```python")


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Turn formulas into MathML, which browsers draw themselves: no script, no font, no network."""

    def draw(found: re.Match[str]) -> str:
        _, kind, latex = found.groups()
        display = "block" if kind == "[" else "inline"
        try:
            return convert(html.unescape(latex).strip(), display=display)
        except Exception as error:
            raise ValueError(f"{page.file.src_path}: cannot draw {latex!r}: {error!r}") from error

    return FORMULA.sub(draw, content)


def commands() -> str:
    """Return the page about the command line, from the commands themselves."""
    from typer.main import get_command

    from anchored.cli import app

    lines = ["# Commands", "", "Made from `anchored COMMAND --help`.", ""]
    top = get_command(app)
    for name, command in top.commands.items():
        inner = getattr(command, "commands", None)
        for path, each in [(name, command)] if inner is None else [(f"{name} {n}", c) for n, c in inner.items()]:
            lines += _command(f"anchored {path}", each)
    return "\n".join(lines)


def _command(name: str, command: Any) -> list[str]:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join([name, *(p.name.upper() for p in arguments)])
    lines = [f"## `{name}`", "", _text(command.help), "", "```", f"{usage} [OPTIONS]" if options else usage, "```", ""]
    rows = [(f"`{p.name.upper()}`", p.help) for p in arguments]
    rows += [(f"`{', '.join(p.opts)}`", p.help) for p in options]
    if rows:
        lines += ["| | |", "|---|---|", *(f"| {key} | {_text(about)} |" for key, about in rows), ""]
    return lines


def _text(about: str | None) -> str:
    """Return a help text as Markdown: nothing in it is HTML."""
    return " ".join((about or "").replace("\b", "").split()).replace("<", "&lt;").replace("|", "\\|")


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Take the small script that search needs in files opened from a disk from the site itself."""
    script = get_relative_url("_vendor/iframe-worker.js", page.url)
    return output.replace("https://unpkg.com/iframe-worker/shim", script)
