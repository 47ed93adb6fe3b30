r"""First weights, drawn from a given generator: laws for convolutions and linear layers.

With fan-in :math:`m` and fan-out :math:`n` (inputs and outputs times kernel area),

===================  ==========================================  ==========================================
law                  convolution                                 linear
===================  ==========================================  ==========================================
``NOISY_LABELS``     :math:`U(\pm\sqrt{6/m})`                    :math:`U(\pm\sqrt{6/(m+n)})`
``LONG_TAIL``        :math:`N(0, 2/m)`                           :math:`N(0, 2/m)`
``IMAGENET``         :math:`N(0, 2/n)`                           :math:`U(\pm 1/\sqrt{m})`
``OLTR``             :math:`N(0, 2/m)`                           :math:`U(\pm 1/\sqrt{m})`
``PLAIN``            :math:`U(\pm\sqrt{6/m})`                    :math:`U(\pm\sqrt{6/m})`
===================  ==========================================  ==========================================

Biases keep torch's :math:`U(\pm 1/\sqrt m)`; batch normalisation starts at weight 1, bias 0.

torch's layers draw from the global generator when they are made. Here they are made without
storage, on the meta device, and then filled: building a network neither reads nor changes the
global generator.

References:
    Ma et al., 2020 (noisy labels), Cao et al., 2019 (long tail), torchvision (ImageNet) and Liu et al., 2019 (OLTR):
    the files that set up their networks. ``PLAIN`` is ours, for networks that are in no paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import torch
from torch import Tensor, nn

from anchored._random import generator_or_default

__all__ = ["IMAGENET", "LONG_TAIL", "NOISY_LABELS", "OLTR", "PLAIN", "Law", "build", "fill_"]

Fill = Callable[..., Tensor]
M = TypeVar("M", bound=nn.Module)


@dataclass(frozen=True)
class Law:
    """How weights are drawn: each entry is a function that fills a tensor in place, given ``generator=``."""

    conv: Fill
    linear: Fill


KAIMING_UNIFORM: Fill = partial(nn.init.kaiming_uniform_, mode="fan_in", nonlinearity="relu")
KAIMING_NORMAL: Fill = partial(nn.init.kaiming_normal_, mode="fan_in", nonlinearity="relu")
KAIMING_NORMAL_OUT: Fill = partial(nn.init.kaiming_normal_, mode="fan_out", nonlinearity="relu")
TORCH_LINEAR: Fill = partial(nn.init.kaiming_uniform_, a=math.sqrt(5))

NOISY_LABELS = Law(conv=KAIMING_UNIFORM, linear=nn.init.xavier_uniform_)
LONG_TAIL = Law(conv=KAIMING_NORMAL, linear=KAIMING_NORMAL)
IMAGENET = Law(conv=KAIMING_NORMAL_OUT, linear=TORCH_LINEAR)
PLAIN = Law(conv=KAIMING_UNIFORM, linear=KAIMING_UNIFORM)
OLTR = Law(conv=KAIMING_NORMAL, linear=TORCH_LINEAR)


def build(make: Callable[[], M], law: Law, generator: torch.Generator | None) -> M:
    """Make a module and fill it by a law from a generator.

    Weights are drawn on the CPU and then moved to torch's default device, so they are the same on
    every device. If the default device is ``meta`` nothing is drawn: good for counting parameters.

    Args:
        make: Makes the module; it is called on the meta device.
        law: How weights are drawn.
        generator: Source of the weights; None means seed 0.

    Returns:
        The module, with weights on the default device.

    Example:
        >>> layer = build(lambda: nn.Linear(3, 2), PLAIN, torch.Generator().manual_seed(0))
        >>> bool(layer.weight.abs().max() <= math.sqrt(6 / 3))
        True
    """
    device = torch.get_default_device()
    with torch.device("meta"):
        module = make()
    if device.type == "meta":
        return module
    module.to_empty(device="cpu")
    fill_(module, law, generator_or_default(generator))
    return module.to(device)


def fill_(module: nn.Module, law: Law, generator: torch.Generator) -> None:
    """Draw every parameter of ``module`` anew, layer after layer, and reset its buffers.

    Args:
        module: The module to fill, in place.
        law: How weights are drawn.
        generator: Source of the weights.

    Raises:
        TypeError: If the module holds a kind of layer without a law.

    Example:
        >>> layer = nn.Linear(3, 2)
        >>> fill_(layer, PLAIN, torch.Generator().manual_seed(0))
        >>> again = nn.Linear(3, 2)
        >>> fill_(again, PLAIN, torch.Generator().manual_seed(0))
        >>> torch.equal(layer.weight, again.weight)
        True
    """
    for layer in module.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            fill = law.conv if isinstance(layer, nn.Conv2d) else law.linear
            fill(layer.weight, generator=generator)
            if layer.bias is not None:
                bound = 1 / math.sqrt(layer.weight[0].numel())
                nn.init.uniform_(layer.bias, -bound, bound, generator=generator)
        elif isinstance(layer, nn.BatchNorm1d | nn.BatchNorm2d):
            layer.reset_parameters()  # constants only: no randomness
        elif [*layer.parameters(recurse=False), *layer.buffers(recurse=False)]:
            raise TypeError(f"no law for the parameters of {type(layer).__name__}; add one to fill_")
