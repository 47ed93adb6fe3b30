"""``python -m anchored.demo``: digits, four labels in ten of them wrong; plain cross entropy against anchoring.

Both runs see the same images, the same wrong labels, the same network and the same number of steps. What differs is
the head: trained prototypes against prototypes that stay where they are. The test labels are clean.
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
    """Train each of :data:`METHODS` on digits with wrong labels.

    Args:
        folder: A new folder for the runs.
        epochs: Epochs of each run.
        seed: Seed of both runs.

    Returns:
        The result of each run by the name of its method.
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
    """``root/1``, or the next number that is free: what an earlier demo wrote is left alone."""
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
            f"{100 * test['ece_uncalibrated']:.1f}",
            f"{100 * test['ece']:.1f}",
            f"{test['gamma_min']:.2f}",
            f"{test['gamma_mean']:.2f}",
        ]
        for method, test in tests.items()
    ]
    plain, anchored = (100 * tests[method]["accuracy"] for method in METHODS)
    print_table(
        "digits, 40 % of the training labels wrong; scores on clean test images",
        ["method", "accuracy (%)", "ECE before (%)", "ECE after (%)", "gamma_min", "gamma mean"],
        rows,
        f"anchoring gained {anchored - plain:+.1f} points of accuracy in {seconds:.0f} s; the runs are in {folder}\n"
        f"look closer: {report}",
    )


if __name__ == "__main__":
    main()
