"""``python -m anchored.demo``: photos of which a third are in the wrong class folder; plain training against anchored.

No images are shipped: the photos are drawn here, six kinds of shapes in random colours, sizes and places on textured
backgrounds, and saved as JPEG files in class folders. Of the training photos 35 % are put into a folder of another
class, at random; the test photos are all in the right one. Both runs encode the photos with the same pretrained network
(frozen) and see the same wrong labels. Plain training is a network on those features with cross entropy, as many would
do it; the other is ``anchored fit PHOTOS --test TEST`` with nothing else said.
"""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["SHAPES", "WRONG", "Found", "demo", "main", "make_photos"]

SHAPES = ("circle", "cross", "ring", "square", "star", "triangle")
WRONG = 0.35
"""Share of the training photos that are put into the folder of another class."""
_ROOT = Path("demo-run")
_TRAIN, _TEST, _SIDE = 900, 300, 96
_PLAIN, _ANCHORED = "plain", "anchored"
_DOUBTED = 0.5

Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Found:
    """How well the wrong labels were found.

    Attributes:
        wrong: How many training photos are in the wrong folder.
        flagged: How many labels are more probably wrong than right, says the audit.
        right: How many of those are wrong indeed.
    """

    wrong: int
    flagged: int
    right: int


def make_photos(folder: str | Path, *, train: int = _TRAIN, test: int = _TEST, seed: int = 0) -> dict[str, str]:
    """Draw the photos and save them in class folders below ``train`` and ``test``.

    Args:
        folder: New folder for both parts.
        train: Number of training photos.
        test: Number of test photos.
        seed: Seed of everything random.

    Returns:
        What each training photo really shows, by the name of its file.

    Example:
        >>> import tempfile
        >>> place = Path(tempfile.mkdtemp())
        >>> truth = make_photos(place, train=12, test=6)
        >>> sorted(truth.items())[0], len(list(place.glob("test/*/*.jpg")))
        (('00000.jpg', 'circle'), 6)
    """
    import torch

    from anchored import noise
    from anchored._random import stream

    generator = stream(seed, "demo")
    truth = torch.arange(train) % len(SHAPES)
    given = noise.symmetric(truth, WRONG, len(SHAPES), generator=generator).labels
    shown: dict[str, str] = {}
    tested = torch.arange(test) % len(SHAPES)
    for part, kinds, folders in (("train", truth, given), ("test", tested, tested)):
        for name in SHAPES:
            (Path(folder) / part / name).mkdir(parents=True)
        for number, (kind, into) in enumerate(zip(kinds.tolist(), folders.tolist(), strict=True)):
            file = f"{number:05d}.jpg"
            numbers = torch.rand(64, generator=generator).tolist()
            _draw(SHAPES[kind], iter(numbers).__next__).save(Path(folder) / part / SHAPES[into] / file)
            if part == "train":
                shown[file] = SHAPES[kind]
    return shown


def _draw(shape: str, draw: Callable[[], float]) -> Any:  # noqa: ANN401 - an image of Pillow, which is imported late
    """Draw one shape on a background of smooth random colours."""
    from PIL import Image, ImageDraw

    coarse = Image.new("RGB", (4, 4))
    coarse.putdata([(int(200 * draw()), int(200 * draw()), int(200 * draw())) for _ in range(16)])
    image = coarse.resize((_SIDE, _SIDE), Image.Resampling.BICUBIC)
    size = _SIDE * (0.2 + 0.15 * draw())
    x, y = (_SIDE * (0.4 + 0.2 * draw()) for _ in range(2))
    turn = 2 * math.pi * draw()
    colour = tuple(int(128 + 127 * draw()) for _ in range(3))
    brush = ImageDraw.Draw(image)
    if shape in ("circle", "ring"):
        box = (x - size, y - size, x + size, y + size)
        if shape == "circle":
            brush.ellipse(box, fill=colour)
        else:
            brush.ellipse(box, outline=colour, width=max(2, int(size / 3)))
    else:
        brush.polygon([(x + size * u, y + size * v) for u, v in _turned(_OUTLINES[shape], turn)], fill=colour)
    return image


def _star(points: int, inner: float) -> Points:
    """Corners that lie on two circles by turns, of radius one and ``inner``."""
    corners = ((1.0 if i % 2 == 0 else inner, math.pi * i / points) for i in range(2 * points))
    return [(r * math.cos(a), r * math.sin(a)) for r, a in corners]


_ARM = 0.33
_OUTLINES: dict[str, Points] = {
    "square": [(0.9, 0.9), (-0.9, 0.9), (-0.9, -0.9), (0.9, -0.9)],
    "triangle": [(math.cos(a), math.sin(a)) for a in (0.0, 2 * math.pi / 3, 4 * math.pi / 3)],
    "star": _star(5, 0.4),
    "cross": [
        (-_ARM, -1), (_ARM, -1), (_ARM, -_ARM), (1, -_ARM), (1, _ARM), (_ARM, _ARM),
        (_ARM, 1), (-_ARM, 1), (-_ARM, _ARM), (-1, _ARM), (-1, -_ARM), (-_ARM, -_ARM),
    ],
}  # fmt: skip
"""Outlines around the origin, of radius about one."""


def _turned(points: Points, angle: float) -> Points:
    c, s = math.cos(angle), math.sin(angle)
    return [(c * x - s * y, s * x + c * y) for x, y in points]


def demo(folder: str | Path, *, train: int = _TRAIN, test: int = _TEST) -> tuple[dict[str, dict[str, Any]], Found]:
    """Draw the photos, and train on them plainly and anchored.

    Args:
        folder: New folder for photos and runs.
        train: Number of training photos.
        test: Number of test photos.

    Returns:
        The final numbers of either run, ``plain`` and ``anchored``, and how well wrong labels were found.
    """
    from anchored.cli.progress import make_progress
    from anchored.runs import fit, open_data
    from anchored.training import validate

    folder = Path(folder)
    truth = make_photos(folder / "photos", train=train, test=test)
    data = {"source": str(folder / "photos" / "train"), "test": str(folder / "photos" / "test")}
    asked: dict[str, dict[str, Any]] = {
        _ANCHORED: {"data": data},
        _PLAIN: {"data": data, "method": {"name": "ce"}},
    }
    results = {}
    for name, settings in asked.items():
        progress = make_progress()
        progress.say(f"{name} training on {train} photos, {WRONG:.0%} of them in the wrong folder")
        config = validate(settings)
        results[name] = fit(open_data(config), config, folder=folder / name, progress=progress).result
    return results, _found(folder / _ANCHORED / "audit" / "suspects.csv", truth)


def _found(suspects: Path, truth: dict[str, str]) -> Found:
    """Compare the labels that the audit doubts with the truth."""
    wrong = flagged = right = 0
    with suspects.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            is_wrong = truth[Path(line["id"]).name] != line["given"]
            is_flagged = float(line["probability_wrong"]) > _DOUBTED
            wrong, flagged, right = wrong + is_wrong, flagged + is_flagged, right + (is_wrong and is_flagged)
    return Found(wrong, flagged, right)


def next_folder(root: Path) -> Path:
    """Choose ``root/1``, or the next free number, so that the results of an earlier demo stay."""
    taken = [int(entry.name) for entry in root.iterdir() if entry.name.isdigit()] if root.is_dir() else []
    return root / str(max(taken, default=0) + 1)


def main() -> None:
    """Run the demo below ``./demo-run`` and print both results side by side."""
    from anchored.cli.output import print_table
    from anchored.report import write as write_report

    folder = next_folder(_ROOT)
    started = time.monotonic()
    results, found = demo(folder)
    report = write_report(folder / _ANCHORED, compare=folder / _PLAIN)
    seconds = time.monotonic() - started
    rows = [
        [
            {"plain": "plain training (cross entropy)", "anchored": "anchored fit"}[name],
            f"{100 * results[name]['test']['accuracy']:.1f}",
            f"{100 * results[name]['test']['ece']:.1f}",
        ]
        for name in (_PLAIN, _ANCHORED)
    ]
    said = results[_ANCHORED]["auto"]
    low, high = said["interval"]
    print_table(
        f"photos of shapes, drawn for this demo; {WRONG:.0%} of the training photos are in the wrong folder",
        ["on the same features of a pretrained network", "right answers (%)", "error of probabilities (%)"],
        rows,
        f"scored on clean test photos. {found.wrong} labels are wrong; anchored estimates "
        f"{said['noise_rate']:.0%} of all (between {low:.0%} and {high:.0%}), flags {found.flagged}, and "
        f"{found.right} of those are wrong indeed\n"
        f"it took {seconds:.0f} s; photos and runs are in {folder}, the ranked labels in "
        f"{folder / _ANCHORED / 'audit' / 'suspects.csv'}\n"
        f"look closer: {report}\n"
        f"fix labels by hand: anchored review {folder / _ANCHORED}",
    )


if __name__ == "__main__":
    main()
