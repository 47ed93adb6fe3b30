"""Learnable weight scaling (LWS): learn the features on the data as it is, then only how loud each class may speak.

Stage one is plain training, with mixup or anchors if asked for. In stage two everything that was learnt is frozen,
the classifier included, and one factor per class on its logits is trained with cross entropy on balanced batches: what
imbalance does to the lengths of the rows is undone, and their directions stay. The running statistics of BatchNorm
follow the balanced batches. The reference trains the factors for 5 epochs; the comparisons with mixup take 10. Its
learning rate is 0.2 in both stages: if stage one has a much smaller one, give ``second.lr``, or the factors hardly
move.

References:
    Kang, Xie, Rohrbach, Yan, Gordo, Feng and Kalantidis, 2020. Decoupling Representation and Classifier for
    Long-Tailed Recognition. ICLR.
    Zhong, Cui, Liu and Jia, 2021. Improving Calibration for Long-Tailed Recognition. CVPR (with mixup).
"""

from __future__ import annotations

from anchored.heads import Head, ScaledHead
from anchored.losses import CrossEntropy
from anchored.methods.base import Network, Procedure, Stage, freeze_

__all__ = ["LearnableScaling"]


class LearnableScaling(Procedure):
    """LWS: a representation with its classifier, then one factor per class."""

    title = "LWS"
    about = "then one learned factor per class on balanced batches"
    first_stage = "ce"
    corrects_imbalance = True
    second_epochs = 10

    def stages(self) -> tuple[Stage, ...]:
        """Return plain training, then training of the factors alone."""
        return self.representation(), self.factors()

    def factors(self) -> Stage:
        """Return the second stage."""
        return Stage(
            name="factors",
            loss=CrossEntropy(),
            settings="second",
            sampling="balanced",
            enter=self.scale_head,
            begin_epoch=lambda network, done: freeze_(network, statistics=True),
        )

    def scale_head(self, network: Network) -> None:
        """Keep the classifier, and put a factor of one on every logit."""
        assert isinstance(network.head, Head)
        network.head = ScaledHead(network.head, train_head=False)
        freeze_(network, statistics=True)
