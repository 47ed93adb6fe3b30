"""Backbones of the timm library, as ``timm:NAME``; timm is not a dependency and is imported on use only.

timm draws weights from the global generator. That generator is set from ``generator`` while the model is built and
restored afterwards, so the result depends on ``generator`` alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

import torch

from anchored._errors import InputError
from anchored._names import suggest
from anchored._random import generator_or_default
from anchored.backbones._base import Backbone, check_image
from anchored.backbones.wrapped import wrap

__all__ = ["from_timm"]


def from_timm(
    name: str,
    input_shape: Iterable[int],
    *,
    last_relu: bool = True,
    generator: torch.Generator | None = None,
    signed_features: bool = True,
    **options: object,
) -> Backbone:
    """Return the model that timm calls ``name``, without its classifier.

    Args:
        name: timm's name, for instance ``"resnet18"``, without the ``timm:`` in front.
        input_shape: ``(channels, height, width)``.
        last_relu: Must be True: the model itself decides whether there is a last ReLU.
        generator: Source of the weights; None means seed 0.
        signed_features: False for a model known to end in a ReLU.
        options: Passed on to ``timm.create_model``, for instance ``pretrained=True``.

    Returns:
        The model as a backbone.

    Raises:
        InputError: If timm is not installed, does not work with this torch, or does not know the name.
    """
    channels, height, width = check_image(f"timm:{name}", input_shape, smallest=1)
    if not last_relu:
        raise InputError(f"last_relu=False is not possible for 'timm:{name}'; choose a model without a last ReLU")
    try:
        timm = import_module("timm")
    except ImportError as error:
        raise InputError(f"backbone 'timm:{name}' needs timm ({error}); run `pip install timm`") from error
    except (RuntimeError, AttributeError, OSError) as error:  # a torchvision that was built for another torch
        why = str(error).partition("\n")[0]
        raise InputError(
            f"backbone 'timm:{name}' needs timm, which does not work with the installed torch ({why}); "
            "install the torchvision that belongs to it"
        ) from None
    known = timm.list_models()
    if name.partition(".")[0] not in known:
        near = suggest(name, known)
        if near.startswith("choose"):  # timm knows more than a thousand: do not print them all
            near = "see timm.list_models()"
        raise InputError(f"unknown timm model {name!r}; {near}")
    seed = int(torch.randint(2**62, (), generator=generator_or_default(generator)))
    with torch.random.fork_rng(devices=[]):
        torch.set_rng_state(torch.Generator().manual_seed(seed).get_state())
        module = timm.create_model(name, num_classes=0, in_chans=channels, **options)
    return wrap(module, (channels, height, width), signed_features=signed_features)
