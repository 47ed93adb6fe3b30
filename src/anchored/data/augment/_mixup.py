r"""Mixup: a batch is blended with a permutation of itself.

.. math::  \tilde x_i = \lambda x_i + (1-\lambda)\, x_{\pi(i)}, \qquad
           \ell_i = \lambda\,\ell(f(\tilde x_i), y_i) + (1-\lambda)\,\ell(f(\tilde x_i), y_{\pi(i)}), \qquad
           \lambda \sim \mathrm{Beta}(\alpha, \alpha),

one :math:`\lambda` and one :math:`\pi` per batch, both functions of (seed, epoch, number of the batch).

References:
    Zhang, Cisse, Dauphin and Lopez-Paz, 2018. mixup: Beyond Empirical Risk Minimization. ICLR.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from anchored._checks import check_integer, check_real
from anchored._random import stream

if TYPE_CHECKING:  # batches are augmented, so their file imports this package
    from anchored.data.batches import Batch

__all__ = ["Mixed", "mixup"]


class Mixed(NamedTuple):
    """A batch that was blended with a permutation of itself."""

    inputs: Tensor
    """Blended inputs ``(b, ...)``."""
    labels: Tensor
    """Labels ``(b,)`` of the first ingredient."""
    partner_labels: Tensor
    """Labels ``(b,)`` of the second ingredient."""
    lam: float
    """Share of the first ingredient, in [0, 1]."""

    def soft_labels(self, k: int) -> Tensor:
        """Return the labels as probabilities ``(b, k)``: ``lam`` on the own label, the rest on the partner's.

        Example:
            >>> Mixed(torch.zeros(1, 2), torch.tensor([0]), torch.tensor([2]), 0.75).soft_labels(3)
            tensor([[0.7500, 0.0000, 0.2500]])
        """
        k = check_integer("k", k, low=2)
        soft = torch.zeros(len(self.labels), k, dtype=self.inputs.dtype, device=self.labels.device)
        own, other = soft.new_tensor(self.lam), soft.new_tensor(1 - self.lam)
        soft.scatter_add_(1, self.labels[:, None], own.expand(len(soft), 1))
        return soft.scatter_add_(1, self.partner_labels[:, None], other.expand(len(soft), 1))


def mixup(batch: Batch, *, alpha: float, seed: int, epoch: int, number: int) -> Mixed:
    r"""Blend a batch with a permutation of itself.

    .. math::  \tilde x_i = \lambda x_i + (1-\lambda)\, x_{\pi(i)}, \qquad \lambda \sim \mathrm{Beta}(\alpha, \alpha).

    Args:
        batch: Float inputs and labels.
        alpha: Parameter of the beta distribution. 1 draws the share uniformly in [0, 1]; smaller values keep most
            batches nearly pure.
        seed: Seed of the run.
        epoch: Number of the epoch.
        number: Number of the batch in it.

    Returns:
        The blended inputs with the labels of both ingredients and the share of the first.

    Example:
        >>> from anchored.data import Batch
        >>> batch = Batch(torch.eye(4), torch.arange(4), torch.arange(4))
        >>> mixed = mixup(batch, alpha=1.0, seed=0, epoch=0, number=3)
        >>> blend = mixed.lam * batch.inputs + (1 - mixed.lam) * batch.inputs[mixed.partner_labels]
        >>> torch.allclose(mixed.inputs, blend)
        True
    """
    from scipy.special import betaincinv

    check_real("alpha", alpha, low=0, closed="neither", way_out="leave mixup out for none")
    generator = stream(seed, "mixup", epoch, number)
    u = float(torch.rand((), generator=generator, dtype=torch.float64))
    # By the inverse distribution function: one number whatever alpha is, so the permutation does not depend on it.
    lam = float(betaincinv(alpha, alpha, u))
    partner = torch.randperm(len(batch), generator=generator).to(batch.labels.device)
    return Mixed(torch.lerp(batch.inputs[partner], batch.inputs, lam), batch.labels, batch.labels[partner], lam)
