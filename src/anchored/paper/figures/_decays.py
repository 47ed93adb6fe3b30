"""The runs of the two weight-decay figures: those of the table ``weight_decay``, and a quick version of them."""

from __future__ import annotations

from dataclasses import replace

from anchored.paper.table import Cell, Table
from anchored.paper.tables import weight_decay
from anchored.paper.tables._longtailed import longtailed_row
from anchored.paper.tables._small import LONGTAILED
from anchored.training import merge

__all__ = ["decays_table", "quick_decays_table"]

_DECAYS = ("0", "5e-5", "5e-4", "1e-3")
_QUICK_DECAYS = ("0", "1e-3", "1e-2", "3e-2")


def decays_table(name: str, *methods: str) -> Table:
    """Make a table of ``methods`` at the four weight decays that the paper's diagrams show.

    Example:
        >>> [cell.name for cell in decays_table("norms", "ce").cells]
        ['0', '5e-5', '5e-4', '1e-3']
    """
    table = weight_decay.TABLE
    return replace(
        table, name=name, rows=tuple(map(table.row, methods)), cells=tuple(map(table.cell, _DECAYS)), published={}
    )


def quick_decays_table(name: str, *methods: str) -> Table:
    """Make the same table on long-tailed MNIST; it has fewer steps, so the weight decays are larger."""
    return Table(
        name=f"{name} (quick)",
        title=weight_decay.TABLE.title,
        claim=weight_decay.TABLE.claim,
        rows=tuple(map(longtailed_row, methods)),
        cells=tuple(map(_quick_cell, _QUICK_DECAYS)),
    )


def _quick_cell(decay: str) -> Cell:
    settings = merge(LONGTAILED.settings, {"optimizer": {"weight_decay": float(decay)}, "train": {"evaluate": False}})
    return Cell(name=decay, title=decay, settings=settings)
