"""A backbone cut in two: a trunk that several branches share, and branches with weights of their own.

==========  =====================================  ==================================================
network     stages                                 blocks of a stage
==========  =====================================  ==================================================
ResNet      as it names them, the stem in the      its residual blocks, the mean over the pixels
            first                                  in the last
ConvNet     convolutions up to each max-pool,      one
            then the linear unit
MLP         each linear layer with what follows    one
Tiny        its two layers                         one
any other   the whole network                      one
==========  =====================================  ==================================================

The cut ``"last"`` is before the last block: branches are as short as they can be. The cut ``"early"`` leaves the
last two stages to the branches and shares what comes before, the first stage at least: of three stages the first, of
four the first two. A network that is one block, such as a wrapped module, shares nothing, and its branches are
complete networks.

References:
    Zhou et al., 2020. BBN: Bilateral-Branch Network with Cumulative Learning for Long-Tailed Visual Recognition.
    CVPR (``"last"``).
    Zhang et al., 2022. Self-Supervised Aggregation of Diverse Experts for Test-Agnostic Long-Tailed Recognition.
    NeurIPS (``"early"``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from torch import Tensor, nn

from anchored._errors import InputError
from anchored.backbones._base import Backbone
from anchored.backbones.convnet import ConvNet
from anchored.backbones.mlp import MLP
from anchored.backbones.resnet import ResNet
from anchored.backbones.tiny import Tiny

__all__ = ["Cut", "Fork", "PixelMean"]

Cut = Literal["early", "last"]
"""Where the branches part."""


class Fork(nn.Module):
    """One trunk and several branches: the features of each branch from the same inputs.

    Args:
        networks: Networks that were built alike, one for each branch: the first gives the trunk as well, the others
            their own branch only. Their layers are taken over, not copied.
        cut: Where the trunk ends: ``"last"`` (before the last block) or ``"early"`` (before the last two stages).

    Attributes:
        input_shape: Shape of one input.
        feature_dim: Length of the features of one branch.
        signed_features: Whether they can be negative.

    Shape:
        inputs ``(n, *input_shape)``; out a list with ``(n, feature_dim)`` for each branch.

    Example:
        >>> import torch
        >>> from anchored import backbones
        >>> two = [backbones.get("tiny", (8,), generator=torch.Generator().manual_seed(i)) for i in range(2)]
        >>> [tuple(features.shape) for features in Fork(two, "last")(torch.zeros(5, 8))]
        [(5, 32), (5, 32)]
    """

    def __init__(self, networks: Sequence[Backbone], cut: Cut) -> None:
        super().__init__()
        if len({type(network) for network in networks}) != 1:
            kinds = ", ".join(type(network).__name__ for network in networks) or "none"
            raise InputError(f"a fork needs one or more networks of the same kind, got {kinds}; build them alike")
        if cut not in ("early", "last"):
            raise InputError(f"cut must be 'early' or 'last', got {cut!r}")
        first = networks[0]
        self.input_shape = tuple(first.input_shape)
        self.feature_dim = first.feature_dim
        self.signed_features = first.signed_features
        self.trunk, _ = _cut(first, cut)
        self.branches = nn.ModuleList(_cut(network, cut)[1] for network in networks)

    def forward(self, inputs: Tensor) -> list[Tensor]:
        """Return features ``(n, feature_dim)`` of every branch."""
        shared = self.trunk(inputs)
        return [branch(shared) for branch in self.branches]


class PixelMean(nn.Module):
    """The mean over the pixels, as a layer.

    Example:
        >>> import torch
        >>> PixelMean()(torch.ones(2, 5, 4, 4)).shape
        torch.Size([2, 5])
    """

    def forward(self, maps: Tensor) -> Tensor:
        """Return features ``(n, channels)`` of maps ``(n, channels, h, w)``."""
        return maps.mean(dim=(2, 3))


def _cut(network: Backbone, cut: Cut) -> tuple[nn.Sequential, nn.Sequential]:
    """Return the layers before and after the cut; one after the other they are the network."""
    stages = _stages(network)
    blocks = [block for stage in stages for block in stage]
    if cut == "last" or len(stages) == 1:
        place = len(blocks) - 1
    else:
        place = sum(len(stage) for stage in stages[: max(1, len(stages) - 2)])
    return nn.Sequential(*blocks[:place]), nn.Sequential(*blocks[place:])


def _stages(network: Backbone) -> list[list[nn.Module]]:
    """Return the network as stages of blocks, in order: together they compute what it computes."""
    # By the very class: of a subclass it is not known that it computes the same from these parts.
    if type(network) is ResNet:
        stages = [list(network.get_submodule(name).children()) for name in network.stage_names]
        stages[0].insert(0, nn.Sequential(network.conv1, network.bn1, network.relu, network.maxpool))
        stages[-1][-1] = nn.Sequential(stages[-1][-1], PixelMean())
        return stages
    if type(network) is ConvNet:
        blocks: list[list[nn.Module]] = [[block] for block in network.blocks()]
        return [*blocks, [nn.Sequential(nn.Flatten(), network.fc1, network.bn1, network.last)]]
    if type(network) is MLP:
        flatten, *layers = network.layers
        first, *rest = _split(layers, before=nn.Linear)
        return [[nn.Sequential(flatten, *first)], *rest]
    if type(network) is Tiny:
        return [[network.first], [nn.Sequential(network.second, network.last)]]
    return [[network]]


def _split(layers: Iterable[nn.Module], *, before: type[nn.Module]) -> list[list[nn.Module]]:
    """Return consecutive layers in blocks, one block to a stage; a new block begins before each layer of a kind."""
    runs: list[list[nn.Module]] = [[]]
    for layer in layers:
        if isinstance(layer, before) and runs[-1]:
            runs.append([])
        runs[-1].append(layer)
    return [[nn.Sequential(*run)] for run in runs]
