"""What tests build again and again: data that is easy to tell apart, and the configuration of a run on it."""

import torch

from anchored import backbones
from anchored._random import stream
from anchored.data import Dataset, TensorInputs
from anchored.methods import BuildContext, parse
from anchored.runs import RunData, decide
from anchored.training import validate

__all__ = ["batch", "blobs", "build_context", "resolved"]


def batch(n=32, k=5, *, scale=1.0, dtype=torch.float32, seed=0):
    """Logits ``(n, k)`` and labels ``(n,)``, both at random.

    Args:
        n: Samples.
        k: Classes.
        scale: Standard deviation of the logits.
        dtype: Their type.
        seed: Seed of both.
    """
    generator = torch.Generator().manual_seed(seed)
    logits = scale * torch.randn(n, k, generator=generator, dtype=dtype)
    return logits, torch.randint(k, (n,), generator=generator)


def blobs(n=240, k=3, *, d=6, counts=None, distance=4.0, spread=1.0, names=None, weights=None, seed=0, name="blobs"):
    """Normal clouds around the first k unit vectors.

    Args:
        n: Samples, the classes in turns.
        k: Classes, called a, b, c …
        d: Dimensions, at least k.
        counts: Samples of each class instead of ``n`` and ``k``, class after class.
        distance: How far the clouds lie from the origin.
        spread: Standard deviation of a cloud in each direction.
        names: Names of the classes; a, b, c … by default.
        weights: Weights of the samples.
        seed: Seed of the clouds.
        name: What the data set is called.
    """
    k = k if counts is None else len(counts)
    labels = torch.arange(n) % k if counts is None else torch.arange(k).repeat_interleave(torch.tensor(counts))
    generator = torch.Generator().manual_seed(seed)
    rows = distance * torch.eye(k, d)[labels] + spread * torch.randn(len(labels), d, generator=generator)
    names = tuple("abcdefghijklmnopqrstuvwxyz"[:k]) if names is None else tuple(names)
    return Dataset(name, TensorInputs(rows), labels, names, weights=weights)


def resolved(settings, dataset):
    """The configuration of a run on ``dataset`` that does not look at the labels."""
    settings = validate({**settings, "look": None})
    return decide(settings, RunData(dataset, dataset), None).config


def build_context(method, backbone="tiny", shape=(6,), counts=(40, 20, 10, 5), **settings):
    """What a method builds from: a small backbone for vectors of length 6, and four unbalanced classes."""
    return BuildContext(
        method=parse(method),
        backbone=lambda name="init", /: backbones.get(backbone, shape, generator=stream(0, name)),
        counts=torch.tensor(counts),
        **settings,
    )
