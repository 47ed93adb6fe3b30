"""Builders that several test files share."""

import torch

from anchored import backbones
from anchored._random import stream
from anchored.methods import BuildContext, parse


def build_context(method, backbone="tiny", shape=(6,), counts=(40, 20, 10, 5), **settings):
    """What a method builds from: a small backbone for vectors of length 6, and four unbalanced classes."""
    return BuildContext(
        method=parse(method),
        backbone=lambda name="init", /: backbones.make(backbone, shape, generator=stream(0, name)),
        counts=torch.tensor(counts),
        **settings,
    )
