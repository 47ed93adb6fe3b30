"""Small inputs and networks that the tests of features share."""

from functools import cache
from importlib.util import find_spec

import numpy as np
import torch
from PIL import Image
from torch import nn

from anchored.data import FileInputs, TensorInputs


class Texts:
    """What encoders of text read: ``texts`` and the empty shape."""

    shape = ()

    def __init__(self, texts):
        self.texts = tuple(texts)

    def __len__(self):
        return len(self.texts)

    def subset(self, index):
        return Texts([self.texts[i] for i in index.tolist()])


WORDS = ("good", "bad", "film", "book", "market", "goal", "vote", "planet", "ünïcödé", "日本", "😀", "x")


def some_texts(n, seed=0):
    """Texts of one to thirty words, and one empty one."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 30, (n,), generator=generator).tolist()
    texts = [" ".join(WORDS[i] for i in torch.randint(len(WORDS), (m,), generator=generator)) for m in lengths]
    return Texts(["", *texts[1:]])


def some_images(n, side=20, channels=3, seed=0):
    """Smooth random images in memory."""
    generator = torch.Generator().manual_seed(seed)
    coarse = torch.rand(n, channels, 4, 4, generator=generator) * 255
    return TensorInputs(nn.functional.interpolate(coarse, (side, side), mode="bilinear").to(torch.uint8))


def write_photos(folder, n, size=(48, 64), ending="jpg", seed=0):
    """Smooth random photos as files, and the inputs that read them."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    paths = []
    for i in range(n):
        coarse = Image.fromarray(rng.integers(0, 256, (4, 5, 3), dtype=np.uint8))
        paths.append(folder / f"{i}.{ending}")
        coarse.resize((size[1], size[0]), Image.Resampling.BICUBIC).save(paths[-1])
    return FileInputs(paths, (3, min(size), min(size)))


def tiny_network(channels=3, dim=6, seed=0):
    """A small convolution with fixed weights."""
    network = nn.Sequential(nn.Conv2d(channels, dim, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.1)
    return network


class Heard:
    """A progress that remembers."""

    def __init__(self):
        self.samples, self.lines, self.total, self.stopped = 0, [], None, 0

    def start(self, *, samples):
        self.total = samples

    def step(self, *, samples):
        self.samples += samples

    def say(self, line):
        self.lines.append(line)

    def stop(self):
        self.stopped += 1


@cache
def shim_torchvision():
    """Let a torchvision that was built for CUDA be imported beside torch for the processor; returns what must live."""
    if find_spec("torchvision") is None or "cpu" not in torch.__version__:
        return None
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return library
