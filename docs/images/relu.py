"""Draw relu.svg: which corners a feature without negative coordinates can reach.

Left, two classes in the plane: the simplex turned at random, and along the orthant. Right, the smallest margin that
non-negative features can reach over the number of features. Run from the root of the repository.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from anchored import prototypes, theory
from anchored.paper.figures.style import ACCENT, BLUE, INK, save, styled, subplots
from anchored.prototypes import reachable_margin

COLOURS = (BLUE, ACCENT)
K = 10


def main(folder: Path = Path(__file__).parent) -> None:
    """Draw two quarters and a curve."""
    with styled():
        picture, panels = subplots(1, 3, size=(2.6, 2.5), width_ratios=(1, 1, 1.4))
        for panel, (name, degrees) in zip(panels, {"turned at random": 20.0, "aligned": -45.0}.items(), strict=False):
            turned = torch.tensor([degrees, degrees + 180], dtype=torch.float64).deg2rad()
            w = torch.stack([turned.cos(), turned.sin()], dim=1)
            margins = reachable_margin(w)
            panel.fill([0, 1.1, 1.1, 0], [0, 0, 1.1, 1.1], color="#f0f0f0", zorder=0)
            for j, (tip, colour) in enumerate(zip(w, COLOURS, strict=True)):
                panel.annotate("", xy=tip, xytext=(0, 0), arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.8})
                best = _best(w, j)
                if margins[j] > 0:
                    panel.scatter(*best, s=45, color=colour, zorder=3)
                said = f"margin {margins[j]:.2f}" if margins[j] > 0 else "none can reach it"
                panel.text(
                    *(1.25 * tip - torch.tensor([0, 0.22 * (tip[0] > 0)])),
                    said,
                    color=colour,
                    fontsize=7.5,
                    ha="center",
                    va="center",
                )
            panel.set_title(name, color=INK)
            panel.set_aspect("equal")
            panel.set_xlim(-1.4, 1.4)
            panel.set_ylim(-1.25, 1.25)
            panel.axis("off")
        panel = panels[2]
        sizes = (16, 32, 64, 128, 256)
        random = [
            reachable_margin(prototypes.simplex(K, d, generator=torch.Generator().manual_seed(0))).min() for d in sizes
        ]
        aligned = [reachable_margin(prototypes.simplex(K, d, orientation="orthant")).min() for d in sizes]
        best = theory.max_margin_nonnegative(K)
        assert all(abs(m - best) < 1e-2 for m in aligned)
        panel.plot(sizes, aligned, marker="o", markersize=3, color=BLUE)
        panel.plot(sizes, random, marker="o", markersize=3, color=ACCENT)
        panel.set_xscale("log")
        panel.set_xticks(sizes, [str(d) for d in sizes])
        panel.minorticks_off()
        panel.set_ylim(0, 1.2)
        panel.text(20, best + 0.03, f"aligned: {best:.2f}", color=BLUE, fontsize=7.5)
        panel.text(60, random[2] - 0.12, "turned at random", color=ACCENT, fontsize=7.5)
        panel.set_title(f"smallest margin, {K} classes")
        panel.set_xlabel("features")
        panel.grid(axis="y")
        save(
            picture,
            folder / "relu.svg",
            caption="Grey: where features after a ReLU can be. Arrows: anchors; dots: the best feature of each class.",
        )


def _best(w: torch.Tensor, j: int) -> torch.Tensor:
    """The unit feature without negative coordinates that has the largest margin for class j of two."""
    direction = (w[j] - w[1 - j]).clamp(min=0)
    return direction / direction.norm().clamp(min=1e-12)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
