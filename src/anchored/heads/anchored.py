r"""The anchored head: prototypes that never move, so only the features are trained.

.. math::  f_j(\mathbf z) = s\, \mathbf w_j^\top \mathbf z \quad\text{(PAL)}, \qquad
           f_j(\mathbf z) = s\, \mathbf w_j^\top \frac{\mathbf z}{\lVert \mathbf z \rVert} \quad\text{(FNPAL)},
           \qquad \lVert \mathbf w_j \rVert = 1.

There is no bias: a trained one would take up the class priors that the anchors are there to ignore, and the logits
would no longer sum to zero over the classes. With normalised features the logits lie in :math:`[-s, s]`, so the
softmax never exceeds :math:`1 / (1 + (k-1) e^{-sk/(k-1)})` on a simplex; that bound is what limits the harm of a wrong
label, and why probabilities need a temperature afterwards.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from anchored._checks import check_real
from anchored._errors import InputError
from anchored.heads._base import Head
from anchored.heads._logits import inner
from anchored.prototypes import make

__all__ = ["AnchoredHead"]


class AnchoredHead(Head):
    r"""Logits of features and fixed unit prototypes.

    .. math::  f_j(\mathbf z) = s\, \mathbf w_j^\top \mathbf z \quad\text{(PAL)}, \qquad
               f_j(\mathbf z) = s\, \mathbf w_j^\top \frac{\mathbf z}{\lVert \mathbf z \rVert} \quad\text{(FNPAL)},
               \qquad \lVert \mathbf w_j \rVert = 1.

    The prototypes are a buffer: no optimiser, weight decay or gradient reaches them, and they are saved with the
    model. The buffer is not called ``weight``, so that no loader mistakes it for that of a linear layer.

    Args:
        in_features: Length d of a feature vector.
        num_classes: Number k of classes; k > d + 1 is allowed.
        normalize: Use the direction of the features only (FNPAL) instead of the features themselves (PAL).
        scale: Factor s > 0 on the logits. It may be assigned later, as ``head.scale = 0.5``.
        features: ``"nonnegative"`` for features that come out of a ReLU: the prototypes are then such that these
            features can reach them; ``"signed"`` for all others. Only used if the prototypes are made here.
        prototypes: Your own unit rows ``(k, d)``; they are copied, and keep their dtype and device.
        generator: Source of the orientation of the prototypes; None gives the same one every time.

    Shape:
        features ``(..., d)``; out ``(..., k)``. Half-precision inputs are multiplied as float32; the result has the
        dtype that torch promotes features and prototypes to.

    Example:
        >>> import torch
        >>> head = AnchoredHead(8, 3, scale=5.0)
        >>> logits = head(torch.randn(4, 8, generator=torch.Generator().manual_seed(0)))
        >>> logits.shape, bool(logits.sum(dim=1).abs().max() < 1e-5), list(head.parameters())
        (torch.Size([4, 3]), True, [])
    """

    prototypes: Tensor

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        normalize: bool = True,
        scale: float = 1.0,
        features: Literal["signed", "nonnegative"] = "signed",
        prototypes: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_features, num_classes)
        self.normalize = bool(normalize)
        self.scale = check_real("scale", scale, low=0.0, closed="neither")
        if prototypes is None:
            rows = make(self.num_classes, self.in_features, features=features, generator=generator)
        else:
            rows = _own_prototypes(prototypes, self.num_classes, self.in_features)
        # Packed, and a copy: safetensors refuses strided tensors, and the user may go on changing theirs.
        self.register_buffer("prototypes", rows.detach().clone(memory_format=torch.contiguous_format))

    def forward(self, features: Tensor) -> Tensor:
        """Return ``scale`` times the products, or cosines, of the features with the prototypes."""
        return self.scale * inner(features, self.prototypes, normalize=self.normalize)

    def rows(self) -> Tensor:
        """Return the prototypes times the scale, ``(k, d)``."""
        return self.scale * self.prototypes

    def extra_repr(self) -> str:
        """Return the sizes, ``normalize`` and the scale."""
        return f"{super().extra_repr()}, normalize={self.normalize}, scale={self.scale:g}"


def _own_prototypes(prototypes: object, k: int, d: int) -> Tensor:
    """Return the user's prototypes; refuse them unless they are ``(k, d)`` with rows of length one."""
    if not isinstance(prototypes, Tensor) or not prototypes.is_floating_point():
        kind = prototypes.dtype if isinstance(prototypes, Tensor) else type(prototypes).__name__
        raise InputError(f"prototypes must be a floating-point tensor, got {kind}; use torch.as_tensor(...).float()")
    if prototypes.shape != (k, d):
        raise InputError(
            f"prototypes must have one row per class and one column per feature, (num_classes, in_features) = "
            f"({k}, {d}), got {tuple(prototypes.shape)}"
        )
    lengths = torch.linalg.vector_norm(prototypes.detach().to(torch.float64), dim=1)
    # A row that was normalised in float32 is off by about 1e-7, in bfloat16 by up to 4e-3.
    tolerance = max(1e-5, torch.finfo(prototypes.dtype).eps)
    if not bool(((lengths - 1).abs() <= tolerance).all()):
        raise InputError(
            f"prototypes must have rows of length 1, got lengths from {lengths.min():.4g} to {lengths.max():.4g}; "
            f"use torch.nn.functional.normalize(prototypes, dim=1) and give a common length as scale"
        )
    return prototypes
