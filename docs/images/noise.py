"""Draw noise.svg: what one wrong label can cost, and what that does to the accuracy under more and more wrong labels.

Left, the loss of a sample by how far its feature points away from the prototype of its (wrong) label. Right, digits with
symmetric noise, three seeds: a network with trained prototypes, the same with anchors, and anchored least squares in
closed form. Run from the root of the repository.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import fmean

import torch
from _digits import digits, train
from torch import nn

from anchored import AnchoredHead, AnchoredRidge, losses, prototypes, theory
from anchored import noise as label_noise
from anchored.paper.figures.style import ACCENT, BLUE, INK, end_labels, save, styled, subplots

RATES = (0.0, 0.2, 0.4, 0.6, 0.8)
SEEDS = (0, 1, 2)
WIDTH = 64


def accuracy(eta: float, seed: int, kind: str) -> float:
    """Train once and return the accuracy on true test labels."""
    generator = torch.Generator().manual_seed(seed)
    X, truth, X_test, y_test = digits(generator)
    given = label_noise.symmetric(truth, eta, 10, generator=generator).labels
    if kind == "least squares":
        varies = X.std(dim=0) > 0
        model = AnchoredRidge(kernel="auto").fit(X[:, varies].numpy(), given.numpy())
        return model.score(X_test[:, varies].numpy(), y_test.numpy())
    torch.manual_seed(seed)
    head: nn.Module = nn.Linear(WIDTH, 10)
    if kind == "anchored":
        head = AnchoredHead(WIDTH, 10, scale=theory.noise_aware_scale(eta), generator=generator)
    net = train(X, given, head, WIDTH, seed=seed)
    return (net(X_test).argmax(dim=1) == y_test).double().mean().item()


def main(folder: Path = Path(__file__).parent) -> None:
    """Draw the losses, then train and draw the accuracies."""
    with styled():
        picture, (left, right) = subplots(1, 2, size=(3.5, 2.6))
        w = prototypes.simplex(10, 9, dtype=torch.float64)
        angles = torch.linspace(0, torch.pi, 100, dtype=torch.float64)
        side = w[1] - (w[1] @ w[0]) * w[0]
        z = angles.cos()[:, None] * w[0] + angles.sin()[:, None] * (side / side.norm())
        loss = losses.CrossEntropy(reduction="none")
        target = torch.zeros(len(z), dtype=torch.int64)
        ends = []
        for scale, colour in (
            (10.0, INK),
            (theory.noise_aware_scale(0.0), ACCENT),
            (theory.noise_aware_scale(0.4), BLUE),
        ):
            values = loss(scale * z @ w.T, target)
            left.plot(angles.rad2deg(), values, color=colour)
            ends.append((values[-1].item(), f"s = {scale:.3g}", colour))
        left.set_xlabel("degrees between feature and anchor of its label")
        left.set_xticks([0, 45, 90, 135, 180])
        left.set_title("loss of one sample, ten anchors")
        left.grid(axis="y")
        left.set_ylim(0)
        end_labels(left, ends)
        ends = []
        for name, colour in (("trained", ACCENT), ("anchored", BLUE), ("least squares", INK)):
            found = [[100 * accuracy(eta, seed, name) for seed in SEEDS] for eta in RATES]
            means = [fmean(each) for each in found]
            print(name, [round(mean, 1) for mean in means])
            right.fill_between(RATES, [min(f) for f in found], [max(f) for f in found], color=colour, alpha=0.15, lw=0)
            right.plot(RATES, means, marker="o", markersize=3, color=colour)
            ends.append((means[-1], name, colour))
        right.set_ylim(0, 100)
        right.set_xticks(RATES, [f"{rate:.0%}" for rate in RATES])
        right.set_xlabel("training labels that are wrong")
        right.set_title("test accuracy on digits, %")
        right.grid(axis="y")
        end_labels(right, ends)
        save(
            picture,
            folder / "noise.svg",
            caption="A small scale s bounds what one wrong label can cost. Right: the same network and 60 epochs "
            "without an early stop, s from the noise rate, and the closed form; mean and range of three seeds.",
        )


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
