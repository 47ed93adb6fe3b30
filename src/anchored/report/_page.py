"""The page: sections in one HTML file that fetches nothing and runs nothing.

Whatever a user named is escaped by the template, and the page's own content security policy forbids scripts and the
network, should an escape ever be missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from anchored.report._section import Section, Tile

__all__ = ["page"]


def page(title: str, subtitle: str, tiles: Sequence[Tile], sections: Sequence[Section], notes: Sequence[str]) -> str:
    """Render the HTML of a report.

    Args:
        title: Heading of the page.
        subtitle: The report in one sentence.
        tiles: The numbers to remember.
        sections: Sections in the order of the page.
        notes: What the report has to do without, one sentence each.

    Example:
        >>> "&lt;script&gt;" in page("<script>", "", [], [], [])
        True
    """
    from jinja2 import DictLoader, Environment, StrictUndefined
    from markupsafe import Markup

    here = files("anchored.report")
    environment = Environment(
        loader=DictLoader({"page": here.joinpath("page.html").read_text(encoding="utf-8")}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = Markup(here.joinpath("page.css").read_text(encoding="utf-8"))
    return environment.get_template("page").render(
        title=title, subtitle=subtitle, tiles=tiles, sections=sections, notes=notes, style=style
    )
