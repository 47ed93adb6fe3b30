"""Draw docs/images/ridge.svg: the regression onto three anchors with clean labels and with 40 % wrong ones.

Run from the root of the repository: ``python docs/images/ridge.py``. The points are what the closed form says of 600 samples
of three classes in eight dimensions, each without having seen it; grey lines part the plane by the nearest anchor.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")

import torch
from matplotlib import pyplot as plt

from anchored import noise, theory
from anchored.ridge import fit_ridge

COLOURS = ("#4477aa", "#c8553d", "#117733")
ETA = 0.4


def main(folder: Path = Path(__file__).parent) -> None:
    """Fit twice, draw twice."""
    generator = torch.Generator().manual_seed(3)
    truth = torch.randint(3, (600,), generator=generator)
    means = 1.5 * torch.randn(3, 8, generator=generator, dtype=torch.float64)
    X = torch.randn(600, 8, generator=generator, dtype=torch.float64) + means[truth]
    wrong = noise.symmetric(truth, ETA, 3, generator=generator).labels
    angles = torch.tensor([90.0, 210.0, 330.0], dtype=torch.float64).deg2rad()
    anchors = torch.stack([angles.cos(), angles.sin()], dim=1)
    shrunk = theory.noise_shrinkage(3, ETA)
    style = {"svg.hashsalt": "anchored", "svg.fonttype": "path", "font.size": 9, "font.family": ["DejaVu Sans"]}
    with plt.rc_context(style):
        figure, places = plt.subplots(1, 2, figsize=(7.2, 3.7), sharex=True, sharey=True)
        for place, labels, title in (
            (places[0], truth, "true labels"),
            (places[1], wrong, f"{ETA:.0%} of the labels wrong"),
        ):
            model = fit_ridge(X, labels, 3)
            raw = model.loo_logits * model.temperature
            points = raw @ anchors * (2 / 3)  # logits W z back to z
            right = (points @ anchors.T).argmax(dim=1) == truth
            for end in -1.35 * anchors:
                place.plot([0, end[0]], [0, end[1]], color="#b5b5b5", linewidth=0.8, zorder=1)
            for j, colour in enumerate(COLOURS):
                mine = truth == j
                place.scatter(*points[mine].T, s=5, color=colour, alpha=0.55, linewidths=0, zorder=2)
                place.scatter(*anchors[j], s=70, marker="^", color=colour, edgecolors="#222222", zorder=4)
                mean = points[mine].mean(dim=0)
                place.annotate(
                    "", xy=mean, xytext=(0, 0), arrowprops={"arrowstyle": "-|>", "color": "#222222", "lw": 1}, zorder=3
                )
            place.set_title(f"{title}: {right.double().mean():.1%} right", loc="left", fontsize=10)
            place.set_aspect("equal")
            place.set_xlim(-1.35, 1.35)
            place.set_ylim(-1.05, 1.3)
            place.axis("off")
        figure.text(
            0.5,
            0.02,
            f"Arrows: class means. Theory: wrong labels shrink them to {shrunk:.0%} and turn none.",
            ha="center",
            color="#6b6b6b",
        )
        figure.tight_layout(rect=(0, 0.05, 1, 1))
        figure.savefig(folder / "ridge.svg", metadata={"Date": None})


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
