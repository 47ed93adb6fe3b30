"""Draw prototypes.svg: where prototypes and samples end with 40 % wrong labels, trained and anchored.

Zeros, ones and twos of scikit-learn's digits; the same network with two features, the same wrong labels, the same steps
of SGD on cross entropy. Only the last layer differs. Run from the root: ``python docs/images/prototypes.py``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from _digits import digits, train
from torch import nn

from anchored import AnchoredHead, noise, prototypes, theory
from anchored.paper.figures.style import BLUE, INK, MUTED, save, styled, subplots

CLASSES, ETA = 3, 0.4
COLOURS = (BLUE, "#c8553d", "#117733")


def corners() -> torch.Tensor:
    """The simplex of three classes in the plane, one corner at the top."""
    angles = torch.tensor([90.0, 210.0, 330.0]).deg2rad()
    return torch.stack([angles.cos(), angles.sin()], dim=1)


def end(anchored: bool, seed: int = 3) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, float]:
    """Train once; return test features, their true classes, the prototypes, and the accuracy on true test labels."""
    generator = torch.Generator().manual_seed(seed)
    X, truth, X_test, y_test = digits(generator, n_class=CLASSES)
    given = noise.symmetric(truth, ETA, CLASSES, generator=generator).labels
    torch.manual_seed(seed)
    head: nn.Module = nn.Linear(2, CLASSES, bias=False)
    if anchored:
        head = AnchoredHead(2, CLASSES, scale=theory.noise_aware_scale(ETA), prototypes=corners())
    net = train(X, given, head, 2, seed=seed, epochs=120)
    with torch.no_grad():
        right = (net(X_test).argmax(dim=1) == y_test).double().mean().item()
        rows = head.prototypes if anchored else head.weight.detach()
        return net[0](X_test), y_test, rows, right


def main(folder: Path = Path(__file__).parent) -> None:
    """Train twice, draw twice."""
    with styled():
        picture, panels = subplots(1, 2, size=(3.6, 3.4))
        for panel, anchored in zip(panels, (False, True), strict=True):
            features, truth, rows, right = end(anchored)
            angle = prototypes.quality(rows / rows.norm(dim=1, keepdim=True)).min_angle_degrees
            features = nn.functional.normalize(features, dim=1) if anchored else features / features.norm(dim=1).max()
            generator = torch.Generator().manual_seed(1)
            shift = 1 + 0.12 * (torch.rand(len(features), 1, generator=generator) - 0.5) if anchored else 1.0
            panel.add_patch(_circle())
            for j, colour in enumerate(COLOURS):
                mine = (features * shift)[truth == j]
                panel.scatter(*mine.T, s=9, color=colour, alpha=0.55, linewidths=0, zorder=2)
                tip = rows[j] / rows[j].norm()
                panel.annotate(
                    "",
                    xy=1.16 * tip,
                    xytext=(0, 0),
                    arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2},
                    zorder=3,
                )
                panel.annotate(str(j), 1.27 * tip, color=colour, fontsize=11, weight="bold", ha="center", va="center")
            kind = "anchored" if anchored else "trained"
            panel.set_title(f"{kind} prototypes: {right:.0%} right", fontsize=11, color=INK)
            panel.text(-1.38, -1.36, f"closest prototypes: {angle:.0f}° apart", color=MUTED, fontsize=8)
            panel.set_aspect("equal")
            panel.set_xlim(-1.42, 1.42)
            panel.set_ylim(-1.42, 1.42)
            panel.axis("off")
        save(
            picture,
            folder / "prototypes.svg",
            caption="Handwritten 0, 1 and 2, 40 % of the training labels wrong. Dots: test samples by their true class; "
            "arrows: prototypes. The same network and steps; only the last layer differs. Seed 3.",
        )


def _circle() -> object:
    from matplotlib.patches import Circle

    return Circle((0, 0), 1, fill=False, color="#d5d5d5", linewidth=0.8)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
