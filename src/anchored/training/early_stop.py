r"""When to stop: once held-out labels are predicted worse than they were, by more than chance, for several epochs.

Held-out labels are as noisy as the others. Their loss is no guide then: a model that grows certain of the truth pays
for every wrong label, and one that hedges between classes that are mistaken for each other is rewarded. How many of
them it predicts is one, because wrong labels only lower the count for all epochs alike: under noise of rate
:math:`\eta` that is the same for all classes, accuracy A is seen as :math:`(1 - \eta) A + \frac{\eta}{k-1} (1 - A)`.

Two epochs are compared on the same samples. Of those that only one of them predicts, the best epoch has b and this one
c; by chance alone their difference has the standard deviation :math:`\sqrt{b + c}`, and this epoch is worse if
:math:`b - c > 2\sqrt{b + c}`. If not, it is as good as the best, and its smaller learning rate speaks for it.

References:
    McNemar, 1947. Note on the sampling error of the difference between correlated proportions. Psychometrika.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor, nn

__all__ = ["Best", "is_worse"]

_STANDARD_DEVIATIONS = 2.0


@dataclass(frozen=True, eq=False)
class Best:
    """The epoch that predicted most of the held-out labels.

    Attributes:
        epoch: Its number, from 1 over all stages.
        right: ``(n,)`` bool, which held-out labels it predicted.
        weights: The network's weights at the end of that epoch.
    """

    epoch: int
    right: Tensor
    weights: dict[str, Tensor]

    @classmethod
    def of(cls, network: nn.Module, right: Tensor, epoch: int) -> Best:
        """Keep a copy of the weights that ``network`` has now.

        Args:
            network: The network at the end of the epoch.
            right: ``(n,)`` bool, which held-out labels it predicts.
            epoch: Number of the epoch, from 1 over all stages.

        Returns:
            The epoch, with weights that later training does not change.

        Example:
            >>> import torch
            >>> network = nn.Linear(2, 2)
            >>> best = Best.of(network, torch.tensor([True, False]), epoch=3)
            >>> _ = network.requires_grad_(False).weight.zero_()
            >>> bool(best.weights["weight"].any())
            True
        """
        return cls(epoch, right, {name: value.detach().clone() for name, value in network.state_dict().items()})


def is_worse(right: Tensor, best: Tensor) -> bool:
    r"""Tell whether an epoch is worse than the best by more than chance: :math:`b - c > 2\sqrt{b + c}`.

    Args:
        right: ``(n,)`` bool, which held-out labels the epoch predicts.
        best: The same of the best epoch; it alone predicts b of the samples, this epoch alone c.

    Returns:
        Whether the epoch is worse.

    Example:
        >>> import torch
        >>> best = torch.arange(1000) < 600
        >>> is_worse(torch.arange(1000) < 596, best), is_worse(torch.arange(1000) < 595, best)
        (False, True)
    """
    lost, won = int((best & ~right).sum()), int((right & ~best).sum())
    return lost - won > _STANDARD_DEVIATIONS * math.sqrt(lost + won)
