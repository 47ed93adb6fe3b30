"""EfficientNet-Lite0 as a torch module: inverted bottlenecks without squeeze-excitation, ReLU6, 1,280 features.

A stage is a row ``(repeats, kernel, stride, expansion, channels)``. A strided convolution pads as TensorFlow does
("same"): one row and column more below and right than above and left, if the number is odd. Sides that are multiples
of 32 stay even down to the last stage, so that the padding is a constant of the layer.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from anchored._errors import InputError
from anchored.features._depthwise import depthwise

__all__ = ["STAGES", "Lite0Network", "read_published"]

STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
"""``(repeats, kernel, stride, expansion, channels)`` of the seven stages."""
_STEM, _FEATURES = 32, 1280
_EPSILON = 1e-3


class _Unit(nn.Module):
    """A convolution, its batch normalisation and, if asked for, ReLU6."""

    def __init__(
        self, inputs: int, outputs: int, kernel: int, *, stride: int = 1, depthwise: bool = False, clip: bool = True
    ) -> None:
        super().__init__()
        groups = inputs if depthwise else 1
        inside = kernel // 2 if stride == 1 else 0
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, padding=inside, groups=groups, bias=False)
        self.norm: nn.Module = nn.BatchNorm2d(outputs, eps=_EPSILON, momentum=0.01)
        self.clip = clip
        total = kernel - stride  # what "same" adds to an even side
        self.around = (total // 2, total - total // 2) * 2 if stride > 1 else None

    def forward(self, x: Tensor) -> Tensor:
        if self.around is not None:
            x = F.pad(x, self.around)
        x = self._folded(x) if self._folds(x) else self.norm(self.conv(x))
        return F.hardtanh(x, 0.0, 6.0, inplace=not torch.is_grad_enabled()) if self.clip else x

    def _folds(self, x: Tensor) -> bool:
        """Whether the layer is trained with statistics that stay as they are, so that they can go into the weights."""
        frozen = isinstance(self.norm, nn.BatchNorm2d) and not self.norm.training
        return frozen and (torch.is_grad_enabled() or x.dtype != self.conv.weight.dtype)

    def _folded(self, x: Tensor) -> Tensor:
        """Compute the same with ``g (w * x - m) / s + b`` as one convolution, in the number format of ``x``."""
        conv, norm = self.conv, self.norm
        assert isinstance(norm, nn.BatchNorm2d)
        assert norm.running_mean is not None
        assert norm.running_var is not None
        factor = norm.weight * (norm.running_var + norm.eps).rsqrt()
        weight = (conv.weight * factor[:, None, None, None]).to(x.dtype)
        bias = (norm.bias - norm.running_mean * factor).to(x.dtype)
        if conv.groups > 1:
            return depthwise(x, weight, bias, conv.stride[0], int(conv.padding[0]))
        return F.conv2d(x, weight, bias, conv.stride, conv.padding)

    def fold(self) -> None:
        """Put the batch normalisation into the weights of the convolution."""
        if isinstance(self.norm, nn.BatchNorm2d):
            self.conv = fuse_conv_bn_eval(self.conv, self.norm)
            self.norm = nn.Identity()


class _Block(nn.Module):
    """Expand, filter each channel, project; add the input if the shape stays the same."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        inner = inputs * expansion
        self.expand = _Unit(inputs, inner, 1) if expansion != 1 else None
        self.depthwise = _Unit(inner, inner, kernel, stride=stride, depthwise=True)
        self.project = _Unit(inner, outputs, 1, clip=False)
        self.skip = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        inner = x if self.expand is None else self.expand(x)
        out: Tensor = self.project(self.depthwise(inner))
        return out + x if self.skip else out


class Lite0Network(nn.Module):
    """EfficientNet-Lite0 without its classifier.

    Shape:
        images ``(n, 3, h, w)``, both sides multiples of 32, pixels as ``(x - 127) / 128``; out ``(n, 1280)``, never
        negative.

    Example:
        >>> network = Lite0Network().eval()
        >>> sum(parameter.numel() for parameter in network.parameters())
        3371008
    """

    feature_dim = _FEATURES

    def __init__(self) -> None:
        super().__init__()
        self.stem = _Unit(3, _STEM, 3, stride=2)
        blocks, inputs = [], _STEM
        for repeats, kernel, stride, expansion, outputs in STAGES:
            for repeat in range(repeats):
                blocks.append(_Block(inputs, outputs, kernel, stride if repeat == 0 else 1, expansion))
                inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.last = _Unit(inputs, _FEATURES, 1)

    def forward(self, images: Tensor) -> Tensor:
        """Features ``(n, 1280)``: the mean of the last layer over all places."""
        last: Tensor = self.last(self.blocks(self.stem(images)))
        return last.mean(dim=(2, 3), dtype=torch.promote_types(last.dtype, torch.float32))

    def freeze_first_(self, blocks: int) -> Lite0Network:
        """Keep the stem and the first blocks as they are in training, in place."""
        for part in (self.stem, *list(self.blocks)[:blocks]):
            part.requires_grad_(False)
        return self

    def fold(self) -> Lite0Network:
        """Put every batch normalisation into its convolution, in place; for inference only."""
        for unit in [module for module in self.modules() if isinstance(module, _Unit)]:
            unit.fold()
        return self


_UNITS = {"_expand_conv": "expand", "_depthwise_conv": "depthwise", "_project_conv": "project"}


def _block_norms(block: str) -> dict[str, str]:
    """The names of the normalisations of one published block: ``_bn0`` only exists if there is an expansion."""
    return {f"{block}._bn0": "expand", f"{block}._bn1": "depthwise", f"{block}._bn2": "project"}


def read_published(state: Mapping[str, Tensor], *, where: str) -> dict[str, Tensor]:
    """Translate the names of the published weights into those of :class:`Lite0Network`, without the classifier.

    Args:
        state: Tensors by the names of the published file, ``_blocks.3._expand_conv.weight`` and so on. Names of
            :class:`Lite0Network` are taken as they are.
        where: The file, for a refusal.

    Returns:
        A state dict for :class:`Lite0Network`.

    Raises:
        InputError: If a tensor is missing, unknown or of another shape.
    """
    wanted = Lite0Network().state_dict()
    table = {"_conv_stem": "stem.conv", "_bn0": "stem.norm", "_conv_head": "last.conv", "_bn1": "last.norm"}
    for number in range(sum(stage[0] for stage in STAGES)):
        block = f"_blocks.{number}"
        table |= {f"{block}.{theirs}": f"blocks.{number}.{ours}.conv" for theirs, ours in _UNITS.items()}
        table |= {theirs: f"blocks.{number}.{ours}.norm" for theirs, ours in _block_norms(block).items()}
    found: dict[str, Tensor] = {}
    for name, tensor in state.items():
        layer, _, kind = name.rpartition(".")
        if layer in ("_fc", "fc", "classifier"):
            continue
        ours = name if name in wanted else f"{table.get(layer, '')}.{kind}"
        if ours not in wanted or tuple(tensor.shape) != tuple(wanted[ours].shape):
            raise _foreign(where, f"{name} {tuple(tensor.shape)} does not belong to it")
        found[ours] = tensor
    missing = [name for name in wanted if name not in found and not name.endswith("num_batches_tracked")]
    if missing:
        raise _foreign(where, f"{missing[0]} is missing")
    return {name: found.get(name, wanted[name]).to(wanted[name].dtype) for name in wanted}


def _foreign(where: str, what: str) -> InputError:
    return InputError(f"{where}: these are not weights of EfficientNet-Lite0 ({what}); give its own file")
