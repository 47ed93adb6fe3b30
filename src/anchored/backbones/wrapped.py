"""Any torch module as a backbone: its feature dimension is found by one forward pass of zeros.

The pass runs in evaluation mode and without gradients; training modes, buffers and the global
generator are restored afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from anchored._errors import InputError
from anchored.backbones._base import Backbone, check_shape

__all__ = ["Wrapped", "wrap"]


class Wrapped(Backbone):
    """A module of the user with the declarations of a backbone. Made by :func:`wrap`."""

    def __init__(
        self, module: nn.Module, input_shape: tuple[int, ...], *, feature_dim: int, signed_features: bool
    ) -> None:
        super().__init__(input_shape, feature_dim=feature_dim, signed_features=signed_features)
        self.module = module

    def forward(self, inputs: Tensor) -> Tensor:
        """Return what the module returns, ``(n, d)``."""
        features: Tensor = self.module(inputs)
        return features


def wrap(module: nn.Module, input_shape: Iterable[int], *, signed_features: bool = True) -> Backbone:
    """Return ``module`` as a backbone; its weights are kept, and a backbone is returned as it is.

    Args:
        module: Maps ``(n, *input_shape)`` to features ``(n, d)``.
        input_shape: Shape of one input, without the batch dimension.
        signed_features: False if the module ends in a ReLU (or a mean of one), so that features
            are never negative. One pass cannot tell, so you have to say it; True is always safe.

    Returns:
        A backbone around the module.

    Raises:
        InputError: If the module does not take such inputs or does not return features ``(n, d)``.

    Example:
        >>> net = wrap(nn.Sequential(nn.Linear(4, 6), nn.ReLU()), (4,), signed_features=False)
        >>> net.feature_dim, net.signed_features
        (6, False)
    """
    if isinstance(module, Backbone):
        return module
    if not isinstance(module, nn.Module):
        raise InputError(
            f"module must be a torch.nn.Module, got {type(module).__name__}; pass an instance, not a class"
        )
    shape = check_shape(input_shape)
    features = _probe(module, shape)
    if not isinstance(features, Tensor):
        raise InputError(
            f"module must answer one tensor (n, d), got {type(features).__name__}; return the features only"
        )
    if features.ndim != 2 or features.shape[0] != 1:
        way_out = "; append nn.AdaptiveAvgPool2d(1) and nn.Flatten()" if features.ndim == 4 else "; append nn.Flatten()"
        raise InputError(
            f"module must answer features (n, d), got {tuple(features.shape)} for inputs {(1, *shape)}{way_out}"
        )
    return Wrapped(module, shape, feature_dim=features.shape[1], signed_features=bool(signed_features))


def _probe(module: nn.Module, shape: tuple[int, ...]) -> object:
    """Return the output for one input of zeros, and restore everything that the pass could change."""
    like = next((p for p in module.parameters() if p.is_floating_point()), torch.empty(0))
    modes = [(part, part.training) for part in module.modules()]
    buffers = {name: buffer.clone() for name, buffer in module.named_buffers()}
    module.eval()
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            return module(torch.zeros(1, *shape, dtype=like.dtype, device=like.device))
    except (RuntimeError, ValueError, TypeError, IndexError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise InputError(
            f"module does not take inputs {(1, *shape)}: {reason}; check input_shape={shape} against its first layer"
        ) from error
    finally:
        for part, training in modes:
            part.training = training
        with torch.no_grad():
            for name, buffer in module.named_buffers():
                if name in buffers:
                    buffer.copy_(buffers[name])
