"""Tau-normalisation: plain training, then every row of the classifier is divided by a power of its own length.

Frequent classes end up with long rows, which is how a classifier prefers them. The power ``tau`` says how much of that
is taken back: nothing at 0, all of it at 1, more than all beyond. The bias is dropped. Nothing is trained; ``tau`` is
the value among 0, 0.1, …, 2 with the best mean accuracy per class on held-out data, the smaller one of equals. If
nothing is held out it is 1, the value at which all classes have the same length and so the only one that needs no
choosing; ``tau`` as an option decides it in either case.

References:
    Kang, Xie, Rohrbach, Yan, Gordo, Feng and Kalantidis, 2020. Decoupling Representation and Classifier for
    Long-Tailed Recognition. ICLR.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor

from anchored import metrics
from anchored._checks import check_real
from anchored.heads import Head, TauNormHead
from anchored.losses import CrossEntropy
from anchored.methods.base import Network, Procedure, Stage, StageData

__all__ = ["TauNormalization", "best_power"]

_POWERS = tuple(step / 10 for step in range(21))
_WITHOUT_CHOICE = 1.0


class TauNormalization(Procedure):
    """Tau-norm: a classifier, then its rows at other lengths."""

    title = "τ-norm"
    aliases = ("tau", "taunorm", "tau normalisation")
    about = "then rows divided by a power of their length"
    first_stage = "ce"
    goes_with = ("mixup",)
    refused: ClassVar[Mapping[str, str]] = {"pal": "anchors all have length one, so there is nothing to normalise"}
    corrects_imbalance = True

    @dataclass(frozen=True)
    class Options:
        """Settings of the method.

        Attributes:
            tau: The power of the length, at least 0; ``"auto"`` chooses it on held-out data.
        """

        tau: float | Literal["auto"] = "auto"

        def __post_init__(self) -> None:
            """Refuse a power below zero."""
            if self.tau != "auto":
                check_real(
                    "method.options.tau", self.tau, low=0.0, way_out="0 changes nothing, 1 evens all lengths out"
                )

    def stages(self) -> tuple[Stage, ...]:
        """Return plain training, then the change of lengths, which takes no epochs."""
        lengths = Stage(name="row lengths", loss=CrossEntropy(), trained=False, enter=self.drop_bias, fill=self.rescale)
        return self.representation(), lengths

    def drop_bias(self, network: Network) -> None:
        """Drop the bias and keep the rows at their own lengths."""
        assert isinstance(network.head, Head)
        network.head = TauNormHead(network.head, tau=0.0)

    def rescale(self, network: Network, data: StageData) -> None:
        """Bring the rows to the lengths that the option or the held-out data ask for.

        Args:
            network: The network, whose head is replaced.
            data: Gives the held-out features.
        """
        head = network.head
        assert isinstance(head, TauNormHead)
        tau = self.options.tau
        if tau == "auto":
            held_out = data.features("held-out")
            tau = _WITHOUT_CHOICE if held_out is None else best_power(head, *held_out)
        network.head = TauNormHead(head, tau=tau)


def best_power(head: Head, features: Tensor, labels: Tensor) -> float:
    """Find which of 0, 0.1, …, 2 gives the best mean accuracy over the classes of ``labels``; the smaller of equals.

    Args:
        head: The trained head.
        features: Features ``(n, d)`` of data that was not trained on.
        labels: Labels ``(n,)`` of the same data.

    Example:
        >>> import torch
        >>> from anchored.heads import LinearHead
        >>> head = LinearHead.from_rows(torch.tensor([[9.0, 0.0], [0.0, 1.0]]), bias=False)
        >>> z, y = torch.tensor([[2.0, 1.0], [1.0, 2.0]]), torch.tensor([0, 1])
        >>> best_power(head, z, y)          # 9 ** (1 - tau) < 2 from tau = 0.7 on
        0.7
    """
    rows = head.rows()
    features = features.to(rows.device, rows.dtype)

    def fairness(tau: float) -> float:
        logits = TauNormHead(head, tau=tau)(features).cpu()
        by_class = metrics.per_class_accuracy(logits, labels, head.num_classes)
        present = [accuracy for accuracy in by_class if accuracy is not None]
        return sum(present) / len(present)

    return max(_POWERS, key=lambda tau: (fairness(tau), -tau))
