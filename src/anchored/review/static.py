"""The review as one file that needs no server: pictures and suspects inside, decisions kept by the browser.

The page keeps decisions in the browser's own storage and hands them over as ``corrections.csv``. Its policy names
the one script and the one style sheet in it by their hashes, so nothing else in the file can run, whatever
the classes are called.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from anchored._files import write_text
from anchored.review.assets import PAGE, SCRIPTS, STYLE, read_asset
from anchored.review.pictures import data_uri
from anchored.review.session import Review

__all__ = ["static_page", "write_static"]

_SIDE, _NEIGHBOUR_SIDE = 160, 64
_NEIGHBOURS = 5


def write_static(review: Review, path: str | Path) -> None:
    """Write :func:`static_page` to ``path``, atomically."""
    write_text(path, static_page(review))


def static_page(review: Review) -> str:
    """The page as text, everything inside."""
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
    """What the server would have been asked for."""
    content = review.payload()
    content["key"] = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
    near: dict[str, Any] = {}
    seen: set[int] = set()
    for row, suggested in zip(review.cases.rows, content["suggested"], strict=True) if content["neighbours"] else ():
        found = {name: values[:_NEIGHBOURS] for name, values in review.neighbours(row.index, suggested).items()}
        near[f"{row.index}/{suggested}"] = found
        seen.update(found["index"])
    own = [row.index for row in review.cases.rows]
    inputs = review.dataset.inputs
    if review.dataset.is_image:
        pictures = {i: data_uri(inputs, i, side=_NEIGHBOUR_SIDE) for i in sorted(seen.difference(own))}
        pictures |= {i: data_uri(inputs, i, side=_SIDE) for i in own}
        content["pictures"] = pictures
    else:
        every = [*own, *sorted(seen.difference(own))]
        content["rows"] = {i: review.values([i])[0] for i in every}
    content["near"] = near
    return content
