r"""From bytes or features to what a network is given: one multiplication and one addition per value.

.. math::  x \mapsto \frac{x / q - \mu}{\sigma} = a x + b, \qquad a = \frac{1}{q \sigma},\quad b = -\frac{\mu}{\sigma},

with q = 255 for pixels and 1 for features, and one :math:`\mu, \sigma` per channel or feature. The published
constants are data; for all else they are fitted on the training set and kept with the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._random import stream
from anchored.data.inputs import Inputs

__all__ = ["NORMALIZATIONS", "Normalization"]

_FIT_CHUNK = 4096


@dataclass(frozen=True)
class Normalization:
    """Mean and standard deviation per channel (images) or per feature (vectors).

    Args:
        mean: One value per channel or feature, after the division by ``divisor``.
        std: Likewise; positive.
        divisor: 255 for pixels given as bytes, 1 for floats.

    Example:
        >>> halves = Normalization(mean=(0.5,), std=(0.25,))
        >>> halves(torch.tensor([0, 255], dtype=torch.uint8).view(1, 1, 1, 2)).flatten()
        tensor([-2.,  2.])
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]
    divisor: float = 255.0

    def __post_init__(self) -> None:
        if len(self.mean) != len(self.std) or not self.mean:
            raise InputError(f"mean and std must have one value per channel, got {len(self.mean)} and {len(self.std)}")
        if not all(s > 0 for s in self.std) or not self.divisor > 0:
            raise InputError(f"std and divisor must be positive, got {min(self.std)} and {self.divisor}")

    def __call__(self, inputs: Tensor, *, dtype: torch.dtype = torch.float32, channels_last: bool = False) -> Tensor:
        r"""Normalise inputs: :math:`(x / q - \mu) / \sigma` with q the divisor.

        Args:
            inputs: Images ``(b, c, h, w)`` or vectors ``(b, d)``; they are not changed.
            dtype: Float type of the result.
            channels_last: Whether the channels of an image lie innermost in memory.

        Returns:
            Floats of the same shape, on the same device.
        """
        if inputs.shape[1] != len(self.mean):
            raise InputError(f"the normalisation has {len(self.mean)} channels, the inputs are {tuple(inputs.shape)}")
        shape = (-1, 1, 1) if inputs.ndim == 4 else (-1,)
        # In double until the end: 1/(255 sigma) has no exact float, and mu/sigma can be large for features.
        # Likewise features that come in double: a time stamp rounded to float first would lose what sets it apart.
        wide = torch.promote_types(inputs.dtype, dtype) if inputs.is_floating_point() else dtype
        scale, shift = (each.to(inputs.device, wide).view(shape) for each in self._scale_and_shift)
        out = inputs.to(dtype=wide, memory_format=torch.contiguous_format, copy=True).mul_(scale).add_(shift).to(dtype)
        # Last, and on floats: bytes are permuted, and channels-last values scaled, several times slower on a CPU.
        return out.contiguous(memory_format=torch.channels_last) if channels_last and out.ndim == 4 else out

    @cached_property
    def _scale_and_shift(self) -> tuple[Tensor, Tensor]:
        mean, std = (torch.tensor(each, dtype=torch.float64) for each in (self.mean, self.std))
        return 1 / (self.divisor * std), -mean / std

    @classmethod
    def fit(cls, inputs: Inputs, *, limit: int = 100_000, weights: Tensor | None = None) -> Normalization:
        """Compute mean and standard deviation per channel or feature.

        A channel or feature that never changes gets a standard deviation of 1, so that it becomes 0 and not NaN.

        Args:
            inputs: The training inputs.
            limit: If there are more inputs, this many of them are drawn at random.
            weights: ``(n,)``; an input of weight 2 counts as if it were there twice.

        Returns:
            The normalisation that gives these inputs mean 0 and standard deviation 1.

        Raises:
            InputError: If there are no inputs, all weigh 0, or they must be encoded first.

        Example:
            >>> from anchored.data import TensorInputs
            >>> Normalization.fit(TensorInputs(torch.tensor([[1.0, 5.0], [3.0, 5.0]])))
            Normalization(mean=(2.0, 5.0), std=(1.0, 1.0), divisor=1.0)
        """
        n = len(inputs)
        if not inputs.shape:
            raise InputError("texts and tables have no mean before they are encoded; call anchored.features.encode")
        if n == 0:
            raise InputError("a normalisation cannot be fitted on no inputs; give at least one")
        # Not every so-manyth: MNIST alternates between two sources of digits, and even rows are darker than odd.
        chosen = torch.randperm(n, generator=stream(0, "normalization"))[:limit].sort().values
        channels = inputs.shape[0]
        mean, squares = torch.zeros(channels, dtype=torch.float64), torch.zeros(channels, dtype=torch.float64)
        count = 0.0
        divisor = 1.0
        for start in range(0, len(chosen), _FIT_CHUNK):
            part = chosen[start : start + _FIT_CHUNK]
            rows = inputs.take(part)
            divisor = _divisor(rows)
            flat = rows.transpose(0, 1).reshape(channels, -1).to(torch.float64) / divisor
            # Chunks are merged by their means: a sum of squares minus a squared sum loses all digits when mu >> sigma.
            each = torch.ones(len(part)) if weights is None else weights[part]
            share = each.to(torch.float64).repeat_interleave(flat.shape[1] // len(part))
            size = float(share.sum())
            if size == 0:
                continue
            centre = flat @ share / size
            total = count + size
            squares += flat.sub_(centre[:, None]).square_() @ share + (centre - mean).square() * count * size / total
            mean += (centre - mean) * size / total
            count = total
        if count == 0:
            raise InputError("a normalisation cannot be fitted on inputs that all weigh 0; give one of them a weight")
        std = (squares / count).sqrt()
        constant = std <= 1e-12 * mean.abs().clamp(min=1)
        return cls(tuple(mean.tolist()), tuple(torch.where(constant, 1.0, std).tolist()), divisor)

    @classmethod
    def none(cls, inputs: Inputs) -> Normalization:
        """Leave features as they are, and bring pixels between 0 and 1.

        Example:
            >>> from anchored.data import TensorInputs
            >>> Normalization.none(TensorInputs(torch.zeros(1, 3, 4, 4, dtype=torch.uint8)))
            Normalization(mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0), divisor=255.0)
        """
        channels = inputs.shape[0]
        return cls((0.0,) * channels, (1.0,) * channels, _divisor(inputs.take(torch.arange(min(1, len(inputs))))))

    def to_dict(self) -> dict[str, float | list[float]]:
        """Return plain numbers and lists, for JSON."""
        return {"mean": list(self.mean), "std": list(self.std), "divisor": self.divisor}

    @classmethod
    def from_dict(cls, values: dict[str, object]) -> Normalization:
        """Make a normalisation from what :meth:`to_dict` returned.

        Raises:
            InputError: If a value is missing or of another type.

        Example:
            >>> Normalization.from_dict(NORMALIZATIONS["mnist"].to_dict()) == NORMALIZATIONS["mnist"]
            True
        """
        mean, std, divisor = values.get("mean"), values.get("std"), values.get("divisor", 255.0)
        if not isinstance(mean, list) or not isinstance(std, list) or not isinstance(divisor, int | float):
            raise InputError(
                f"a normalisation needs lists 'mean' and 'std' and a number 'divisor', got {sorted(values)}"
            )
        return cls(tuple(float(m) for m in mean), tuple(float(s) for s in std), float(divisor))


def _divisor(rows: Tensor) -> float:
    return 255.0 if rows.dtype == torch.uint8 else 1.0


NORMALIZATIONS: dict[str, Normalization] = {
    "mnist": Normalization((0.1307,), (0.3081,)),
    "cifar10": Normalization((0.49139968, 0.48215827, 0.44653124), (0.24703233, 0.24348505, 0.26158768)),
    "cifar100": Normalization((0.5071, 0.4865, 0.4409), (0.2673, 0.2564, 0.2762)),
    "cifar-longtail": Normalization((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)),
    "imagenet": Normalization((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
}
"""Published constants. ``cifar-longtail`` is what LDAM-DRW and MiSLAS use for CIFAR-10 and CIFAR-100 alike."""
