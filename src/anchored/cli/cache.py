"""``anchored cache``: what the cache of features holds, and how to empty it."""

from __future__ import annotations

import typer

from anchored.cli.output import print_json, print_table


def cache(clear: bool = False, name: str | None = None, json: bool = False) -> None:
    """List the cache of features, or clear it.

    Args:
        clear: Remove everything, or what --name says.
        name: With --clear, the beginning of one name in the list.
        json: Print the result as one JSON object on stdout.
    """
    from anchored._errors import InputError
    from anchored.features import FeatureCache

    if name is not None and not clear:
        raise InputError("--name goes with --clear; `anchored cache` lists everything")
    kept = FeatureCache()
    if clear:
        freed = kept.clear(name)
        if json:
            print_json({"folder": str(kept.folder), "freed": freed})
        else:
            typer.echo(f"{freed / 1e6:,.1f} MB are free again in {kept.folder}")
        return
    entries = kept.entries()
    total = sum(entry.bytes for entry in entries)
    if json:
        held = [
            {"name": e.space, "encoder": e.encoder, "rows": e.rows, "bytes": e.bytes, "used": e.used} for e in entries
        ]
        print_json({"folder": str(kept.folder), "bytes": total, "limit": kept.limit, "entries": held})
        return
    from datetime import datetime

    rows = [
        [
            e.space[:8],
            e.encoder,
            f"{e.rows:,}",
            f"{e.bytes / 1e6:,.1f}",
            f"{datetime.fromtimestamp(e.used):%Y-%m-%d %H:%M}",
        ]
        for e in entries
    ]
    print_table(
        f"Features kept in {kept.folder}",
        ["name", "encoder", "vectors", "MB", "last used"],
        rows,
        f"{total / 1e6:,.1f} of at most {kept.limit / 1e6:,.0f} MB; remove all with: anchored cache --clear",
    )
