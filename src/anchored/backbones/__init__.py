"""Networks from inputs to features ``(n, d)``: each declares the length of its features and their sign.

Every network of the paper ends in a ReLU, so its features fill only the non-negative orthant;
the prototypes of a head should know (``features="nonnegative"``). ``last_relu=False`` drops that
ReLU. :func:`get` builds by name, :func:`auto` chooses a name, :func:`wrap` takes any torch module,
:class:`Fork` cuts networks into a shared trunk and branches; :func:`build` fills the layers of any module by a
law for first weights, from a generator.
"""

from anchored.backbones._auto import auto
from anchored.backbones._base import Backbone, check_shape
from anchored.backbones._initialise import IMAGENET, KAIMING_NORMAL, OLTR, PLAIN, TORCH_LINEAR, Law, build
from anchored.backbones.convnet import ConvNet
from anchored.backbones.fork import Fork
from anchored.backbones.mlp import MLP
from anchored.backbones.names import BACKBONES, get
from anchored.backbones.projected import ProjectedBackbone, project
from anchored.backbones.resnet import BasicBlock, Bottleneck, ResNet
from anchored.backbones.wrapped import wrap

__all__ = [
    "BACKBONES",
    "IMAGENET",
    "KAIMING_NORMAL",
    "MLP",
    "OLTR",
    "PLAIN",
    "TORCH_LINEAR",
    "Backbone",
    "BasicBlock",
    "Bottleneck",
    "ConvNet",
    "Fork",
    "Law",
    "ProjectedBackbone",
    "ResNet",
    "auto",
    "build",
    "check_shape",
    "get",
    "project",
    "wrap",
]
