r"""TADE: three experts on one trunk, each trained for another prior of the classes, and their logits averaged.

.. math::  \ell = \ell_{\mathrm{CE}}(\mathbf v_1, y)
                + \ell_{\mathrm{CE}}(\mathbf v_2 + \log\boldsymbol\pi, y)
                + \ell_{\mathrm{CE}}(\mathbf v_3 + \log\boldsymbol\pi - \tau\log\bar{\boldsymbol\pi}, y),
           \qquad \pi_j = n_j / N,

where :math:`\bar{\boldsymbol\pi}` is the prior with its values dealt out in reversed order: the most frequent class
gets that of the rarest. The first expert is good if test data is as unbalanced as training data, the second if it is
balanced, the third if it is unbalanced the other way round. With equal priors all three losses are cross entropy.

The experts share the trunk up to their last two stages; each has cosine logits of scale 30, or with ``+pal`` (ours, not
the paper's) anchored ones. At test time the logits are averaged with equal weights, unless :func:`aggregate` has
found others from unlabelled test data: those under which two views of the same input get the most similar
probabilities,

.. math::  \max_{\mathbf a}\; \frac1n \sum_i \cos(\hat{\mathbf p}(\mathbf x_i'), \hat{\mathbf p}(\mathbf x_i'')),
           \qquad \hat{\mathbf p} = \operatorname{softmax}\Bigl(\sum_e a_e \mathbf v_e\Bigr), \quad
           \mathbf a = \operatorname{softmax}(\mathbf u) .

An expert is more stable on the classes it was trained to favour, so stability tells which prior the test data has.

References:
    Zhang, Hooi, Hong and Feng, 2022. Self-Supervised Aggregation of Diverse Experts for Test-Agnostic Long-Tailed
    Recognition. NeurIPS (first called TADE, later SADE).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from anchored._checks import check_integer, check_real
from anchored._errors import InputError
from anchored._random import seed_of
from anchored.backbones import Fork
from anchored.data import Batches, shuffled
from anchored.heads import Head
from anchored.methods.base import Network, Outputs, Procedure, Stage
from anchored.methods.experts import ExpertHead, ExpertNetwork

__all__ = ["DiverseExperts", "ExpertLoss", "aggregate", "reversed_prior"]

EXPERTS = 3


class ExpertLoss(nn.Module):
    r"""The sum of the three experts' losses: cross entropy of logits shifted by the expert's log prior.

    .. math::  \ell = \sum_{e=1}^{3} \ell_{\mathrm{CE}}(\mathbf v_e + \mathbf s_e, y), \qquad
               \mathbf s_1 = 0, \quad \mathbf s_2 = \log\boldsymbol\pi, \quad
               \mathbf s_3 = \log\boldsymbol\pi - \tau\log\bar{\boldsymbol\pi} .

    Args:
        counts: Training samples of each class, ``(k,)``, at least one.
        tau: How strongly the third expert favours rare classes; 0 makes it the second.

    Example:
        >>> from anchored.methods.experts import ExpertLogits
        >>> zeros = ExpertLogits(torch.zeros(1, 2), torch.zeros(1, 3, 2))
        >>> value = ExpertLoss(torch.tensor([30, 10])).pointwise(zeros, torch.tensor([1]))
        >>> value.neg().exp() * 2 * 4 * 28              # p = 1/2, 1/4 and 1/28
        tensor([1.0000])
    """

    shifts: Tensor
    """What is added to each expert's logits, ``(3, k)``."""

    def __init__(self, counts: Tensor, *, tau: float = 2.0) -> None:
        super().__init__()
        prior = counts.double() / counts.sum()
        log_prior = prior.log()
        inverse = log_prior - tau * reversed_prior(prior).log()
        shifts = torch.stack([torch.zeros_like(log_prior), log_prior, inverse])
        self.register_buffer("shifts", shifts.to(torch.get_default_dtype()), persistent=False)

    def pointwise(self, outputs: Outputs, labels: Tensor, /) -> Tensor:
        """Compute the sum of the experts' losses.

        Args:
            outputs: The network's answer in training, an :class:`ExpertLogits`.
            labels: Labels ``(n,)``.

        Returns:
            Values ``(n,)``.
        """
        shifted = outputs.experts + self.shifts.to(outputs.experts.dtype)
        return F.cross_entropy(shifted.transpose(1, 2), labels[:, None].expand(-1, EXPERTS), reduction="none").sum(
            dim=1
        )


def reversed_prior(prior: Tensor) -> Tensor:
    """Deal out the values ``(k,)`` of ``prior`` in reversed order: the largest to the class with the smallest.

    Classes with equal values are taken in the order of their labels.

    Example:
        >>> reversed_prior(torch.tensor([0.2, 0.7, 0.1]))
        tensor([0.2000, 0.1000, 0.7000])
    """
    ascending, classes = prior.sort(stable=True)
    reversed_values = torch.empty_like(prior)
    reversed_values[classes] = ascending.flip(0)
    return reversed_values


class DiverseExperts(Procedure):
    """TADE: one stage, three experts."""

    title = "TADE"
    about = "three experts with three priors"
    head: ClassVar[Mapping[str, object]] = {"head": "cosine", "normalize": True, "scale": 30.0}
    goes_with = ("pal",)
    corrects_imbalance = True

    @dataclass(frozen=True)
    class Options:
        """Settings of the method."""

        tau: float = 2.0
        """How strongly the third expert favours rare classes."""

        def __post_init__(self) -> None:
            check_real("tau", self.tau, low=0, closed="left")

    def network(self) -> ExpertNetwork:
        """Build a shared trunk, and the last two stages and a head for every expert."""
        context = self.context
        others = [context.backbone(f"expert {number}") for number in range(2, EXPERTS + 1)]
        fork = Fork([context.backbone(), *others], "early")
        return ExpertNetwork(fork, ExpertHead(self._heads(fork)))

    def stages(self) -> tuple[Stage, ...]:
        """Return the only stage: all experts are trained at once."""
        loss = ExpertLoss(self.context.counts, tau=self.options.tau)
        return (replace(self.representation(), loss=loss),)

    def _heads(self, fork: Fork) -> list[Head]:
        def head(stream_name: str) -> Head:
            return self.context.head(fork.feature_dim, signed_features=fork.signed_features, stream_name=stream_name)

        first = head("head")
        if self.method.anchored:  # the same anchors for all: their features are apart, and anchors can be costly
            return [first, *(copy.deepcopy(first) for _ in range(1, EXPERTS))]
        return [first, *(head(f"head of expert {number}") for number in range(2, EXPERTS + 1))]


def aggregate(
    network: Network,
    batches: Batches,
    *,
    epochs: int = 5,
    learning_rate: float = 0.1,
    momentum: float = 0.9,
    weight_decay: float = 5e-4,
    least: float = 0.05,
    seed: int = 0,
) -> Tensor:
    r"""Weight the experts for test data of an unknown class distribution, by its inputs alone.

    .. math::  \max_{\mathbf a}\; \frac1n \sum_i \cos(\hat{\mathbf p}(\mathbf x_i'), \hat{\mathbf p}(\mathbf x_i'')),
               \qquad \hat{\mathbf p} = \operatorname{softmax}\Bigl(\sum_e a_e \mathbf v_e\Bigr)

    The weights that are found replace those in ``network``; nothing else changes. Labels are not looked at. The same
    call gives the same weights.

    Args:
        network: A network that was trained by TADE, for instance the ``classifier`` of a trained model.
        batches: The test data, with the augmentation that makes two views of each input.
        epochs: How often to go through it, at most.
        learning_rate: Learning rate of stochastic gradient descent on the three scores.
        momentum: Nesterov momentum of that descent.
        weight_decay: Weight decay of that descent.
        least: End after an epoch in which the weight of an expert fell below this.
        seed: Seed of the views and of their order.

    Returns:
        The weights ``(3,)``, with sum one.

    Example:
        >>> from anchored.data import HorizontalFlip, load_digits
        >>> from anchored.methods import BuildContext, parse
        >>> from anchored import backbones
        >>> context = BuildContext(
        ...     method=parse("tade"),
        ...     backbone=lambda name="init": backbones.get("tiny", (1, 8, 8)),
        ...     counts=torch.arange(10, 0, -1),
        ... )
        >>> network = DiverseExperts(context).network()
        >>> batches = Batches(load_digits().test, batch_size=64, augment=HorizontalFlip())
        >>> weights = aggregate(network, batches, epochs=1)
        >>> torch.equal(weights, network.head.weights), round(float(weights.sum()), 6)
        (True, 1.0)
    """
    head = network.head
    if not isinstance(head, ExpertHead):
        raise InputError(
            f"aggregation weights the experts of a network trained by tade, got {type(network).__name__}; "
            f"train with --method tade"
        )
    if batches.augment is None:
        raise InputError("aggregation compares two views of each input, and batches has no augmentation; give it one")
    epochs = check_integer("epochs", epochs, low=1)
    scores = nn.Parameter(torch.full_like(head.weights, 1 / EXPERTS))
    optimizer = torch.optim.SGD(
        [scores], lr=learning_rate, momentum=momentum, weight_decay=weight_decay, nesterov=momentum > 0
    )
    was_training = network.training
    network.eval()
    for epoch in range(epochs):
        order = shuffled(len(batches.dataset), seed=seed, epoch=epoch)
        views = [batches.epoch(order, seed=seed_of(seed, name), epoch=epoch) for name in ("view 1", "view 2")]
        for pair in zip(*views, strict=True):
            with torch.no_grad():
                experts = [head.of_each(network.features(view.inputs)) for view in pair]
            optimizer.zero_grad()
            loss = -_similarity(experts, scores.softmax(dim=0))
            torch.autograd.backward(loss)
            optimizer.step()
        if float(scores.detach().softmax(dim=0).min()) < least:
            break
    network.train(was_training)
    head.weights.copy_(scores.detach().softmax(dim=0))
    return head.weights.clone()


def _similarity(experts: Sequence[Tensor], weights: Tensor) -> Tensor:
    """The mean cosine of the probabilities of two views, from the experts' logits ``(n, 3, k)`` of each."""
    first, second = ((weights[:, None] * logits).sum(dim=1).softmax(dim=1) for logits in experts)
    return F.cosine_similarity(first, second, dim=1).mean()
