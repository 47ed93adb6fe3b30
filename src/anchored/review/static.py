"""The files of the review page, and the whole page as one file that needs no server.

The page is an HTML file, a style sheet and scripts, each of which uses those before it, in the folder ``page``.
The single file also holds the pictures and the suspects. It keeps decisions in the browser's own storage and hands them
over as ``corrections.csv``. Its content security policy names the one script and the one style sheet by their hashes,
so nothing else in the file can run, whatever the classes are called.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch

from anchored._files import write_text
from anchored.data import data_uri
from anchored.review.session import Review

__all__ = ["KINDS", "PAGE", "SCRIPTS", "STYLE", "read_asset", "static_page", "write_static"]

PAGE = "index.html"
STYLE = "review.css"
SCRIPTS = ("state.js", "store.js", "gallery.js", "detail.js", "chooser.js", "main.js")
KINDS = {
    PAGE: "text/html; charset=utf-8",
    STYLE: "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
    **dict.fromkeys(SCRIPTS, "text/javascript; charset=utf-8"),
}
"""Every file of the page, and the content type it is served as."""
_SIDE, _NEIGHBOUR_SIDE = 160, 64
_NEIGHBOURS = 5


def read_asset(name: str) -> str:
    """Read one of the page's files as text.

    Example:
        >>> read_asset(PAGE).splitlines()[0]
        '<!doctype html>'
    """
    return (files("anchored.review") / "page" / name).read_text(encoding="utf-8")


def write_static(review: Review, path: str | Path) -> None:
    """Write :func:`static_page` to a file, whole or not at all.

    Args:
        review: The suspects and the data to show.
        path: The HTML file.

    Example:
        >>> import tempfile, torch
        >>> from anchored.data import Dataset, TensorInputs
        >>> from anchored.review import Cases
        >>> data = Dataset("toy", TensorInputs(torch.zeros(2, 2)), torch.tensor([0, 1]), ("no", "yes"))
        >>> file = Path(tempfile.mkdtemp(), "review.html")
        >>> write_static(Review("toy", data, Cases(("no", "yes"), ())), file)
        >>> file.read_text(encoding="utf-8").splitlines()[0]
        '<!doctype html>'
    """
    write_text(path, static_page(review))


def static_page(review: Review) -> str:
    """Build the page as the text of one HTML file with everything inside."""
    style, script = read_asset(STYLE), "\n".join(read_asset(name) for name in SCRIPTS)
    policy = (
        f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)}; img-src data:; "
        f"base-uri 'none'; form-action 'none'"
    )
    # In JSON a "<" may be written as an escape, so no text of the data can end the element it stands in.
    data = json.dumps(_content(review), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    data = data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    page = read_asset(PAGE)
    head, _, rest = page.partition("<!-- head -->")
    body, _, end = rest.rpartition("<!-- scripts -->")
    own_head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n  <style>{style}</style>'
    own_scripts = f'<script type="application/json" id="content">{data}</script>\n  <script>{script}</script>'
    return head + own_head + _after(body, "<!-- /head -->") + own_scripts + _after(end, "<!-- /scripts -->")


def _after(text: str, mark: str) -> str:
    return text.partition(mark)[2]


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


def _content(review: Review) -> dict[str, Any]:
    """Collect what the page would have asked the server for."""
    content = review.payload()
    content["key"] = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
    near: dict[str, Any] = {}
    seen: set[int] = set()
    for row, suggested in zip(review.cases.rows, content["suggested"], strict=True) if content["neighbours"] else ():
        found = {name: values[:_NEIGHBOURS] for name, values in review.neighbours(row.index, suggested).items()}
        near[f"{row.index}/{suggested}"] = found
        seen.update(found["index"])
    own = [row.index for row in review.cases.rows]
    others = sorted(seen.difference(own))
    if review.dataset.is_image:
        sides = {**dict.fromkeys(others, _NEIGHBOUR_SIDE), **dict.fromkeys(own, _SIDE)}
        content["pictures"] = {i: data_uri(review.dataset.inputs.take(torch.tensor([i]))[0], sides[i]) for i in sides}
    else:
        content["rows"] = {i: review.values([i])[0] for i in (*own, *others)}
    content["near"] = near
    return content
