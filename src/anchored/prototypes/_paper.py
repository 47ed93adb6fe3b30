r"""The paper's generator: SGD on :math:`-\frac1k \sum_y \log(e^{s w_y \cdot z_y} / \sum_j e^{s w_j \cdot z_y})`.

It is the appendix's pseudo-code (Prototypes Generation) with its gaps filled: the labels are 0..k-1, the steps
100,000, and the rows are normalised at the end, because the raw ones have shrunk to a length of about 0.02 by then. The
cosine schedule has T_max = 20,000, so the learning rate falls to 0 and rises again, and is 0 at odd multiples.
The weight decay matters: it shortens the rows, which makes the steps of their directions longer.

It is kept for comparison. The closed forms of this package are exact and need no steps.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from anchored._checks import check_integer, check_real
from anchored.prototypes._request import check_sizes

__all__ = ["paper"]


def paper(k: int, d: int, *, use_relu: bool = False, steps: int = 100_000, seed: int = 0, scale: float = 5.0) -> Tensor:
    r"""Return prototypes from the published SGD procedure, rows normalised.

    It minimises :math:`-\frac1k \sum_y \log(e^{s w_y \cdot z_y} / \sum_j e^{s w_j \cdot z_y})` over unit w and z.

    Args:
        k: Number of classes.
        d: Number of features.
        use_relu: Fit the prototypes to features that have passed a ReLU.
        steps: Gradient steps; fewer than 20,000 have not settled, k = 100 needs 60,000.
        seed: Seed of the starting point.
        scale: The paper's s. For k <= d + 1 the optimum does not depend on it.

    Returns:
        Prototypes ``(k, d)``, float32, rows of unit length.

    Example:
        >>> w = paper(3, 2, steps=1000)                           # already close to the triangle
        >>> bool((w @ w.T).min() < -0.49)
        True
    """
    k, d = check_sizes(k, d)
    steps = check_integer("steps", steps, low=1)
    scale = check_real("scale", scale, low=0, closed="neither")
    generator = torch.Generator().manual_seed(check_integer("seed", seed, low=0))
    free_z = torch.randn(k, d, generator=generator).requires_grad_()
    free_w = torch.nn.init.kaiming_normal_(torch.empty(k, d), generator=generator).requires_grad_()
    optimizer = torch.optim.SGD([free_z, free_w], lr=0.1, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20_000, eta_min=0)
    labels = torch.arange(k)
    with torch.enable_grad():
        for _ in range(steps):
            z = F.normalize(F.relu(free_z) if use_relu else free_z, dim=1)
            loss = F.cross_entropy(F.linear(z, F.normalize(free_w, dim=1)) * scale, labels)
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
            scheduler.step()
    return F.normalize(free_w.detach().double(), dim=1).float()
