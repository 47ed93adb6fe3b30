r"""Fine-tuning from the closed form: features, a linear map to the anchors, and the squared loss onto them.

.. math::  \min_{\theta, B, b}\ \sum_n v_n\, \tfrac12 \|B^\top \phi_\theta(x_n) + b - \mathbf w_{y_n}\|^2

:math:`\phi_\theta` is a pretrained network, :math:`\mathbf w_j` are the anchors, a simplex in :math:`k - 1`
dimensions, and :math:`v_n` says how far a label is trusted. For a fixed network the minimum is the closed form of
:mod:`anchored.ridge`; training begins there (:func:`start_from`) and moves both the map and the network.

A trained classifier is the same map on vectors that the network has made, so the network is kept as an encoder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from anchored._errors import InputError
from anchored.backbones import Backbone
from anchored.losses import AnchoredSquared
from anchored.methods.base import Classifier, Group, Network, Procedure, Stage
from anchored.ridge import Ridge

__all__ = ["FineTuned", "Vectors", "start_from"]


class Vectors(Backbone):
    """Features as they are: vectors that an encoder has made.

    Args:
        dim: Length d of a vector.

    Example:
        >>> Vectors(3)(torch.ones(2, 3)).shape
        torch.Size([2, 3])
    """

    def __init__(self, dim: int) -> None:
        super().__init__((dim,), feature_dim=dim, signed_features=True)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the inputs ``(n, d)``."""
        return inputs


class FineTuned(Procedure):
    """``tuned``: a linear map of the features onto the anchors, trained together with the network below it."""

    title: ClassVar[str] = "Fine-tuned"
    about: ClassVar[str] = "started from the closed form on frozen features, then trained with the network below"
    loss: ClassVar[str] = "anchored-squared"
    head: ClassVar[Mapping[str, object]] = {"head": "anchored"}
    goes_with: ClassVar[tuple[str, ...]] = ()

    @dataclass(frozen=True)
    class Options:
        """Settings of fine-tuning.

        Attributes:
            map_factor: The learning rate of the map to the anchors, as a multiple of the network's.
        """

        map_factor: float = 1.0

        def __post_init__(self) -> None:
            """Refuse a factor that cannot be."""
            if not 0 < float(self.map_factor) < float("inf"):
                raise InputError(f"method.options.map_factor must be positive, got {self.map_factor!r}")

    def network(self) -> Network:
        """Build the network, the map and the anchors; on vectors the network is left out."""
        context = self.context
        backbone = Vectors(context.shape[0]) if len(context.shape) == 1 else context.backbone()
        linear = nn.utils.skip_init(nn.Linear, backbone.feature_dim, context.k - 1)  # type: ignore[no-untyped-call]
        nn.init.zeros_(linear.weight)
        nn.init.zeros_(linear.bias)
        return Classifier(backbone, context.head(context.k - 1), linear)

    def stages(self) -> tuple[Stage, ...]:
        """Return the one stage, whose learning rate moves with every step."""
        return (Stage(name="fine-tuning", loss=AnchoredSquared(), every_step=True, groups=self.groups),)

    def groups(self, network: Network) -> list[Group]:
        """Return the parameters of the network and of the map, each with its factor on the learning rate."""
        assert isinstance(network, Classifier)
        assert network.projection is not None
        below = [parameter for parameter in network.backbone.parameters() if parameter.requires_grad]
        above = Group(list(network.projection.parameters()), factor=float(self.options.map_factor))
        return [Group(below), above] if below else [above]


@torch.no_grad()
def start_from(network: Network, ridge: Ridge) -> None:
    r"""Give the map of ``network`` the values of the closed form, before its temperature.

    With logits :math:`f = W z` of simplex anchors, :math:`z = \frac{k-1}{k} W^\top f`, because
    :math:`W^\top W = \frac{k}{k-1} I`.

    Args:
        network: What :meth:`FineTuned.network` built; changed in place.
        ridge: Linear anchored least squares on the features of the network.

    Example:
        >>> from anchored.methods import BuildContext, parse
        >>> from anchored.ridge import fit_ridge
        >>> X, y = torch.eye(3).repeat(20, 1), torch.arange(60) % 3
        >>> context = BuildContext(method=parse("tuned"), backbone=Vectors, counts=y.bincount(), shape=(3,))
        >>> network, ridge = FineTuned(context).network(), fit_ridge(X, y, 3)
        >>> start_from(network, ridge)
        >>> bool(torch.allclose(network(X) / ridge.temperature, ridge.logits(X).float(), atol=1e-5))
        True
    """
    assert isinstance(network, Classifier)
    assert isinstance(network.projection, nn.Linear)
    if ridge.kernel is not None:
        raise InputError("fine-tuning starts from linear least squares; fit it with kernel=None")
    anchors = network.head.prototypes
    assert isinstance(anchors, Tensor)
    k = len(anchors)
    back = (k - 1) / k * anchors.to(ridge.slope)
    network.projection.weight.copy_((ridge.slope @ back).T)
    network.projection.bias.copy_((ridge.offset - ridge.mean @ ridge.slope) @ back)
