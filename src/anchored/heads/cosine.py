r"""The cosine head: trained directions against the direction of the features.

.. math::  f_j(\mathbf z) = s \cos(\mathbf w_j, \mathbf z)

Both lengths are divided out, so a class cannot win by a long row. The directions are free, and under label noise or
imbalance they drift together, which anchoring prevents. With the scale of FNPAL this head is the paper's
FNPN, with s = 30 its "Norm".

References:
    Cao, Wei, Gaidon, Arechiga and Ma, 2019. Learning Imbalanced Datasets with Label-Distribution-Aware Margin Loss.
    NeurIPS. (The layer their code calls NormedLinear.)
"""

from functools import partial

import torch
from torch import Tensor, nn
from torch.jit import is_scripting  # type: ignore[attr-defined]  # torch shows it without saying so

from anchored._checks import check_real
from anchored._random import generator_or_default
from anchored.heads._base import Head
from anchored.heads._logits import inner, scripted, unit, unit_if
from anchored.heads._settings import Number

__all__ = ["CosineHead"]

torch.fx.wrap("inner")  # one node of a traced graph, as in AnchoredHead


class CosineHead(Head):
    r"""Cosines between features and trained rows, :math:`f_j(\mathbf z) = s \cos(\mathbf w_j, \mathbf z)`.

    Args:
        in_features: Length d of a feature vector.
        num_classes: Number k of classes.
        scale: Factor s > 0 on the cosines. It is 1 by default, because losses with a margin have their own scale;
            with plain cross entropy use 30.
        generator: Source of the first rows; None gives the same ones every time.

    Shape:
        features ``(..., d)``; out ``(..., k)``, computed as in :class:`AnchoredHead`.

    Example:
        >>> import torch
        >>> head = CosineHead(8, 3, scale=30.0)
        >>> z = torch.randn(4, 8, generator=torch.Generator().manual_seed(0))
        >>> torch.allclose(head(z), head(1000 * z), atol=1e-4), head.weight.shape
        (True, torch.Size([3, 8]))
    """

    saved_scale: Tensor

    scale = Number(partial(check_real, low=0.0, closed="neither"))
    """The factor s on the cosines; saved with the weight."""

    def __init__(
        self, in_features: int, num_classes: int, *, scale: float = 1.0, generator: torch.Generator | None = None
    ) -> None:
        super().__init__(in_features, num_classes)
        self.scale = scale
        source = generator_or_default(generator)
        drawn = torch.empty(self.num_classes, self.in_features, device=source.device).uniform_(-1, 1, generator=source)
        self.weight = nn.Parameter(unit(drawn))

    def forward(self, features: Tensor) -> Tensor:
        """Return ``scale`` times the cosines."""
        if is_scripting():
            always = torch.ones_like(self.saved_scale, dtype=torch.bool)
            return scripted(features, unit_if(always, self.weight, 1e-6), always, self.saved_scale)
        else:  # noqa: RET505  # torch.jit.script leaves out this branch only if it is one
            return inner(features, self.weight, normalize=True, normalize_rows=True, scale=self.saved_scale)

    @property
    def normalize(self) -> bool:
        """Whether the head sees only the direction of a feature vector: it does."""
        return True

    def rows(self) -> Tensor:
        """Return the directions of the trained rows, times the scale, ``(k, d)``."""
        return self.saved_scale.to(self.weight.dtype) * unit(self.weight)

    def extra_repr(self) -> str:
        """Return the sizes and the scale."""
        return f"{super().extra_repr()}, scale={self.scale:g}"
