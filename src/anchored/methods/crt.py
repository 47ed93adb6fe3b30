"""Classifier re-training (cRT): learn the features on the data as it is, then a fresh classifier on balanced batches.

Stage one is plain training, with mixup or anchors if asked for. In stage two the backbone is frozen, except that the
running statistics of its BatchNorm follow the balanced batches, and a new linear classifier, drawn afresh,
is trained with cross entropy on batches in which every class is as frequent as any other.

References:
    Kang, Xie, Rohrbach, Yan, Gordo, Feng and Kalantidis, 2020. Decoupling Representation and Classifier for
    Long-Tailed Recognition. ICLR.
"""

from __future__ import annotations

from anchored.heads import LinearHead
from anchored.losses import CrossEntropy
from anchored.methods.base import Network, Procedure, Stage, freeze_

__all__ = ["ClassifierRetraining"]


class ClassifierRetraining(Procedure):
    """cRT: a representation, then a fresh linear classifier."""

    title = "cRT"
    about = "then a fresh classifier on balanced batches"
    first_stage = "ce"
    corrects_imbalance = True
    second_epochs = 10

    def stages(self) -> tuple[Stage, ...]:
        """Return plain training, then training of the classifier alone."""
        return self.representation(), self.classifier()

    def classifier(self) -> Stage:
        """Return the second stage."""
        return Stage(
            name="classifier",
            loss=CrossEntropy(),
            settings="second",
            sampling="balanced",
            enter=self.replace_head,
            begin_epoch=lambda network, done: freeze_(network, statistics=True),
        )

    def replace_head(self, network: Network) -> None:
        """Put in a fresh classifier, and freeze the features."""
        d = network.head.in_features
        assert isinstance(d, int)
        network.head = LinearHead(d, self.context.k, generator=self.context.generator("second head"))
        freeze_(network, statistics=True)
