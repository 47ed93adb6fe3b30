"""A comparison as text: Markdown, LaTeX, CSV, or a page with plots."""

from anchored.paper.formats.comma import to_csv
from anchored.paper.formats.latex import to_latex
from anchored.paper.formats.markdown import to_markdown
from anchored.paper.formats.names import FORMATS, get
from anchored.paper.formats.page import to_html

__all__ = ["FORMATS", "get", "to_csv", "to_html", "to_latex", "to_markdown"]
