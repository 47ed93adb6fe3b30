"""A pretrained network in training: photos as it sees them, its statistics frozen, in its number format.

:class:`TunedBackbone` is the network of a :class:`~anchored.features.photos.PhotoEncoder` as a backbone that the
training engine takes, and :class:`PhotoPixels` are the photos at its size. After training,
``encoder.with_network(backbone.network)`` is an encoder again.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn

from anchored.backbones import Backbone
from anchored.data import Inputs, TensorInputs
from anchored.data.file_inputs import MEMORY_LIMIT
from anchored.features._lite0_network import Lite0Network
from anchored.features.photos import PhotoEncoder
from anchored.features.precision import PRECISIONS

__all__ = ["PhotoPixels", "TunedBackbone", "photo_pixels"]

_ROWS = 256


class TunedBackbone(Backbone):
    """The network of an encoder, to be trained.

    BatchNorm keeps the statistics that it has: those of the large set that the network was trained on are better than
    those of a few photos in a batch.

    Args:
        encoder: A fitted encoder of photos.

    Shape:
        pixels ``(n, 3, h, w)`` between 0 and 1; out ``(n, d)``, float32.
    """

    scale: Tensor
    shift: Tensor

    def __init__(self, encoder: PhotoEncoder) -> None:
        view = encoder.view
        super().__init__((3, view.height or 0, view.width or 0), feature_dim=encoder.dim, signed_features=True)
        self.network = encoder.trainable()
        self.format = PRECISIONS[encoder.precision]
        mean, std = (torch.tensor(values).view(3, 1, 1) for values in (view.mean, view.std))
        self.register_buffer("scale", 255.0 / std, persistent=False)
        self.register_buffer("shift", -mean / std, persistent=False)

    def train(self, mode: bool = True) -> TunedBackbone:
        """Set the mode of all layers but BatchNorm, which stays in evaluation mode."""
        super().train(mode)
        for part in self.modules():
            if isinstance(part, nn.modules.batchnorm._BatchNorm):
                part.eval()
        return self

    def forward(self, inputs: Tensor) -> Tensor:
        """Normalise pixels as the network wants them, and compute its features."""
        images = inputs * self.scale + self.shift
        if isinstance(self.network, Lite0Network):  # computes in the format of its inputs, faster than by autocast
            images = images.to(self.format)
        with self._autocast(images):
            features: Tensor = self.network(images.contiguous(memory_format=torch.channels_last))
        return features.float()

    def _autocast(self, images: Tensor) -> AbstractContextManager[object]:
        if self.format == torch.bfloat16 and images.dtype != torch.bfloat16:
            return torch.autocast(images.device.type, dtype=torch.bfloat16)
        return nullcontext()


class PhotoPixels:
    """Photos as an encoder shows them to its network, decoded when they are asked for.

    Args:
        inputs: Images in memory or in files.
        encoder: A fitted encoder, which says the size.
    """

    def __init__(self, inputs: Inputs, encoder: PhotoEncoder) -> None:
        self._inputs, self._encoder = inputs, encoder

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape ``(3, h, w)`` that the network sees."""
        return 3, self._encoder.view.height or 0, self._encoder.view.width or 0

    @property
    def in_memory(self) -> bool:
        """Never: photos are decoded or resized when they are asked for."""
        return False

    def __len__(self) -> int:
        return len(self._inputs)

    def take(self, index: Tensor) -> Tensor:
        """Return pixels ``(b, 3, h, w)`` as bytes."""
        pixels = self._encoder.prepare(self._inputs, index)
        return pixels if pixels.dtype == torch.uint8 else pixels.round().clamp(0, 255).to(torch.uint8)

    def subset(self, index: Tensor) -> PhotoPixels:
        """Return the photos at ``index``, in that order."""
        return PhotoPixels(self._inputs.subset(index), self._encoder)


def photo_pixels(inputs: Inputs, encoder: PhotoEncoder, *, memory_limit: int = MEMORY_LIMIT) -> Inputs:
    """Return photos at the size of an encoder: in memory if they fit, else decoded each time.

    Args:
        inputs: Images in memory or in files.
        encoder: A fitted encoder of photos.
        memory_limit: Bytes of pixels up to which they are kept in memory.

    Returns:
        Inputs of the shape that the encoder's network takes, as bytes.

    Example:
        >>> from anchored.features import from_module
        >>> images = TensorInputs(torch.zeros(5, 3, 8, 8, dtype=torch.uint8))
        >>> encoder = from_module(nn.Flatten(), size=(16, 16)).fit(images)
        >>> photo_pixels(images, encoder).shape
        (3, 16, 16)
    """
    lazy = PhotoPixels(inputs, encoder)
    _, height, width = lazy.shape
    if len(inputs) * 3 * height * width > memory_limit:
        return lazy
    out = torch.empty(len(inputs), *lazy.shape, dtype=torch.uint8)
    for rows in torch.split(torch.arange(len(inputs)), _ROWS):
        out[rows] = lazy.take(rows)
    return TensorInputs(out)
