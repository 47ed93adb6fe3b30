r"""The nearest class mean: no classifier is trained, a sample belongs to the class whose mean is closest.

.. math::  f_j(\mathbf z) = -\lVert t(\mathbf z) - \boldsymbol\mu_j \rVert^2, \qquad
           \boldsymbol\mu_j = \frac{1}{n_j} \sum_{i : y_i = j} t(\mathbf z_i),

with one of the transforms of the reference, :math:`\mathbf c` being the mean of all training features:

=======  =======================================================================================
cl2n     :math:`t(\mathbf z) = (\mathbf z - \mathbf c) / \lVert \mathbf z - \mathbf c \rVert`
l2n      :math:`t(\mathbf z) = \mathbf z / \lVert \mathbf z \rVert`
un       :math:`t(\mathbf z) = \mathbf z - \mathbf c`, whose distances are those of the features themselves
=======  =======================================================================================

A mean does not depend on the number of its samples, so rare classes are not at a disadvantage. The softmax of the
logits is the posterior of equally frequent round clouds around the means, whose width is the temperature.

References:
    Kang, Xie, Rohrbach, Yan, Gordo, Feng and Kalantidis, 2020. Decoupling Representation and Classifier for
    Long-Tailed Recognition. ICLR.
"""

from __future__ import annotations

from typing import Literal, Self, get_args

import torch
from torch import Tensor, nn

from anchored._checks import check_integer, check_labels
from anchored._errors import InputError
from anchored._names import suggest
from anchored.heads._logits import inner, unit, without_autocast

__all__ = ["MeanTransform", "NearestMeanHead"]

MeanTransform = Literal["cl2n", "l2n", "un"]
"""What is done to features before distances are taken: see the head of this file."""


class NearestMeanHead(nn.Module):
    """Minus the squared distance to the mean of each class: ``f_j = -‖t(z) - mu_j‖²``.

    This is the one head that is not a product with rows, so it has no ``rows()``; the means are its buffer.

    Args:
        in_features: Length d of a feature vector.
        num_classes: Number k of classes.
        transform: ``"cl2n"`` (centred, then length one), ``"l2n"`` (length one) or ``"un"`` (centred).

    Shape:
        features ``(..., d)``; out ``(..., k)``, at most 0.

    Example:
        >>> import torch
        >>> z, y = torch.tensor([[0.0, 1.0], [0.0, 3.0], [4.0, 0.0]]), torch.tensor([0, 0, 1])
        >>> head = NearestMeanHead.from_features(z, y, 2, transform="un")
        >>> head(torch.tensor([[0.0, 2.0]])).abs()            # the mean of class 0; 4 and 2 away from that of class 1
        tensor([[ 0., 20.]])
    """

    centre: Tensor
    means: Tensor

    def __init__(self, in_features: int, num_classes: int, *, transform: MeanTransform = "cl2n") -> None:
        super().__init__()
        self.in_features = check_integer("in_features", in_features, low=1)
        self.num_classes = check_integer("num_classes", num_classes, low=2)
        if transform not in get_args(MeanTransform):
            raise InputError(
                f"unknown transform {transform!r}; {suggest(str(transform), list(get_args(MeanTransform)))}"
            )
        self.transform: MeanTransform = transform
        self.register_buffer("centre", torch.zeros(self.in_features))
        self.register_buffer("means", torch.zeros(self.num_classes, self.in_features))

    @classmethod
    def from_features(
        cls, features: Tensor, labels: Tensor, num_classes: int, *, transform: MeanTransform = "cl2n"
    ) -> Self:
        """Return the head with the class means of given features.

        Args:
            features: Training features ``(n, d)``.
            labels: Their labels ``(n,)``; each class needs at least one.
            num_classes: Number k of classes.
            transform: As in the constructor.

        Raises:
            InputError: If a class has no sample.

        Example:
            >>> features, labels = torch.tensor([[1.0], [3.0], [8.0]]), torch.tensor([0, 0, 1])
            >>> head = NearestMeanHead.from_features(features, labels, 2, transform="un")
            >>> (head.means + head.centre).flatten()
            tensor([2., 8.])
        """
        if features.ndim != 2:
            raise InputError(f"features must have shape (samples, in_features), got {tuple(features.shape)}")
        head = cls(features.shape[1], num_classes, transform=transform).to(features.device, torch.float64)
        labels = check_labels(labels, num_classes).to(features.device)
        counts = labels.bincount(minlength=num_classes)
        if not bool((counts > 0).all()):
            raise InputError(f"class {int((counts == 0).nonzero()[0])} has no sample, so no mean; leave the class out")
        z = features.detach().double()
        if transform != "l2n":
            head.centre.copy_(z.mean(dim=0))
        head.means.index_add_(0, labels, head.moved(z)).div_(counts[:, None])
        return head.to(features.dtype)

    @property
    def out_features(self) -> int:
        """The number of classes, under the name that torch's layers use."""
        return self.num_classes

    def moved(self, features: Tensor) -> Tensor:
        """Return the transformed features ``(..., d)``."""
        x = features - self.centre
        return x if self.transform == "un" else unit(x)

    def forward(self, features: Tensor) -> Tensor:
        """Return minus the squared distances ``(..., k)``, multiplied out so that no ``(n, k, d)`` is ever held."""
        x = self.moved(features)
        with without_autocast(features.device):
            squares = x.square().sum(dim=-1, keepdim=True) + self.means.square().sum(dim=-1)
        # Rounding must not make the distance of a point to itself negative.
        return (2 * inner(x, self.means, normalize=False) - squares).clamp(max=0)

    def extra_repr(self) -> str:
        """Return the sizes and the transform."""
        return f"in_features={self.in_features}, num_classes={self.num_classes}, transform={self.transform!r}"
