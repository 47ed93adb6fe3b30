r"""PC softmax: plain training, then the log prior of training is taken off the logits, and that of testing put on.

.. math::  f_j(\mathbf z) \;\leftarrow\; f_j(\mathbf z) - \log \pi_j + \log \pi^{\text{test}}_j .

This is Bayes' rule for a change of class frequencies. The model that training gives is meant for equally frequent
classes, whose second term is the same for all and left out;
:meth:`TrainedModel.for_prior <anchored.training.TrainedModel.for_prior>` adds it for other frequencies.

References:
    Hong, Han, Choi, Seo, Kim and Chang, 2021. Disentangling Label Distribution for Long-Tailed Visual Recognition.
    CVPR.
"""

from __future__ import annotations

from dataclasses import dataclass

from anchored.methods.post_hoc import PostHocAdjustment

__all__ = ["PriorCompensation"]


class PriorCompensation(PostHocAdjustment):
    """PC softmax: post-hoc adjustment that takes the log prior off exactly once."""

    title = "PC Softmax"
    aliases = ("pcsoftmax", "pc softmax")
    about = "then the log prior taken off the logits"

    @dataclass(frozen=True)
    class Options:
        """Settings of the method; it has none, because Bayes' rule decides."""

    @property
    def tau(self) -> float:
        """The factor on the log prior; always 1."""
        return 1.0
