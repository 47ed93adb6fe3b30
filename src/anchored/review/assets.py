"""The page's own files, read from the package: a page, a style sheet, and scripts, each built on those before it."""

from __future__ import annotations

from importlib.resources import files

__all__ = ["KINDS", "PAGE", "SCRIPTS", "STYLE", "read_asset"]

PAGE = "index.html"
STYLE = "review.css"
ICON = "icon.svg"
SCRIPTS = ("state.js", "store.js", "gallery.js", "detail.js", "chooser.js", "main.js")
KINDS = {
    PAGE: "text/html; charset=utf-8",
    STYLE: "text/css; charset=utf-8",
    ICON: "image/svg+xml",
    **dict.fromkeys(SCRIPTS, "text/javascript; charset=utf-8"),
}
"""Every file of the page, and what it is served as."""


def read_asset(name: str) -> str:
    """The text of one of the page's files.

    Example:
        >>> read_asset(PAGE).splitlines()[0]
        '<!doctype html>'
    """
    return (files("anchored.review") / "page" / name).read_text(encoding="utf-8")
