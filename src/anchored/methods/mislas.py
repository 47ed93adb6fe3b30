"""MiSLAS: mixup for the features, then label-aware smoothing and scaled rows for a classifier that is honest.

Stage one is cross entropy with mixup, on a linear classifier or on anchors. Stage two freezes the backbone and goes on
with the same classifier on balanced batches: its rows and bias at a small learning rate, one factor per class on
its logits at the full one. The loss smooths the labels of frequent classes more than those of rare ones,
because it is the former that grow overconfident. After anchors the classifier begins at their rows with a bias of zero.
Optionally the running statistics of BatchNorm follow the balanced batches ("shifted" BatchNorm).

References:
    Zhong, Cui, Liu and Jia, 2021. Improving Calibration for Long-Tailed Recognition. CVPR.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from torch import Tensor

from anchored._checks import check_real
from anchored._errors import InputError
from anchored._names import benchmark
from anchored.heads import Head, LinearHead, ScaledHead
from anchored.losses import LabelAwareSmoothing, closest_ratio
from anchored.methods.base import Group, Network, Procedure, Stage, freeze_

__all__ = ["PUBLISHED", "MiSLAS"]


class MiSLAS(Procedure):
    """Mixup, then label-aware smoothing with learnable weight scaling."""

    title = "MiSLAS"
    about = "then label-aware smoothing and scaled rows on balanced batches"
    first_stage = "ce+mixup"
    goes_with = ("pal",)
    refused: ClassVar[Mapping[str, str]] = {"mixup": "its first stage has mixup already"}
    corrects_imbalance = True
    second_epochs = 10

    @dataclass(frozen=True)
    class Options:
        """Settings of the second stage.

        Attributes:
            smooth_head: Smoothing of the most frequent class, in [0, 1).
            smooth_tail: Smoothing of the rarest class, in [0, smooth_head].
            shift_bn: Whether the running statistics of BatchNorm follow the balanced batches.
            lr_factor: The learning rate of rows and bias, relative to that of the factors.
        """

        smooth_head: float = 0.3
        smooth_tail: float = 0.0
        shift_bn: bool = True
        lr_factor: float = 0.2

        def __post_init__(self) -> None:
            """Refuse values that the second stage cannot use."""
            LabelAwareSmoothing([2, 1], smooth_head=self.smooth_head, smooth_tail=self.smooth_tail)
            check_real("method.options.lr_factor", self.lr_factor, low=0.0, way_out="0 trains the factors alone")
            if not isinstance(self.shift_bn, bool):
                raise InputError(f"method.options.shift_bn must be true or false, got {self.shift_bn!r}")

    @classmethod
    def published_options(cls, source: str, counts: Tensor) -> dict[str, Any]:
        """Return the reference's options for this data, at the imbalance ratio closest to that of ``counts``.

        Args:
            source: Name or path of the data.
            counts: Training samples per class, ``(k,)``.

        Returns:
            Names of options and their values.

        Example:
            >>> MiSLAS.published_options("ImageNet_LT_train.txt", Tensor([1280, 5]))["lr_factor"]
            0.05
        """
        by_ratio = PUBLISHED.get(benchmark(source))
        return {} if by_ratio is None else asdict(closest_ratio(by_ratio, counts.tolist()))

    def stages(self) -> tuple[Stage, ...]:
        """Return mixup training, then training of the classifier."""
        return self.representation(), self.classifier()

    def classifier(self) -> Stage:
        """Return the second stage."""
        options = self.options
        return Stage(
            name="classifier",
            loss=LabelAwareSmoothing(
                self.context.counts, smooth_head=options.smooth_head, smooth_tail=options.smooth_tail
            ),
            settings="second",
            sampling="balanced",
            enter=self.scale_head,
            begin_epoch=lambda network, done: freeze_(network, statistics=options.shift_bn),
            groups=self.two_paces,
        )

    def scale_head(self, network: Network) -> None:
        """Turn the first classifier, or the anchors, into a trained one with a factor of one on every logit."""
        first = network.head
        assert isinstance(first, Head)
        offset = first.offset()
        rows = LinearHead.from_rows(first.rows(), bias=True if offset is None else offset)
        network.head = ScaledHead(rows, train_head=True)
        freeze_(network, statistics=self.options.shift_bn)

    def two_paces(self, network: Network) -> list[Group]:
        """Return the factors at the full learning rate, and rows and bias at a smaller one."""
        head = network.head
        assert isinstance(head, ScaledHead)
        return [Group([head.factors]), Group(list(head.head.parameters()), self.options.lr_factor)]


PUBLISHED: Mapping[str, Mapping[int, MiSLAS.Options]] = {
    "cifar10": {
        100: MiSLAS.Options(smooth_head=0.3, smooth_tail=0.0, shift_bn=False, lr_factor=0.5),
        50: MiSLAS.Options(smooth_head=0.2, smooth_tail=0.0, shift_bn=False, lr_factor=0.2),
        10: MiSLAS.Options(smooth_head=0.1, smooth_tail=0.0, shift_bn=False, lr_factor=0.2),
    },
    "cifar100": {
        100: MiSLAS.Options(smooth_head=0.4, smooth_tail=0.1, shift_bn=True, lr_factor=0.2),
        50: MiSLAS.Options(smooth_head=0.3, smooth_tail=0.0, shift_bn=True, lr_factor=0.1),
        10: MiSLAS.Options(smooth_head=0.2, smooth_tail=0.0, shift_bn=True, lr_factor=0.1),
    },
    "imagenet-lt": {256: MiSLAS.Options(smooth_head=0.3, smooth_tail=0.0, shift_bn=True, lr_factor=0.05)},
}
"""The settings of the reference, by data set and ratio; its learning rate in stage two is that of stage one."""
