r"""The anchored head: prototypes that never move, so only the features are trained.

.. math::  f_j(\mathbf z) = s\, \mathbf w_j^\top \mathbf z \quad\text{(PAL)}, \qquad
           f_j(\mathbf z) = s\, \mathbf w_j^\top \frac{\mathbf z}{\lVert \mathbf z \rVert} \quad\text{(FNPAL)},
           \qquad \lVert \mathbf w_j \rVert = 1.

There is no bias: a trained one would take up the class priors that the anchors are there to ignore, and the logits
would no longer sum to zero over the classes. With normalised features the logits lie in :math:`[-s, s]`, so the
softmax never exceeds :math:`1 / (1 + (k-1) e^{-sk/(k-1)})` on a simplex; that bound is what limits the harm of a wrong
label, and why probabilities need a temperature afterwards.
"""

from functools import partial
from typing import Any, Literal, Self

import torch
from torch import Tensor
from torch.jit import is_scripting  # type: ignore[attr-defined]  # torch shows it without saying so

from anchored._checks import check_real
from anchored._errors import InputError
from anchored.heads._base import Head
from anchored.heads._logits import inner, scripted
from anchored.heads._settings import Choice, Flag, Number
from anchored.heads._watch import SignWatch
from anchored.prototypes import make

__all__ = ["AnchoredHead"]

torch.fx.wrap("inner")  # one node of a traced graph: it looks at dtypes, which have no value there


class AnchoredHead(Head):
    r"""Logits of features and fixed unit prototypes.

    .. math::  f_j(\mathbf z) = s\, \mathbf w_j^\top \mathbf z \quad\text{(PAL)}, \qquad
               f_j(\mathbf z) = s\, \mathbf w_j^\top \frac{\mathbf z}{\lVert \mathbf z \rVert} \quad\text{(FNPAL)},
               \qquad \lVert \mathbf w_j \rVert = 1.

    The prototypes are a buffer: no optimiser, weight decay or gradient reaches them, and they are saved with the
    model. The buffer is not called ``weight``, so that no loader mistakes it for that of a linear layer. ``scale``,
    ``normalize`` and ``features`` are saved with it (``saved_scale`` and so on), and loading a state dict sets them. A
    file of version 0.1.0 lacks them: it loads with a warning that says which values are kept.

    Args:
        in_features: Length d of a feature vector.
        num_classes: Number k of classes; k > d + 1 is allowed.
        normalize: Use the direction of the features only (FNPAL) instead of the features themselves (PAL).
        scale: Factor s > 0 on the logits. It may be assigned later, as ``head.scale = 0.5``.
        features: ``"nonnegative"`` for features that come out of a ReLU: the prototypes are then such that these
            features can reach them; ``"signed"`` for all others. Only used if the prototypes are made here; if they
            are your own, the head says ``"given"``.
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
    saved_scale: Tensor
    saved_normalize: Tensor
    saved_features: Tensor

    scale = Number(partial(check_real, low=0.0, closed="neither"))
    """The factor s on the logits."""
    normalize = Flag()
    """Whether the head sees only the direction of a feature vector."""
    features = Choice("given", "signed", "nonnegative")
    """Which features the prototypes were made for."""

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
        factor = check_real("scale", scale, low=0.0, closed="neither")
        if prototypes is None:
            rows = make(self.num_classes, self.in_features, features=features, generator=generator)
        else:
            rows = _own_prototypes(prototypes, self.num_classes, self.in_features)
        # Packed, and a copy: safetensors refuses strided tensors, and the user may go on changing theirs.
        self.register_buffer("prototypes", rows.detach().clone(memory_format=torch.contiguous_format))
        self.scale, self.normalize = factor, bool(normalize)
        self.features = "given" if prototypes is not None else features
        self.to(rows.dtype)
        self.sign_known_by = "declared"
        self.watch: SignWatch | None = None

    @classmethod
    def blank(cls, in_features: int, num_classes: int) -> Self:
        """Return a head without values, on the current device, whose state dict will be loaded.

        Args:
            in_features: Length d of a feature vector.
            num_classes: Number k of classes.

        Returns:
            A head with prototypes of zeros; on the meta device it takes no memory.

        Example:
            >>> head = AnchoredHead.blank(4, 3)
            >>> head.load_state_dict(AnchoredHead(4, 3, scale=5.0).state_dict())
            <All keys matched successfully>
            >>> head.scale
            5.0
        """
        device = torch.empty(0).device
        first = torch.zeros(num_classes, in_features, device="cpu").index_fill_(1, torch.tensor([0], device="cpu"), 1.0)
        head = cls(in_features, num_classes, prototypes=first)
        head.prototypes.zero_()
        head.sign_known_by = "as saved"
        return head.to(device)

    def forward(self, features: Tensor) -> Tensor:
        """Return ``scale`` times the products, or cosines, of the features with the prototypes."""
        return self.logits(features)

    def logits(self, features: Tensor) -> Tensor:
        """Return the logits ``(..., k)`` of features ``(..., d)``."""
        if is_scripting():
            return scripted(features, self.prototypes, self.saved_normalize, self.saved_scale)
        else:  # noqa: RET505  # torch.jit.script leaves out this branch only if it is one
            if self.watch is not None:
                self.watch.look(self, features)
            return inner(features, self.prototypes, normalize=self.saved_normalize, scale=self.saved_scale)

    def rows(self) -> Tensor:
        """Return the prototypes times the scale, ``(k, d)``."""
        return self.saved_scale.to(self.prototypes.dtype) * self.prototypes

    def extra_repr(self) -> str:
        """Return the sizes, ``normalize``, the scale, and which features the prototypes suit and how that is known."""
        sign = "given prototypes" if self.features == "given" else f"{self.features} features ({self.sign_known_by})"
        return f"{super().extra_repr()}, normalize={self.normalize}, scale={self.scale:g}, for {sign}"

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *others: Any) -> None:  # noqa: ANN401  # torch leaves them untyped
        if f"{prefix}prototypes" in state_dict:  # what was trained with them must keep them
            self.watch, self.sign_known_by = None, "as saved"
        super()._load_from_state_dict(state_dict, prefix, *others)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(sign_known_by="as saved", watch=None)
        super().__setstate__(state)
        if "saved_features" not in self._buffers:  # a pickle of version 0.1.0
            self.features = "given"


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
