"""Sets of vectors with labels of which it is known which are wrong: the grid on which the audit is measured.

Digits, MNIST and tables get wrong labels by a law; the labels of CIFAR-10N and AG News are people's own mistakes. Some
sets are clean, and some of those are hard: normal clouds that overlap, where a good judge is often contradicted by
labels that are all right. Truth is for scoring alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from anchored import imbalance, noise
from anchored._random import stream
from anchored.bench.tables import load
from anchored.data import Dataset, load_agnews, load_cifar10n, load_mnist
from anchored.features import encode

__all__ = ["NoisySet", "noisy_sets"]

_LAWS = ("clean", "symmetric 0.2", "symmetric 0.4", "symmetric 0.6", "asymmetric 0.3", "instance 0.3", "long tail")
_COMPARED_LAWS = ("symmetric 0.2", "symmetric 0.4", "symmetric 0.6", "asymmetric 0.3", "long tail")
_TABLES = ("satimage", "segment", "phoneme")
_SMALL_TABLES = ("breast-cancer", "wine")
_CLOUDS = (1.0, 1.7, 2.5)
"""Distances between the centres of overlapping clouds, in deviations."""
_MNIST_SAMPLES, _CLOUD_SAMPLES, _CLOUD_CLASSES, _CLOUD_DIMENSIONS = 4_000, 2_000, 4, 10
_RATIO = 50
_PHOTOS = 10_000


@dataclass(frozen=True, eq=False)
class NoisySet:
    """Vectors with given and true labels.

    Attributes:
        data: Name of the data.
        law: What happened to its labels.
        X: Features ``(n, d)``.
        labels: Given labels ``(n,)``.
        truth: True labels ``(n,)``, for scoring alone.
        k: Number of classes.
        compared: Whether other libraries are asked too.
    """

    data: str
    law: str
    X: Tensor
    labels: Tensor
    truth: Tensor
    k: int
    compared: bool = False


def noisy_sets(data_root: str | Path | None = None, *, seed: int = 0) -> Iterator[NoisySet]:
    """Yield the sets of the grid one after the other.

    Args:
        data_root: Where MNIST, CIFAR-10N and NoisyAG-News lie (see :mod:`anchored.data.human`); what is missing is left
            out. Photos and texts are encoded once; if ``features/cifar10n.npz`` and ``features/agnews.npz`` (``X`` and
            the labels) lie in it or beside it, they are used instead.
        seed: Seed of the noise.
    """
    X, y = load("digits")
    yield from _all_laws("digits", torch.from_numpy(X), torch.from_numpy(y), seed)
    if data_root is not None and (Path(data_root) / "MNIST").is_dir():
        yield from _all_laws("mnist", *_mnist(Path(data_root)), seed)
    for name in _TABLES:
        X, y = load(name)
        for law in ("clean", "symmetric 0.2", "symmetric 0.4", "instance 0.3"):
            compared = law in ("symmetric 0.2", "instance 0.3")
            yield _corrupted(name, law, torch.from_numpy(X), torch.from_numpy(y), seed, compared)
    for name in _SMALL_TABLES:
        X, y = load(name)
        for law in ("clean", "symmetric 0.2"):
            yield _corrupted(name, law, torch.from_numpy(X), torch.from_numpy(y), seed, False)
    for distance in _CLOUDS:
        for law in ("clean", "symmetric 0.2", "symmetric 0.4"):
            yield _corrupted(f"clouds {distance:g}", law, *_clouds(distance, seed), seed, False)
    for name in ("cifar10n", "agnews"):
        yield from _human(name, data_root, seed)


def _all_laws(name: str, X: Tensor, y: Tensor, seed: int) -> Iterator[NoisySet]:
    for law in _LAWS:
        yield _corrupted(name, law, X, y, seed, law in _COMPARED_LAWS)


def _corrupted(name: str, law: str, X: Tensor, truth: Tensor, seed: int, compared: bool) -> NoisySet:
    """Give true labels wrong ones by a law."""
    k, generator = int(truth.max()) + 1, stream(seed, "bench-audit", name, law)
    if law == "clean":
        return NoisySet(name, law, X, truth, truth, k, compared)
    kind, _, number = law.partition(" ")
    if kind == "long":
        sizes = imbalance.counts(int(truth.bincount().max()), k, _RATIO)
        kept = imbalance.subset(truth, torch.minimum(torch.as_tensor(sizes), truth.bincount()), generator=generator)
        X, truth = X[kept], truth[kept]
        return NoisySet(name, law, X, noise.symmetric(truth, 0.2, k, generator=generator).labels, truth, k, compared)
    eta = float(number)
    if kind == "symmetric":
        given = noise.symmetric(truth, eta, k, generator=generator).labels
    elif kind == "asymmetric":
        given = noise.asymmetric(truth, eta, {c: (c + 1) % k for c in range(k)}, generator=generator).labels
    else:
        spread = X.double().std(dim=0)
        rows = (X.double() - X.double().mean(dim=0)) / torch.where(spread > 0, spread, 1.0) / math.sqrt(X.shape[1])
        given = noise.instance_dependent(rows, truth, eta, k, generator=generator).labels
    return NoisySet(name, law, X, given, truth, k, compared)


def _mnist(root: Path) -> tuple[Tensor, Tensor]:
    train = load_mnist(root).train
    part = torch.randperm(len(train), generator=stream(0, "bench-audit"))[:_MNIST_SAMPLES].sort().values
    return train.inputs.take(part).flatten(1).float(), train.labels[part]


def _clouds(distance: float, seed: int) -> tuple[Tensor, Tensor]:
    """Draw normal clouds whose centres lie at equal distances: the closer they are, the harder to tell apart."""
    generator = stream(seed, "bench-audit clouds", str(distance))
    truth = torch.arange(_CLOUD_SAMPLES) % _CLOUD_CLASSES
    centres = distance / math.sqrt(2) * torch.eye(_CLOUD_CLASSES, _CLOUD_DIMENSIONS)
    return centres[truth] + torch.randn(_CLOUD_SAMPLES, _CLOUD_DIMENSIONS, generator=generator), truth


def _human(name: str, data_root: str | Path | None, seed: int) -> Iterator[NoisySet]:
    """Yield what people labelled, and the same vectors with clean and with symmetrically wrong labels."""
    arrays = None if data_root is None else _vectors(name, Path(data_root))
    if arrays is None:
        return
    columns = {"aggre": "aggre", "random1": "random1", "worse": "worse"} if "aggre" in arrays else {"y": "people"}
    X, truth = arrays["X"], arrays["clean" if "clean" in arrays else "truth"].long()
    k = int(truth.max()) + 1
    for column, law in columns.items():
        yield NoisySet(name, law, X, arrays[column].long(), truth, k, True)
    for law in ("clean", "symmetric 0.2"):
        yield _corrupted(name, law, X, truth, seed, False)


def _vectors(name: str, root: Path) -> dict[str, Tensor] | None:
    """Read encoded photos or texts with their labels, or encode them now; None if they are not there."""
    for folder in (root / "features", root.parent / "features"):
        if (folder / f"{name}.npz").is_file():
            with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
                return {key: torch.from_numpy(file[key]) for key in file.files if file[key].dtype.kind in "iuf"}
    if name == "agnews":
        if not (root / "agnews" / "train.csv").is_file():
            return None
        texts = load_agnews(root).train
        assert texts.clean_labels is not None, "the file has the truth beside the labels"
        return {"X": _encoded(texts, "wordllama+tfidf"), "y": texts.labels, "truth": texts.clean_labels}
    if not (root / "cifar10n" / "labels.npz").is_file():
        return None
    columns = {labels: load_cifar10n(root, labels).train for labels in ("aggre", "random1", "worse")}
    photos = columns["aggre"]
    assert photos.clean_labels is not None, "the file has the truth beside the labels"
    part = torch.randperm(len(photos), generator=stream(0, "bench-audit"))[:_PHOTOS].sort().values
    X = _encoded(photos.subset(part), "efficientnet-lite0")
    return {"X": X, "clean": photos.clean_labels[part], **{name: each.labels[part] for name, each in columns.items()}}


def _encoded(dataset: Dataset, encoder: str) -> Tensor:
    vectors = encode(dataset, encoder)
    return vectors.inputs.take(torch.arange(len(vectors)))
