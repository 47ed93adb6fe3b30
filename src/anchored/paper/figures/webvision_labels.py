"""The label distribution of mini-WebVision: noisy labels that are unbalanced as well.

Claim
    The first fifty classes of WebVision's Google part are unbalanced by a factor of 6.8, on top of their noise.

Command
    ``anchored paper figure webvision_labels``. Nothing is trained and no image is opened: how many images each class
    has was counted in the list that public code for this setting holds, and is kept beside this module. With
    ``--data-root WEBVISION`` the list ``webvision_mini_train.txt`` of that folder is counted instead, made from the one
    that comes with the data::

        awk '$2 < 50' info/train_filelist_google.txt > webvision_mini_train.txt

Cost
    A second of one core; nothing is trained.

Expected
    65,944 images. The largest class has 3,134 and the smallest 462, as the paper says; two classes have more than
    3,000, and 25 of the 50 fewer than 1,300.

References:
    Li et al., 2017. WebVision Database: Visual Learning and Understanding from Web Data.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from anchored._errors import InputError
from anchored.paper.figures.figure import Figure
from anchored.paper.figures.runs import Runs
from anchored.paper.figures.style import BLUE, subplots
from anchored.paper.tables import webvision_mini

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

__all__ = ["FIGURE", "draw", "known_counts", "label_counts", "read"]

_LIST, _WAY = next(iter(webvision_mini.TABLE.needs.items()))
_BELOW = int(webvision_mini.TABLE.cells[0].settings["data"]["below_label"])


def read(runs: Runs) -> list[int]:
    """Count the images of each class in the list of the data root, or return the known counts without a data root."""
    root = runs.placement.data_root
    if root is None:
        return known_counts()
    if not (Path(root) / _LIST).is_file():
        raise InputError(
            f"{root} has no {_LIST}; leave out --data-root for the counts that come with anchored, or {_WAY}"
        )
    return label_counts(Path(root) / _LIST)


def known_counts() -> list[int]:
    """Return the images of each class as counted once, so that the figure needs no data.

    Example:
        >>> counts = known_counts()
        >>> len(counts), sum(counts), max(counts), min(counts)
        (50, 65944, 3134, 462)
    """
    text = (files("anchored.paper.figures") / "webvision_labels.csv").read_text(encoding="utf-8")
    return [int(row["images"]) for row in csv.DictReader(text.splitlines())]


def label_counts(path: Path, below: int = _BELOW) -> list[int]:
    r"""Count the lines of each label in a list of lines ``path label``.

    Unlike :func:`anchored.data.load_list` it looks for no image, so that the list alone is enough.

    Args:
        path: The list file.
        below: Only labels below this number are counted.

    Returns:
        One count per label, from 0.

    Raises:
        InputError: If a line is no ``path label``, or a label has no line.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "list.txt"
        >>> _ = path.write_text("a.jpg 0\nb.jpg 1\nc.jpg 1\nd.jpg 2\n")
        >>> label_counts(path, below=2)
        [1, 2]
    """
    counts: Counter[int] = Counter()
    with path.open(encoding="utf-8") as lines:
        for row, line in enumerate(lines, start=1):
            label = line.rsplit(maxsplit=1)[-1:]
            if label and not (label[0].isascii() and label[0].isdigit()):
                raise InputError(f"{path}, row {row}: a line must be `path label` with a whole number, got {line!r}")
            counts.update(map(int, label))
    found = [counts[label] for label in range(below)]
    if not all(found):
        raise InputError(f"{path}: no image of class {found.index(0)}; the list must hold all {below} classes")
    return found


def draw(counts: Sequence[int]) -> Picture:
    """Draw a bar per class, the largest first."""
    ordered = sorted(counts, reverse=True)
    picture, (axes,) = subplots(1, 1, size=(5.2, 2.6))
    axes.bar(range(len(ordered)), ordered, width=0.85, color=BLUE)
    axes.text(0, ordered[0], f" {ordered[0]:,}", va="bottom", fontsize=7.5)
    last = (len(ordered) - 1, ordered[-1])
    above = (last[0], ordered[len(ordered) // 2])  # where the bars to its left are not in the way
    line = {"arrowstyle": "-", "linewidth": 0.6}
    axes.annotate(f"{last[1]:,}", last, above, ha="center", va="bottom", fontsize=7.5, arrowprops=line)
    axes.set_title(f"mini-WebVision: {sum(counts):,} images, largest to smallest {ordered[0] / ordered[-1]:.1f}")
    axes.set_xlabel("class, most frequent first")
    axes.set_ylabel("training images")
    axes.set_xlim(-0.7, len(ordered) - 0.3)
    axes.grid(axis="y")
    return picture


FIGURE: Figure[Sequence[int]] = Figure(
    name="webvision_labels",
    claim="mini-WebVision is unbalanced by a factor of 6.8 on top of its noise.",
    cost="A second; nothing is trained.",
    read=read,
    draw=draw,
)
