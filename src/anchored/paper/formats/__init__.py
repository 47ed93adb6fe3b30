"""A comparison as text: Markdown, LaTeX, CSV, or a page with plots."""

from collections.abc import Callable, Mapping

from anchored.paper.comparison import Comparison
from anchored.paper.formats.comma import to_csv
from anchored.paper.formats.latex import to_latex
from anchored.paper.formats.markdown import to_markdown
from anchored.paper.formats.page import to_html

__all__ = ["FORMATS", "to_csv", "to_html", "to_latex", "to_markdown"]

FORMATS: Mapping[str, Callable[[Comparison], str]] = {
    "markdown": to_markdown,
    "latex": to_latex,
    "csv": to_csv,
    "html": to_html,
}
"""What ``--format`` takes."""
