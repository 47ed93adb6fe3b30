"""Photos as a network takes them: brought to one size, three channels, the network's own normalisation.

Files are decoded here at the size that is needed (a JPEG at a half, a quarter or an eighth, if that is enough); images
in memory are resized. Small images are enlarged: a network trained on 224 pixels sees little in 32.
"""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored.data import FileInputs, Inputs
from anchored.data.images import fit_image, open_image
from anchored.features.precision import PRECISIONS, choose_precision, has_fast_bfloat16
from anchored.features.stream import BatchedEncoder
from anchored.features.weights import digest_of

__all__ = ["PhotoEncoder", "PhotoView", "choose_size", "known_precision"]

_STEP, _SMALLEST, _LARGEST, _LONGEST = 32, 128, 224, 448
_LOOKED_AT = 512


def choose_size(height: int, width: int) -> tuple[int, int]:
    """Choose the size at which images are shown to a network that takes any multiple of 32.

    The shorter side becomes the next multiple of 32, at least 128 and at most 224; the longer one keeps the shape of
    the image, up to 448.

    Args:
        height: Height of the images in pixels.
        width: Their width.

    Returns:
        Height and width, both multiples of 32.

    Example:
        >>> choose_size(32, 32), choose_size(150, 150), choose_size(224, 224), choose_size(64, 128)
        ((128, 128), (160, 160), (224, 224), (128, 256))
    """
    short, long = sorted((height, width))
    side = min(max(math.ceil(short / _STEP) * _STEP, _SMALLEST), _LARGEST)
    other = min(max(round(side * long / short / _STEP) * _STEP, side), _LONGEST)
    return (side, other) if height <= width else (other, side)


@dataclass(frozen=True)
class PhotoView:
    """How photos are shown to a network: ``(pixel * pixels - mean) / std`` at ``height x width``.

    Attributes:
        height: Height in pixels; None until it is chosen by the size of the training images.
        width: Width in pixels, likewise.
        mean: What is subtracted, per channel, on the scale 0 to 255.
        std: What it is divided by, likewise.
        pixels: Factor that brings float images to 0..255: 1, or 255 for images in 0..1; None until images were seen.
        mirrored: Whether each photo is shown a second time, left and right swapped; features are the mean of both.
    """

    height: int | None = None
    width: int | None = None
    mean: tuple[float, float, float] = (127.0, 127.0, 127.0)
    std: tuple[float, float, float] = (128.0, 128.0, 128.0)
    pixels: float | None = None
    mirrored: bool = False

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> PhotoView:
        """Make the view from what ``asdict`` gave; the values are checked.

        Args:
            values: The attributes by name.

        Raises:
            InputError: If a value is missing or of another kind.
        """
        try:
            sides = [
                None if values[side] is None else check_integer(side, values[side], low=1, high=4096)
                for side in ("height", "width")
            ]
            mean, std = ((float(v[0]), float(v[1]), float(v[2])) for v in (values["mean"], values["std"]))
            pixels = None if values["pixels"] is None else float(values["pixels"])
            mirrored = values.get("mirrored", False)
            if not isinstance(mirrored, bool):
                raise ValueError("mirrored is neither true nor false")
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InputError(f"the description of a photo encoder is damaged ({error}); make the model again") from None
        if not all(math.isfinite(v) for v in (*mean, *std, pixels or 0.0)) or min(std) <= 0:
            raise InputError("the normalisation of a photo encoder must be finite and positive; make the model again")
        return cls(sides[0], sides[1], mean, std, pixels, mirrored)

    def show(self, network: nn.Module, images: Tensor) -> Tensor:
        """Return the features ``(n, d)`` of normalised images ``(n, 3, h, w)``."""
        features: Tensor = network(images)
        return (features + network(images.flip(3))) / 2 if self.mirrored else features


class PhotoEncoder(BatchedEncoder):
    """A network on photos, frozen. Subclasses give the network and say how it is made again.

    Args:
        network: Maps normalised images ``(n, 3, h, w)`` to features ``(n, d)``.
        view: How photos are shown to it.
        precision: ``"auto"``, ``"float32"`` or ``"bfloat16"``.
    """

    kind: ClassVar[str] = "image"

    def __init__(self, network: nn.Module, view: PhotoView, *, precision: str = "auto") -> None:
        self.view = view
        self.precision = choose_precision(precision)
        self.network = network.eval().requires_grad_(False)

    @cached_property
    def _runner(self) -> nn.Module:
        """The network as it is run: in its number format, laid out channel by channel."""
        device = "cuda" if torch.cuda.is_available() else "cpu"
        ready = self._for_inference().to(device=device, dtype=PRECISIONS[self.precision])
        return ready.to(memory_format=torch.channels_last)  # type: ignore[call-overload,no-any-return]

    def _for_inference(self) -> nn.Module:
        return copy.deepcopy(self.network)

    @abstractmethod
    def _about(self) -> dict[str, Any]:
        """Plain values that make the network again, apart from view and precision."""

    @cached_property
    def _weights_digest(self) -> str:
        return digest_of(self._about(), self.network.state_dict())

    @property
    def digest(self) -> str:
        """Digest of weights, view and precision."""
        return digest_of({"weights": self._weights_digest, "precision": self.precision, **asdict(self.view)}, {})

    @property
    def fitted(self) -> bool:
        """Whether size and range of the pixels are settled."""
        return None not in (self.view.height, self.view.width, self.view.pixels)

    def fit(self, inputs: Inputs) -> Self:
        """Settle the size by the size of the images, and the range of their pixels, if they are open."""
        if self.fitted:
            return self
        _check_images(inputs, self.name)
        view = self.view
        if view.height is None or view.width is None:
            height, width = self._size(*inputs.shape[1:])
            view = replace(view, height=height, width=width)
        if view.pixels is None:
            view = replace(view, pixels=_pixel_scale(inputs))
        return self._with(view)

    def _size(self, height: int, width: int) -> tuple[int, int]:
        return choose_size(height, width)

    def _with(self, view: PhotoView) -> Self:
        other = copy.copy(self)
        other.view = view
        return other

    def mirrored(self, mirrored: bool = True) -> Self:
        """Return this encoder with every photo shown mirrored too, or not; features are the mean of both views.

        That is right where left and right do not matter, and wrong where they are what tells classes apart.
        """
        return self._with(replace(self.view, mirrored=mirrored))

    def trainable(self) -> nn.Module:
        """Return a copy of the network to fine-tune; layers that are to stay as they are require no gradient."""
        return copy.deepcopy(self.network).requires_grad_(True)

    def with_network(self, network: nn.Module) -> Self:
        """Return this encoder with other weights, such as those of a fine-tuned copy of its network.

        Args:
            network: What :meth:`trainable` returned, after training.

        Returns:
            An encoder with the same view and precision; it shares nothing with ``network``.
        """
        other = copy.copy(self)
        for computed in ("_runner", "_weights_digest"):
            other.__dict__.pop(computed, None)
        other.network = copy.deepcopy(network).to("cpu", torch.float32).eval().requires_grad_(False)
        return other

    def transform(self, inputs: Inputs) -> Tensor:
        """Encode images; an encoder that was not fitted settles its size by these images."""
        if not self.fitted:
            return self.fit(inputs).transform(inputs)
        _check_images(inputs, self.name)
        return super().transform(inputs)

    def prepare(self, inputs: Inputs, index: Tensor) -> Tensor:
        """Decode or resize images.

        Args:
            inputs: Images in memory or in files.
            index: Row numbers ``(b,)``.

        Returns:
            Pixels ``(b, 3, h, w)``, uint8; float for images that are not bytes.
        """
        height, width = self.view.height or 0, self.view.width or 0
        if isinstance(inputs, FileInputs):
            return _decoded(inputs, index, height, width)
        images = inputs.take(index)
        if images.dtype != torch.uint8:
            images = images.to(torch.float32) * (self.view.pixels or 1.0)
        if tuple(images.shape[2:]) != (height, width):
            images = F.interpolate(images, (height, width), mode="bilinear", antialias=True)
        return images.expand(-1, 3, -1, -1)

    def embed(self, prepared: Tensor) -> Tensor:
        """Normalise images and run the network."""
        runner = self._runner
        device = next((parameter.device for parameter in runner.parameters()), torch.device("cpu"))
        mean = torch.tensor(self.view.mean, device=device)[:, None, None]
        std = torch.tensor(self.view.std, device=device)[:, None, None]
        images = (prepared.to(device=device, dtype=torch.float32) - mean) / std
        images = images.to(dtype=PRECISIONS[self.precision], memory_format=torch.channels_last)
        return self.view.show(runner, images).to(device="cpu", dtype=torch.float32)

    def as_module(self) -> nn.Module:
        """Return the encoder as a module in single precision: pixels ``(n, 3, h, w)`` in 0..255 to features ``(n, d)``.

        The pixels must have the size of the view; resizing is left to whoever calls it.
        """
        return _Viewed(self._for_inference().to(torch.float32), self.view)

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return the description of network, view and precision, and the weights."""
        about = {"encoder": self.name, **self._about(), "view": asdict(self.view), "precision": self.precision}
        return about, {name: tensor.detach().clone() for name, tensor in self.network.state_dict().items()}


class _Viewed(nn.Module):
    """A network with the normalisation that it was trained with before it."""

    mean: Tensor
    std: Tensor

    def __init__(self, network: nn.Module, view: PhotoView) -> None:
        super().__init__()
        self.network, self.view = network, view
        self.register_buffer("mean", torch.tensor(view.mean)[:, None, None], persistent=False)
        self.register_buffer("std", torch.tensor(view.std)[:, None, None], persistent=False)

    def forward(self, pixels: Tensor) -> Tensor:
        return self.view.show(self.network, (pixels.to(self.mean.dtype) - self.mean) / self.std)


def known_precision(about: Mapping[str, Any]) -> str:
    """Read the number format of a stored encoder; float32 if this machine has no bfloat16 in hardware."""
    precision = choose_precision(str(about.get("precision", "float32")))
    return precision if precision == "float32" or has_fast_bfloat16() else "float32"


def _check_images(inputs: Inputs, name: str) -> None:
    if len(inputs.shape) != 3:
        what = "texts" if hasattr(inputs, "texts") else f"inputs of shape {inputs.shape}"
        raise InputError(f"{name} encodes images, got {what}; choose another encoder, or encoder='auto'")
    if inputs.shape[0] not in (1, 3):
        raise InputError(f"{name} encodes images with 1 or 3 channels, got {inputs.shape[0]}; choose three of them")


def _pixel_scale(inputs: Inputs) -> float:
    """The factor that brings pixels to 0..255."""
    if isinstance(inputs, FileInputs) or len(inputs) == 0:
        return 1.0
    some = inputs.take(torch.linspace(0, len(inputs) - 1, min(len(inputs), _LOOKED_AT)).long())
    if some.dtype == torch.uint8:
        return 1.0
    low, high = float(some.min()), float(some.max())
    if low < 0 or high > 255:
        raise InputError(
            f"images must have pixels in 0..1 or 0..255 for a pretrained network, got {low:g} to {high:g}; "
            f"leave out the normalisation, the encoder has its own"
        )
    return 255.0 if high <= 1 else 1.0


def _decoded(inputs: FileInputs, index: Tensor, height: int, width: int) -> Tensor:
    out = np.empty((len(index), 3, height, width), dtype=np.uint8)
    # A little less than what is cut from (256 / 224 of the size) does: half of 640 x 480 instead of all of it.
    enough = max(height, width)
    # By the size of the view alone, so that a photo has the same vector however its data set was opened.
    resize = 256 / 224 if min(height, width) >= _LARGEST else 1.0
    known: dict[int, int] = {}
    for row, i in enumerate(index.tolist()):
        if i in known:  # a batch that was filled up repeats a row
            out[row] = out[known[i]]
            continue
        known[i] = row
        out[row] = fit_image(open_image(inputs.paths[i], 3, at_least=enough), height, width, resize)
    return torch.from_numpy(out)
