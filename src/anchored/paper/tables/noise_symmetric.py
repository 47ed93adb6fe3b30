"""Symmetric label noise: anchors make cross entropy and its kin robust, most of all at high rates.

Claim
    With normalised features, anchored prototypes and a scale that falls with the noise rate, cross entropy, focal loss
    and SCE gain, most of all at high rates, and lose next to nothing on clean labels. Active-passive sums, which are
    robust alone, mostly gain less. GCE gains on MNIST, and loses on CIFAR-100 from a rate of 0.4 on.

Command
    ``anchored paper run noise_symmetric --data-root DATA``, or a part of it:
    ``--cell 'mnist/*' --method ce --method ce+fnpal --seeds 0``.

Setting
    The noise is drawn as in the reference: the same number of samples from every class. CIFAR is balanced, so that
    every class has the rate eta; MNIST is not, and at 0.8 the fives carry 88.5 % noise and the ones 71.2 %.

Cost
    One run on one core, from measured speeds: MNIST, 50 epochs, 22 minutes on a free core (2,300 images per second; 22
    to 35 minutes in the records, which had other work beside); CIFAR-10, 120 epochs, about 17 hours (106), or 9 with
    ``--precision bf16`` (209); CIFAR-100 on ResNet-34 ten days (11, extrapolated from four steps). On one GPU, an
    estimate: 5 minutes, 30 minutes and 6 hours. All of it, 345 runs of each, an estimate: 44,400 hours on two cores
    (63, 2,930 and 41,400), 2,270 hours on one GPU (29, 172 and 2,070). The 220 published cells alone, three seeds each:
    28,800 hours on two cores, 1,470 on one GPU.

Expected
    Published, anchored against alone. MNIST at 0.8: CE 79.23 against 22.32, GCE 94.65 against 33.07, NCE+RCE 79.70
    against 74.80. CIFAR-10 at 0.6: CE 72.77 against 38.21, SCE 73.49 against 61.09, NCE+RCE 80.28 against 80.04.
    CIFAR-100 at 0.6: CE 41.35 against 22.00, but GCE 34.01 against 45.99. Of 100 anchored cells 78 are higher than the
    same loss alone.

References:
    Zhou et al., 2022. Prototype-Anchored Learning for Learning with Imperfect Annotations. ICML.
"""

from __future__ import annotations

from anchored.paper.published import published_numbers
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
    published=published_numbers("noise_symmetric"),
)
