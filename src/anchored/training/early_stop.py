r"""When to stop: once held-out labels are predicted worse than they were, by more than chance, for several epochs.

Held-out labels are as noisy as the others. Their plain loss is no guide then: a model that grows certain of the truth
pays for every wrong label. So each epoch is judged as if it were the last, by the likelihood of the held-out labels
under its own best temperature T and noise rate :math:`\eta`,

.. math::  \ell_i = -\log \left[(1-\eta)\, p_{i, y_i} + \frac{\eta}{k-1}(1 - p_{i, y_i})\right], \qquad
           \mathbf p_i = \operatorname{softmax}(\mathbf f_i / T),

and compared with the best epoch sample by sample: it is worse where the mean of the differences exceeds twice their
standard error. Where it is not, the later epoch is as good as the best, and its smaller learning rate speaks for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor, nn

from anchored.training.calibration import fit_noise_and_temperature, pointwise_nll

__all__ = ["Best", "is_worse", "label_nll"]

_MOST_SAMPLES = 5_000
_STANDARD_ERRORS = 2.0


@dataclass(frozen=True, eq=False)
class Best:
    """The epoch that predicted held-out labels best.

    Attributes:
        epoch: Its number, from 1 over all stages.
        nll: ``(n,)`` float64, what :func:`label_nll` said of it.
        weights: Of the network, as they were then.
    """

    epoch: int
    nll: Tensor
    weights: dict[str, Tensor]

    @classmethod
    def of(cls, network: nn.Module, nll: Tensor, epoch: int) -> Best:
        """With a copy of the weights that ``network`` has now."""
        return cls(epoch, nll, {name: value.detach().clone() for name, value in network.state_dict().items()})


def label_nll(logits: Tensor, labels: Tensor) -> Tensor:
    """The negative log-likelihood ``(m,)`` of noisy labels, of at most 5,000 evenly chosen samples.

    Args:
        logits: ``(n, k)`` of data that was not trained on.
        labels: ``(n,)``, as noisy as the training labels.

    Example:
        >>> import torch
        >>> generator = torch.Generator().manual_seed(0)
        >>> truth = torch.randint(4, (4000,), generator=generator)
        >>> noisy = torch.where(torch.rand(4000, generator=generator) < 0.3, (truth + 1) % 4, truth)
        >>> pale = torch.nn.functional.one_hot(truth, 4) + 0.2 * torch.randn(4000, 4, generator=generator)
        >>> certain = 100 * pale                                # the same knowledge, at another scale
        >>> round(float(label_nll(pale, noisy).mean() - label_nll(certain, noisy).mean()), 4)
        0.0
    """
    every = slice(None, None, -(-len(logits) // _MOST_SAMPLES))
    logits, labels = logits[every], labels[every]
    rate, temperature = fit_noise_and_temperature(logits, labels)
    return pointwise_nll(logits, labels, temperature, noise_rate=rate)


def is_worse(nll: Tensor, best: Tensor) -> bool:
    """Whether ``nll`` is above ``best`` by more than chance, both ``(n,)`` and of the same samples.

    Example:
        >>> import torch
        >>> best = torch.zeros(100, dtype=torch.float64)
        >>> is_worse(best + 0.1, best), is_worse(best + torch.linspace(-1.0, 1.1, 100), best)
        (True, False)
    """
    behind = nll - best
    return float(behind.mean()) > _STANDARD_ERRORS * float(behind.std(correction=0)) / math.sqrt(len(behind))
