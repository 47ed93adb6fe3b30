"""What tests build again and again: data that is easy to tell apart, and the configuration of a run on it."""

import torch

from anchored import backbones
from anchored._random import stream
from anchored.data import Dataset, Split, TensorInputs
from anchored.methods import BuildContext, parse
from anchored.runs import RunData, decide
from anchored.training import validate

__all__ = ["blobs", "build_context", "resolved"]


def blobs(n=240, k=3, *, d=6, counts=None, distance=4.0, seed=0, name="blobs"):
    """Normal clouds around the first k unit vectors, ``distance`` times as far out as they are wide.

    Args:
        n: Samples, the classes in turns.
        k: Classes, called a, b, c …
        d: Dimensions, at least k.
        counts: Samples of each class instead of ``n`` and ``k``, class after class.
        distance: How far the clouds lie from the origin.
        seed: Of the cloud.
        name: What the data set is called.
    """
    k = k if counts is None else len(counts)
    labels = torch.arange(n) % k if counts is None else torch.arange(k).repeat_interleave(torch.tensor(counts))
    generator = torch.Generator().manual_seed(seed)
    rows = distance * torch.eye(k, d)[labels] + torch.randn(len(labels), d, generator=generator)
    return Dataset(name, TensorInputs(rows), labels, tuple("abcdefghijklmnopqrstuvwxyz"[:k]))


def resolved(settings, dataset):
    """The configuration of a run on ``dataset`` that does not look at the labels."""
    asked = validate({**settings, "look": None})
    return decide(asked, RunData.open(Split(dataset), asked), None).config


def build_context(method, backbone="tiny", shape=(6,), counts=(40, 20, 10, 5), **settings):
    """What a method builds from: a small backbone for vectors of length 6, and four unbalanced classes."""
    return BuildContext(
        method=parse(method),
        backbone=lambda name="init", /: backbones.get(backbone, shape, generator=stream(0, name)),
        counts=torch.tensor(counts),
        **settings,
    )
