r"""Post-hoc logit adjustment: plain training, then a multiple of the log prior is taken off the logits.

.. math::  f_j(\mathbf z) \;\leftarrow\; f_j(\mathbf z) - \tau \log \pi_j, \qquad \pi_j = n_j / N .

With :math:`\tau = 1` the predictions are those that Bayes' rule gives for equally frequent classes, which is PC
softmax; larger values push further towards the rare classes. The loss with the same name adds the same term in
training instead.

References:
    Menon, Jayasumana, Rawat, Jain, Veit and Kumar, 2021. Long-Tail Learning via Logit Adjustment. ICLR.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from anchored._checks import check_real
from anchored.heads import Head, ShiftedHead
from anchored.losses import CrossEntropy, LogitAdjusted
from anchored.methods.base import Network, Procedure, Stage

__all__ = ["PostHocAdjustment"]


class PostHocAdjustment(Procedure):
    """A classifier, then its logits without the class frequencies of the training data."""

    title = "Logit adjusted post hoc"
    aliases: ClassVar[tuple[str, ...]] = ("la-post-hoc",)
    about = "then the scaled log prior taken off the logits"
    first_stage = "ce"
    corrects_imbalance = True

    @dataclass(frozen=True)
    class Options:
        """Settings of the method.

        Attributes:
            tau: How much of the prior is taken off; 1 aims at balanced accuracy, 0 changes nothing.
        """

        tau: float = 1.0

        def __post_init__(self) -> None:
            """Refuse a multiple that would add the prior once more."""
            check_real("method.options.tau", self.tau, low=0.0, way_out="1 takes the prior off exactly once")

    @property
    def tau(self) -> float:
        """Factor on the log prior that is taken off."""
        return float(self.options.tau)

    def stages(self) -> tuple[Stage, ...]:
        """Return plain training, then the correction, which takes no epochs."""
        return self.representation(), Stage(name="prior", loss=CrossEntropy(), trained=False, enter=self.take_prior_off)

    def take_prior_off(self, network: Network) -> None:
        r"""Subtract :math:`\tau \log \pi_j`, from the training counts, from the logits of the head."""
        assert isinstance(network.head, Head)
        log_prior = LogitAdjusted(self.context.counts).log_prior
        network.head = ShiftedHead(network.head, -self.tau * log_prior)
