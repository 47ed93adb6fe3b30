"""One epoch of our loop against a bare loop over ready tensors, and against a DataLoader with per-sample transforms.

The bare loop does forward, backward and step on tensors that were normalised and shuffled beforehand, and nothing
else: no augmentation, no clipping, no accounting, no checks. It is the speed limit. The ordinary way is a
``DataLoader`` whose data set normalises and augments one sample at a time, in the main process, on contiguous tensors.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from anchored import backbones, losses
from anchored._random import stream
from anchored.bench._measure import Result, seconds
from anchored.data import NORMALIZATIONS, Batches, Compose, Dataset, HorizontalFlip, PaddedCrop, TensorInputs
from anchored.heads import LinearHead
from anchored.methods import Classifier
from anchored.training import Plan, Runtime, State, train

__all__ = ["run"]

_BATCH = 128
_CASES = (
    # name, backbone, input shape, classes, samples, normalisation, augment, clip
    ("MNIST CNN", "cnn4", (1, 28, 28), 10, 5120, "mnist", False, 5.0),
    ("ResNet-32", "resnet32", (3, 32, 32), 100, 640, "cifar-longtail", True, None),
)


def run() -> Result:
    """Measure samples per second of the three loops, as ratios to the bare one."""
    rows = []
    for name, backbone, shape, k, n, normalization, augment, clip in _CASES:
        dataset = _random_images(n, shape, k)
        ours, bare, ordinary = seconds(
            [
                _ours(dataset, _model(backbone, shape, k), normalization, augment, clip),
                _bare(dataset, _model(backbone, shape, k), normalization),
                _ordinary(dataset, _model(backbone, shape, k), normalization, augment),
            ],
            repeats=5,
        )
        rows.append((name, n / ours, n / bare, n / ordinary, bare / ours, ordinary / ours))
    return Result(
        title="Training, images per second",
        columns=("network", "ours", "bare loop", "DataLoader", "ours / bare", "ours / DataLoader"),
        rows=tuple(rows),
        note="ours / bare should be at least 0.95; the three take turns, the medians of five epochs are shown.",
        facts={f"ours_over_bare_{row[0]}": row[4] for row in rows},
    )


def _random_images(n: int, shape: tuple[int, int, int], k: int) -> Dataset:
    generator = stream(0, "bench")
    images = torch.randint(256, (n, *shape), generator=generator, dtype=torch.uint8)
    labels = torch.randint(k, (n,), generator=generator)
    return Dataset("random", TensorInputs(images), labels, tuple(map(str, range(k))))


def _model(name: str, shape: tuple[int, int, int], k: int) -> Classifier:
    backbone = backbones.get(name, shape)
    return Classifier(backbone, LinearHead(backbone.feature_dim, k))


def _ours(
    dataset: Dataset, model: Classifier, normalization: str, augment: bool, clip: float | None
) -> Callable[[], object]:
    model = model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    batches = Batches(
        dataset,
        batch_size=_BATCH,
        normalize=NORMALIZATIONS[normalization],
        augment=Compose(PaddedCrop(4), HorizontalFlip()) if augment else None,
    )
    plan = Plan(
        loss=losses.CrossEntropy(),
        epochs=1,
        batch_size=_BATCH,
        seed=0,
        learning_rate=lambda epoch: 0.01,
        clip=clip,
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    runtime = Runtime(torch.device("cpu"))
    return lambda: train(plan, State(model, optimizer), batches, runtime=runtime)


def _bare(dataset: Dataset, model: Classifier, normalization: str) -> Callable[[], object]:
    model = model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    images = dataset.inputs.take(torch.arange(len(dataset)))
    inputs = NORMALIZATIONS[normalization](images).contiguous(memory_format=torch.channels_last)
    pairs = list(zip(torch.split(inputs, _BATCH), torch.split(dataset.labels, _BATCH), strict=True))
    return lambda: _steps(model, pairs)


def _ordinary(dataset: Dataset, model: Classifier, normalization: str, augment: bool) -> Callable[[], object]:
    samples = _Samples(dataset, normalization, augment)
    loader = torch.utils.data.DataLoader(
        samples, batch_size=_BATCH, shuffle=True, generator=stream(0, "bench-order"), num_workers=0
    )
    return lambda: _steps(model, loader)


def _steps(model: nn.Module, pairs: object) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    model.train()
    for inputs, labels in pairs:  # type: ignore[attr-defined]
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(F.cross_entropy(model(inputs), labels))
        optimizer.step()


class _Samples(torch.utils.data.Dataset[tuple[Tensor, Tensor]]):
    """A data set as most projects write it: one sample at a time, to float, normalised, cropped and flipped."""

    def __init__(self, dataset: Dataset, normalization: str, augment: bool) -> None:
        self.images = dataset.inputs.take(torch.arange(len(dataset)))
        self.labels = dataset.labels
        constants = NORMALIZATIONS[normalization]
        self.mean = torch.tensor(constants.mean).view(-1, 1, 1)
        self.std = torch.tensor(constants.std).view(-1, 1, 1)
        self.augment = augment
        self.generator = stream(0, "bench-augment")

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        image = (self.images[index].float() / 255 - self.mean) / self.std
        if self.augment:
            top, left, flip = torch.randint(9, (3,), generator=self.generator).tolist()
            height, width = image.shape[1:]
            image = F.pad(image, (4, 4, 4, 4))[:, top : top + height, left : left + width]
            image = image.flip(2) if flip % 2 else image
        return image, self.labels[index]
