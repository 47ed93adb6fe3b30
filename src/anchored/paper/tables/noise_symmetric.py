"""Symmetric label noise: anchors make cross entropy as robust as the losses that were made for it.

Claim
    With normalised features, anchored prototypes and a scale that falls with the noise rate, every loss of the
    comparison gains, most of all where four labels in five are wrong: MNIST at 0.8, cross entropy 22.32 alone and
    79.23 anchored, generalised cross entropy 33.07 and 94.65; CIFAR-10 at 0.6, cross entropy 38.21 and 72.77.

Command
    ``anchored paper run noise_symmetric --data-root DATA``, or a part of it:
    ``--cell 'mnist/*' --method ce --method ce+fnpal --seeds 0``.

Setting
    The noise is drawn as in the reference: the same number of samples from every class. CIFAR is balanced, so that
    every class has the rate eta; MNIST is not, and at 0.8 the fives carry 88.5 % noise and the ones 71.2 %.

Cost
    On one CPU core, from measured speeds: a MNIST run of 50 epochs 22 minutes (2,300 images per second), a CIFAR-10
    run of 120 epochs about 17 hours (106), or 9 with ``--precision bf16`` (209), a CIFAR-100 run on ResNet-34 ten days
    (11, extrapolated from four steps); two cores do two runs in that time. On one GPU, an estimate: 5 minutes, 30
    minutes and 6 hours. The 220 published cells with three seeds are then about 65 GPU days, nearly all of them
    CIFAR-100.

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML.
"""

from __future__ import annotations

from anchored.paper.published import published
from anchored.paper.table import Table
from anchored.paper.tables._noisy import ROWS, noisy_cell, noisy_settings

__all__ = ["TABLE"]

TABLE = Table(
    name="noise_symmetric",
    title="Test accuracy (%) after the last epoch, symmetric label noise",
    claim="Anchored prototypes make ordinary losses robust to symmetric noise, most of all at high rates.",
    rows=ROWS,
    cells=tuple(
        noisy_cell(data, eta, f"symmetric={eta}:apl")
        for data in ("mnist", "cifar10", "cifar100")
        for eta in (0.0, 0.2, 0.4, 0.6, 0.8)
    ),
    build=noisy_settings,
    published=published("noise_symmetric"),
)
