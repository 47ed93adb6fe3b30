r"""Tau-normalisation: shorten the long rows of a trained classifier, with nothing left to train.

.. math::  \tilde{\mathbf w}_j = \frac{\mathbf w_j}{\lVert \mathbf w_j \rVert^{\tau}}, \qquad \tilde b_j = 0.

At :math:`\tau = 0` only the bias is dropped, at :math:`\tau = 1` all rows have length one,
beyond that the rare classes get the longer ones. :math:`\tau` is chosen on held-out data; the reference tries
0, 0.1, ..., 2.

References:
    Kang, Xie, Rohrbach, Yan, Gordo, Feng and Kalantidis, 2020. Decoupling Representation and Classifier for
    Long-Tailed Recognition. ICLR.
"""

import torch
from torch import Tensor, nn

from anchored._checks import check_real
from anchored.heads._base import Head
from anchored.heads._logits import inner
from anchored.heads._settings import Flag
from anchored.heads.linear import copy_of

__all__ = ["TauNormHead"]

torch.fx.wrap("inner")  # one node of a traced graph, as in AnchoredHead


class TauNormHead(Head):
    """The rows of a trained head, each divided by a power of its length, without bias: ``w_j / ‖w_j‖^tau``.

    Args:
        head: The trained head, or a :class:`torch.nn.Linear`. It is read and not changed.
        tau: Power of the length, at least 0.

    Shape:
        features ``(..., d)``; out ``(..., k)``.

    Example:
        >>> import torch
        >>> trained = torch.nn.Linear(8, 3)
        >>> torch.allclose(TauNormHead(trained, tau=1.0).rows().norm(dim=1), torch.ones(3))
        True
    """

    scaled_rows: Tensor
    power: Tensor
    saved_normalize: Tensor

    normalize = Flag()
    """Whether the head sees only the direction of a feature vector, as the source does."""

    def __init__(self, head: Head | nn.Linear, *, tau: float = 1.0) -> None:
        source = copy_of(head)
        super().__init__(source.in_features, source.num_classes)
        self.normalize = source.normalize
        checked = check_real("tau", tau, low=0.0)
        rows = source.rows().detach()
        lengths = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
        # A row of zeros has no length to correct; 0 / 0 would turn it into NaN.
        scaled_rows = rows / torch.where(lengths > 0, lengths, 1.0) ** checked
        self.register_buffer("scaled_rows", scaled_rows.contiguous())
        # Beside the rows, because a power that was chosen by data is known to nobody who builds the head again.
        self.register_buffer("power", rows.new_tensor(checked))

    @property
    def tau(self) -> float:
        """The power of the length, as it was chosen and saved."""
        return round(float(self.power), 6)  # what was 1.4 before it was kept in single precision

    def forward(self, features: Tensor) -> Tensor:
        """Return the products of the features with the corrected rows."""
        return inner(features, self.scaled_rows, normalize=self.saved_normalize)

    def rows(self) -> Tensor:
        """Return the corrected rows, ``(k, d)``."""
        return self.scaled_rows

    def extra_repr(self) -> str:
        """Return the sizes and the power."""
        return f"{super().extra_repr()}, tau={self.tau:g}"
