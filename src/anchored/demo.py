"""``python -m anchored.demo``: digits with four wrong labels in ten; plain cross entropy against anchoring.

Both runs see the same images, the same wrong labels, the same network and the same number of steps. They differ in the
last layer: class directions that are trained, against class directions that are fixed. The test labels are clean.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

__all__ = ["METHODS", "demo", "main"]

METHODS = ("ce", "ce+fnpal")
_ROOT = Path("demo-run")
_NOISE = "symmetric=0.4"


def demo(folder: str | Path, *, epochs: int = 25, seed: int = 0) -> dict[str, dict[str, Any]]:
    """Train each of :data:`METHODS` in a folder of its own.

    Args:
        folder: New folder for the runs.
        epochs: Passes over the data of each run.
        seed: Seed of both runs.

    Returns:
        The final numbers of each method, by its name.
    """
    from anchored.cli.progress import make_progress
    from anchored.data import load_digits
    from anchored.runs import fit

    split = load_digits()
    results = {}
    for method in METHODS:
        settings = {
            "data": {"source": "digits", "corrupt": [_NOISE]},
            "method": {"name": method},
            "train": {"epochs": epochs, "seed": seed},
        }
        progress = make_progress()
        progress.say(f"{method} on digits, {_NOISE}")
        results[method] = fit(split, settings, folder=Path(folder) / method, progress=progress).result
    return results


def next_folder(root: Path) -> Path:
    """Choose ``root/1``, or the next free number, so that the results of an earlier demo stay."""
    taken = [int(entry.name) for entry in root.iterdir() if entry.name.isdigit()] if root.is_dir() else []
    return root / str(max(taken, default=0) + 1)


def main() -> None:
    """Run the demo below ``./demo-run`` and print both results side by side."""
    import torch

    from anchored.cli.output import print_table
    from anchored.report import write as write_report

    # Images of 8 x 8 pixels give a second thread nothing to do but wait, and on a busy machine it waits for long.
    torch.set_num_threads(1)
    folder = next_folder(_ROOT)
    started = time.monotonic()
    results = demo(folder)
    seconds = time.monotonic() - started
    report = write_report(folder / METHODS[1], compare=folder / METHODS[0])
    tests = {method: result["test"] for method, result in results.items()}
    rows = [
        [
            method,
            f"{100 * test['accuracy']:.1f}",
            f"{100 * test['ece']:.1f}",
            f"{100 * test['ece_uncalibrated']:.1f}",
            f"{test['gamma_min']:.2f}",
            f"{test['gamma_mean']:.2f}",
        ]
        for method, test in tests.items()
    ]
    plain, anchored = (100 * tests[method]["accuracy"] for method in METHODS)
    print_table(
        "digits, 40 % of the training labels wrong; scores on clean test images",
        [
            "method",
            "right answers (%)",
            "error of probabilities (%)",
            "before calibration (%)",
            "smallest gap",
            "mean gap",
        ],
        rows,
        "ce is plain training; ce+fnpal keeps the directions of the classes fixed (anchored). The error of the "
        "probabilities is ECE; a gap is the cosine to the own class minus that to the nearest other one, the smallest "
        "is gamma_min\n"
        f"anchoring gained {anchored - plain:+.1f} points of accuracy in {seconds:.0f} s; the runs are in {folder}\n"
        f"look closer: {report}",
    )


if __name__ == "__main__":
    main()
