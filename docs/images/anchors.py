"""Draw anchors.svg: three places for three prototypes, and the smallest margin that each leaves.

The margin is that of the best features for these prototypes (``anchored.prototypes.reachable_margin``), in the plane and
then, for random prototypes and the simplex, over the number of classes. Run from the root of the repository.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from anchored import prototypes, theory
from anchored.paper.figures.style import ACCENT, BLUE, INK, save, styled, subplots
from anchored.prototypes import reachable_margin

PLACES = {"at random": (20.0, 150.0, 95.0), "squeezed": (60.0, 120.0, 270.0), "a simplex": (90.0, 210.0, 330.0)}
COLOURS = (BLUE, "#c8553d", "#117733")


def main(folder: Path = Path(__file__).parent) -> None:
    """Draw three circles and a curve."""
    with styled():
        picture, panels = subplots(1, 4, size=(2.1, 2.2), width_ratios=(1, 1, 1, 1.5))
        for panel, (name, angles) in zip(panels, PLACES.items(), strict=False):
            turned = torch.tensor(angles, dtype=torch.float64).deg2rad()
            w = torch.stack([turned.cos(), turned.sin()], dim=1)
            margin = reachable_margin(w, nonnegative=False).min().item()
            panel.plot(*_circle(), color="#d5d5d5", linewidth=0.8)
            for tip, colour in zip(w, COLOURS, strict=True):
                arrow = {"arrowstyle": "-|>", "color": colour, "lw": 1.8}
                panel.annotate("", xy=tip, xytext=(0, 0), arrowprops=arrow)
            panel.set_title(f"{name}: margin {margin:.2f}", color=INK)
            panel.set_aspect("equal")
            panel.set_xlim(-1.15, 1.15)
            panel.set_ylim(-1.15, 1.15)
            panel.axis("off")
        classes = (2, 3, 5, 10, 20, 50)
        generator = torch.Generator().manual_seed(0)
        random = [
            reachable_margin(_unit(torch.randn(k, 64, generator=generator)), nonnegative=False).min() for k in classes
        ]
        simplex = [reachable_margin(prototypes.simplex(k, 64), nonnegative=False).min() for k in classes]
        assert all(abs(m - theory.max_margin(k)) < 1e-2 for m, k in zip(simplex, classes, strict=True))
        panel = panels[3]
        panel.plot(classes, simplex, marker="o", markersize=3, color=BLUE)
        panel.plot(classes, random, marker="o", markersize=3, color=ACCENT)
        panel.set_xscale("log")
        panel.set_xticks(classes, [str(k) for k in classes])
        panel.minorticks_off()
        panel.set_ylim(0, 2.1)
        panel.set_title("smallest margin in 64 dimensions")
        panel.set_xlabel("classes")
        panel.text(12, 1.2, "simplex: k/(k−1)", color=BLUE, fontsize=7.5)
        panel.text(12, 0.55, "at random", color=ACCENT, fontsize=7.5)
        panel.grid(axis="y")
        save(
            picture,
            folder / "anchors.svg",
            caption="The smallest margin that the best features can reach, for prototypes on the unit circle and in 64 dimensions.",
        )


def _circle() -> torch.Tensor:
    angles = torch.linspace(0, 2 * torch.pi, 200)
    return torch.stack([angles.cos(), angles.sin()])


def _unit(w: torch.Tensor) -> torch.Tensor:
    return w / w.norm(dim=1, keepdim=True)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
