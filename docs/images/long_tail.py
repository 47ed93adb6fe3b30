"""Draw long_tail.svg: what rare classes do to trained prototypes, and what anchors keep.

Digits with classes of 100 down to 4 samples: cosines between the prototypes after training, and the accuracy class by
class, mean of three seeds. The same network and steps. Run from the root of the repository.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from _digits import digits, train
from torch import nn

from anchored import AnchoredHead, imbalance, losses
from anchored.paper.figures.style import ACCENT, BLUE, INK, save, styled, subplots

SEEDS = (0, 1, 2)
MOST, RATIO, WIDTH = 100, 25, 64


def end(seed: int, kind: str) -> tuple[torch.Tensor, torch.Tensor, list[int]]:
    """Train once; return cosines ``(k, k)`` between prototypes, accuracies ``(k,)`` and the sizes of the classes."""
    generator = torch.Generator().manual_seed(seed)
    X, y, X_test, y_test = digits(generator)
    sizes = imbalance.counts(MOST, 10, RATIO)
    kept = imbalance.subset(y, sizes, generator=generator)
    torch.manual_seed(seed)
    head: nn.Module = nn.Linear(WIDTH, 10, bias=False)
    if kind != "trained":
        head = AnchoredHead(WIDTH, 10, normalize=False, generator=generator)
    loss = losses.BalancedSoftmax(sizes) if kind == "anchored, sizes in the loss" else None
    net = train(X[kept], y[kept], head, WIDTH, seed=seed, loss=loss)
    with torch.no_grad():
        rows = nn.functional.normalize(head.weight if kind == "trained" else head.prototypes, dim=1)
        right = net(X_test).argmax(dim=1) == y_test
        return (
            rows @ rows.T,
            torch.stack([right[y_test == j].double().mean() for j in range(10)]),
            list(map(int, sizes)),
        )


def main(folder: Path = Path(__file__).parent) -> None:
    """Train twice with three seeds; draw two matrices and the accuracies."""
    with styled():
        picture, panels = subplots(1, 3, size=(2.9, 2.7), width_ratios=(1, 1, 1.5))
        for panel, name, colour in (
            (panels[0], "trained", ACCENT),
            (panels[1], "anchored", BLUE),
            (None, "anchored, sizes in the loss", INK),
        ):
            ends = [end(seed, name) for seed in SEEDS]
            cosines, accuracy = (torch.stack([each[i] for each in ends]).mean(dim=0) for i in (0, 1))
            if panel is not None:
                shown = cosines.masked_fill(torch.eye(10, dtype=torch.bool), torch.nan).numpy()
                image = panel.imshow(shown, vmin=-0.5, vmax=0.5, cmap="RdBu_r")
                panel.set_title(f"{name}: cosines")
                panel.set_xticks(range(10))
                panel.set_yticks(range(10))
                panel.set_xlabel("prototypes, common to rare classes")
            said = f"{name}: {100 * accuracy.mean():.0f} %, the three rarest {100 * accuracy[-3:].mean():.0f} %"
            print(said)
            panels[2].plot(range(10), (100 * accuracy).numpy(), marker="o", markersize=3, color=colour, label=said)
        picture.colorbar(image, ax=panels[1], shrink=0.75)
        sizes = ends[0][2]
        panels[2].set_xticks(range(10), [str(size) for size in sizes])
        panels[2].set_ylim(0, 103)
        panels[2].set_yticks([0, 25, 50, 75, 100])
        panels[2].set_xlabel("training samples of the class")
        panels[2].set_title("accuracy class by class, %")
        panels[2].legend(loc="lower left", handlelength=1.2)
        panels[2].grid(axis="y")
        save(
            picture,
            folder / "long_tail.svg",
            caption="Digits, classes of 100 down to 4 samples, balanced test set, mean of three seeds, the same "
            "network and steps. Cross entropy with trained prototypes and with anchors; balanced softmax with anchors.",
        )


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
