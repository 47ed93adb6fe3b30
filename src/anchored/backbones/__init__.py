"""Networks from inputs to features ``(n, d)``: each says how long its features are and whether they can be negative.

Every network of the paper ends in a ReLU, so its features fill only the non-negative orthant;
the prototypes of a head should know (``features="nonnegative"``). ``last_relu=False`` drops that
ReLU. :func:`make` builds by name, :func:`auto` chooses a name, :func:`wrap` takes any torch module,
:class:`Fork` cuts networks into a shared trunk and branches.
"""

from __future__ import annotations

from anchored.backbones._auto import auto as auto
from anchored.backbones._base import Backbone as Backbone
from anchored.backbones._make import BACKBONES as BACKBONES
from anchored.backbones._make import make as make
from anchored.backbones.convnet import ConvNet as ConvNet
from anchored.backbones.fork import Fork as Fork
from anchored.backbones.mlp import MLP as MLP
from anchored.backbones.projected import ProjectedBackbone as ProjectedBackbone
from anchored.backbones.projected import project as project
from anchored.backbones.resnet import BasicBlock as BasicBlock
from anchored.backbones.resnet import Bottleneck as Bottleneck
from anchored.backbones.resnet import ResNet as ResNet
from anchored.backbones.wrapped import wrap as wrap

__all__ = [
    "BACKBONES",
    "MLP",
    "Backbone",
    "BasicBlock",
    "Bottleneck",
    "ConvNet",
    "Fork",
    "ProjectedBackbone",
    "ResNet",
    "auto",
    "make",
    "project",
    "wrap",
]
