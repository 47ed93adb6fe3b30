"""Files that come twice: found by content, and told apart by whether the copies agree on the label.

Two copies under one label count twice and may sit on both sides of a split; two copies under different labels
cannot both be right. Only files of equal length are read, so most cost nothing.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from torch import Tensor

from anchored._progress import Work

__all__ = ["find_duplicates", "note_duplicates"]


def find_duplicates(paths: Sequence[Path]) -> list[list[int]]:
    """Find the groups of places in ``paths`` whose files have the same bytes; groups and places in order."""
    by_size: dict[int, list[int]] = defaultdict(list)
    for i, path in enumerate(paths):
        by_size[path.stat().st_size].append(i)
    groups: dict[bytes, list[int]] = defaultdict(list)
    read = [i for same in by_size.values() if len(same) > 1 for i in same]
    work = Work("looking for files that come twice", len(read))
    for i in read:
        with paths[i].open("rb") as file:
            groups[hashlib.file_digest(file, "sha256").digest()].append(i)
        work.step()
    return sorted(group for group in groups.values() if len(group) > 1)


def note_duplicates(
    paths: Sequence[Path], ids: Sequence[str], labels: Tensor, *, noun: str = "image"
) -> tuple[str, ...]:
    """Note files that come twice; those under different labels first, because one of them is wrong.

    Args:
        paths: The files.
        ids: What a user calls them.
        labels: Their labels ``(n,)``.
        noun: What they are, in the singular.

    Returns:
        At most two notes, each with an example.

    Example:
        >>> import tempfile, torch
        >>> folder = Path(tempfile.mkdtemp())
        >>> for name in ("a.txt", "b.txt"):
        ...     _ = (folder / name).write_text("the same")
        >>> ids = ["a.txt", "b.txt"]
        >>> note_duplicates([folder / name for name in ids], ids, torch.tensor([0, 1]), noun="text")
        ('the same text under different labels: 1 group, e.g. a.txt = b.txt',)
    """
    groups = find_duplicates(paths)
    torn = [group for group in groups if len({int(labels[i]) for i in group}) > 1]
    same = [group for group in groups if group not in torn]
    notes = []
    for found, text in ((torn, f"the same {noun} under different labels"), (same, f"the same {noun} more than once")):
        if found:
            example = " = ".join(ids[i] for i in found[0][:3])
            notes.append(f"{text}: {len(found)} group{'s' * (len(found) > 1)}, e.g. {example}")
    return tuple(notes)
