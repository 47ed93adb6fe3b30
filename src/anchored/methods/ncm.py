"""The nearest class mean (NCM): plain training, then a sample belongs to the class whose mean feature is closest.

The classifier of stage one only serves to learn the features and is thrown away. Logits are minus the squared
distances to the class means of the training features, by default after subtracting the mean of all features and
scaling to length one (``cl2n``, the best transform of the reference).

References:
    Kang, Xie, Rohrbach, Yan, Gordo, Feng and Kalantidis, 2020. Decoupling Representation and Classifier for
    Long-Tailed Recognition. ICLR.
"""

from __future__ import annotations

from dataclasses import dataclass

from anchored.heads import NearestMeanHead
from anchored.heads.nearest_mean import MeanTransform
from anchored.losses import CrossEntropy
from anchored.methods.base import Network, Procedure, Stage, StageData

__all__ = ["NearestClassMean"]


class NearestClassMean(Procedure):
    """NCM: a representation, then the means of its classes."""

    title = "NCM"
    about = "then the nearest class mean"
    first_stage = "ce"
    corrects_imbalance = True

    @dataclass(frozen=True)
    class Options:
        """Settings of the method.

        Attributes:
            transform: What is done to features before distances are taken; see :mod:`anchored.heads.nearest_mean`.
        """

        transform: MeanTransform = "cl2n"

        def __post_init__(self) -> None:
            """Refuse a transform that does not exist."""
            NearestMeanHead(1, 2, transform=self.transform)

    def stages(self) -> tuple[Stage, ...]:
        """Return plain training, then the means, which take no epochs."""
        means = Stage(
            name="class means", loss=CrossEntropy(), trained=False, enter=self.replace_head, fill=self.take_means
        )
        return self.representation(), means

    def replace_head(self, network: Network) -> None:
        """Put in a head with room for the means."""
        d = network.head.in_features
        assert isinstance(d, int)
        network.head = NearestMeanHead(d, self.context.k, transform=self.options.transform)

    def take_means(self, network: Network, data: StageData) -> None:
        """Set the head to the means of the training features, taken in evaluation mode.

        Args:
            network: The network, whose head is replaced.
            data: Gives the training features.
        """
        found = data.features("train")
        assert found is not None, "there is always training data"
        network.head = NearestMeanHead.from_features(*found, self.context.k, transform=self.options.transform)
