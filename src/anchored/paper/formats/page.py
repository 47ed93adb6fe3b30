"""A comparison as one page of HTML: the table, ours against the published numbers, and accuracy over epochs.

The plots are SVG inside the page; nothing is loaded from anywhere.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from anchored.paper.comparison import Comparison, variant
from anchored.paper.formats._grid import grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["to_html"]

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { padding: .2rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #ddd; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
tr.paper td, tr.difference td { color: #666; }
svg { max-width: 100%; height: auto; }
"""
_OURS, _PAPER = "#0b62a4", "#c4500a"


def to_html(comparison: Comparison) -> str:
    """Write the comparison as a page of HTML.

    Example:
        >>> from anchored.paper import TABLES, compare
        >>> to_html(compare(TABLES["weight_decay"], [], cells=["5e-4"])).startswith("<!doctype html>")
        True
    """
    title = escape(comparison.table.title)
    heads = "".join(f"<th>{escape(comparison.heading(column))}</th>" for column in comparison.columns)
    rows = "".join(
        f'<tr class="{line.kind}"><td>{escape(line.method)}</td><td>{line.kind}</td>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in line.cells)
        + "</tr>\n"
        for line in grid(comparison)
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in comparison.notes)
    plots = "".join(
        f"<h2>{escape(heading)}</h2>\n{_svg(figure)}\n"
        for heading, figure in (*_beside(comparison), *_curves(comparison))
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>\n'
        f"<h1>{title}</h1>\n<p>{escape(comparison.table.claim)}</p>\n"
        f"<table><thead><tr><th>method</th><th></th>{heads}</tr></thead><tbody>\n{rows}</tbody></table>\n"
        f"<ul>{notes}</ul>\n{plots}</body></html>\n"
    )


def _beside(comparison: Comparison) -> list[tuple[str, Figure]]:
    """Draw our means and the published ones, method by method, for every column in which something was run."""
    from matplotlib.figure import Figure

    plots = []
    for column in comparison.columns:
        found = [(line, line.entries[column]) for line in comparison.lines if column in line.entries]
        if not any(entry.values for _, entry in found):
            continue
        figure = Figure(figsize=(7, 0.8 + 0.28 * len(found)), layout="constrained")
        axes = figure.subplots()
        for place, (_, entry) in enumerate(found):
            if entry.published is not None:
                axes.errorbar(
                    entry.published.mean, place + 0.12, xerr=entry.published.std, fmt="D", color=_PAPER, markersize=4
                )
            if entry.mean is not None:
                axes.errorbar(entry.mean, place - 0.12, xerr=entry.std, fmt="o", color=_OURS, markersize=5)
        axes.plot([], [], "o", color=_OURS, label="ours")
        axes.plot([], [], "D", color=_PAPER, label="paper")
        axes.set_yticks(range(len(found)), [line.title for line, _ in found])
        axes.invert_yaxis()
        axes.set_xlabel("percent")
        axes.grid(axis="x", alpha=0.3)
        axes.legend()
        plots.append((comparison.heading(column), figure))
    return plots


def _curves(comparison: Comparison) -> list[tuple[str, Figure]]:
    """Draw the test accuracy of each method over the epochs for every cell, first seed."""
    from matplotlib.figure import Figure

    titles = {(line.row, *line.variant): line.title for line in comparison.lines}
    plots = []
    for cell in dict.fromkeys(cell for cell, _ in comparison.columns):
        records = [
            record
            for record in comparison.records
            if record["cell"] == cell and len(record.get("history", {}).get("test_accuracy", ())) > 1
        ]
        seen = {(record["row"], *variant(record)): record for record in sorted(records, key=lambda r: -int(r["seed"]))}
        if not seen:
            continue
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        axes = figure.subplots()
        for kind, record in sorted(seen.items()):
            epochs, accuracy = _scored(record["history"]["test_accuracy"])
            axes.plot(epochs, accuracy, "--" if record["shortened"] else "-", label=titles[kind])
        axes.set_xlabel("epoch")
        axes.set_ylabel("test accuracy (%)")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
        plots.append((f"{comparison.table.cell(cell).title}: accuracy over epochs", figure))
    return plots


def _scored(accuracies: Sequence[float | None]) -> tuple[list[int], list[float]]:
    """The epochs, from 1, after which the test set was scored, and its accuracy in percent."""
    pairs = [(epoch, 100 * value) for epoch, value in enumerate(accuracies, start=1) if value is not None]
    return [epoch for epoch, _ in pairs], [value for _, value in pairs]


def _svg(figure: Figure) -> str:
    """The figure as an element: without the head of a file, and without a date."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return re.sub(r"^.*?(?=<svg)", "", text, flags=re.DOTALL)
