r"""BBN: two branches on one trunk, the first on the data as it is, the second on it with the classes reversed.

.. math::  \mathbf f = W\, 2\,[\alpha\, \mathbf z_c,\; (1-\alpha)\, \mathbf z_r] + \mathbf b, \qquad
           \ell = \alpha\, \ell_{\mathrm{CE}}(\mathbf f, y_c) + (1-\alpha)\, \ell_{\mathrm{CE}}(\mathbf f, y_r), \qquad
           \alpha = 1 - \left(\frac{t}{T}\right)^2 .

Each step takes two batches. One is drawn from the samples as they are and passes the conventional branch
(:math:`\mathbf z_c, y_c`); in the other a class is as likely as it is rare, and it passes the re-balancing branch
(:math:`\mathbf z_r, y_r`). Over the epochs t of T the weight moves from the first to the second. At test time one input
passes both branches and :math:`\alpha = 1/2`, so the classifier sees :math:`[\mathbf z_c, \mathbf z_r]`.

With anchors (ours, not the paper's) each class has the same prototype in both branches: :math:`[\mathbf w_j,
\mathbf w_j]/\sqrt2`, and the angles between classes are those of the :math:`\mathbf w_j`. Prototypes made for both
at once could leave a class to one branch alone, which the other could then not correct.

References:
    Zhou, Cui, Wei and Chen, 2020. BBN: Bilateral-Branch Network with Cumulative Learning for Long-Tailed Visual
    Recognition. CVPR.
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor, nn

from anchored.backbones import Fork
from anchored.heads import AnchoredHead
from anchored.methods.base import Network, Outputs, Procedure, Stage
from anchored.schedules import Parabolic

__all__ = ["BilateralBranches", "BilateralNetwork"]

_SHARE = Parabolic(epochs=1)
"""The weight of the conventional branch, by the part of training that is done."""


class BilateralNetwork(Network):
    """A trunk with a conventional and a re-balancing branch, and one head on the features of both.

    Args:
        fork: The trunk and its two branches, the conventional one first.
        head: Maps features of twice a branch's length to logits ``(n, k)``.

    Shape:
        inputs ``(n, *input_shape)``, in training ``(2n, *input_shape)``, the conventional half first; out ``(n, k)``.

    Example:
        >>> from anchored import LinearHead, backbones
        >>> two = [backbones.get("tiny", (8,), generator=torch.Generator().manual_seed(i)) for i in range(2)]
        >>> network = BilateralNetwork(Fork(two, "last"), LinearHead(64, 3))
        >>> network(torch.zeros(4, 8)).shape, network.eval()(torch.zeros(4, 8)).shape
        (torch.Size([2, 3]), torch.Size([4, 3]))
    """

    alpha: Tensor
    """The weight of the conventional branch in training, ``()``."""

    def __init__(self, fork: Fork, head: nn.Module) -> None:
        super().__init__()
        self.input_shape = fork.input_shape
        self.fork = fork
        self.head = head
        self.register_buffer("alpha", torch.tensor(0.5))

    def features(self, inputs: Tensor) -> Tensor:
        """Compute the features ``(n, 2d)``: those of the conventional branch, then those of the re-balancing one."""
        return torch.cat(self.fork(inputs), dim=1)

    def forward(self, inputs: Tensor) -> Outputs:
        """Compute logits ``(n, k)``; in training one row for each pair of inputs, see the class."""
        if not self.training:
            return super().forward(inputs)
        # One half after the other through the trunk: each keeps its own batch statistics.
        conventional, rebalancing = (
            branch(self.fork.trunk(half)) for branch, half in zip(self.fork.branches, inputs.chunk(2), strict=True)
        )
        return self.head(self.mixed(conventional, rebalancing))

    def mixed(self, conventional: Tensor, rebalancing: Tensor) -> Tensor:
        r"""Mix the features of the two branches as the head sees them in training.

        Args:
            conventional: Features ``(n, d)`` of the conventional branch, :math:`\mathbf z_c`.
            rebalancing: Features ``(n, d)`` of the re-balancing branch, :math:`\mathbf z_r`.

        Returns:
            :math:`2\,[\alpha\, \mathbf z_c,\; (1-\alpha)\, \mathbf z_r]`, ``(n, 2d)``.

        Example:
            >>> from anchored import LinearHead, backbones
            >>> fork = Fork([backbones.get("tiny", (8,)) for _ in range(2)], "last")
            >>> network = BilateralNetwork(fork, LinearHead(64, 3))
            >>> _ = network.alpha.fill_(0.75)
            >>> network.mixed(torch.ones(1, 2), torch.ones(1, 2))
            tensor([[1.5000, 1.5000, 0.5000, 0.5000]])
        """
        return 2 * torch.cat([self.alpha * conventional, (1 - self.alpha) * rebalancing], dim=1)


class BilateralBranches(Procedure):
    """BBN: one stage, two batches a step."""

    title = "BBN"
    about = "two branches, one on reversed batches, mixed over time"
    goes_with = ("pal",)
    corrects_imbalance = True

    def network(self) -> BilateralNetwork:
        """Build two branches that share all but the last block, and a head on both."""
        context = self.context
        fork = Fork([context.backbone(), context.backbone("re-balancing branch")], "last")
        d, signed = fork.feature_dim, fork.signed_features
        head = self._anchors(d, signed) if self.method.anchored else context.head(2 * d, signed_features=signed)
        return BilateralNetwork(fork, head)

    def stages(self) -> tuple[Stage, ...]:
        """Return the only stage, in which the weight moves from one branch to the other."""
        return (replace(self.representation(), companion="reversed", share=_SHARE, begin_epoch=_set_alpha),)

    def _anchors(self, d: int, signed_features: bool) -> AnchoredHead:
        """The anchors of one branch, repeated for the other."""
        one = self.context.head(d, signed_features=signed_features)
        assert isinstance(one, AnchoredHead)
        both = torch.cat([one.prototypes, one.prototypes], dim=1) / math.sqrt(2)
        return AnchoredHead(2 * d, self.context.k, normalize=one.normalize, scale=one.scale, prototypes=both)


def _set_alpha(network: Network, done: float) -> None:
    assert isinstance(network, BilateralNetwork)
    network.alpha.fill_(_SHARE(done))
