"""Batches of an epoch: gathered, augmented, converted and normalised as tensors, without Python per sample.

A batch is a function of (data, order, seed, epoch, its number): nothing is remembered between batches, so an epoch
can be taken up at any batch, and workers change nothing but the time it takes. With ``workers`` above zero the
batches ahead are prepared in threads (decoding an image releases the interpreter lock), never more than two per worker.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from anchored._checks import check_integer
from anchored._errors import InputError
from anchored._random import per_index_uniform, stream
from anchored.data.augment import Augmentation, Compose, RandomResizedCrop
from anchored.data.dataset import Dataset
from anchored.data.normalization import Normalization

__all__ = ["Batch", "Batches", "occurrences", "shuffled"]

_OCCURRENCE_SHIFT = 40  # leaves 2**40 samples and 2**23 repetitions of one within an epoch


@dataclass(frozen=True, slots=True)
class Batch:
    """Some samples of a data set: inputs ready for the network, on the device that trains.

    Example:
        >>> len(Batch(torch.zeros(3, 2), torch.tensor([0, 1, 0]), torch.arange(3)))
        3
    """

    inputs: Tensor
    """Floats ``(b, ...)``."""
    labels: Tensor
    """Labels ``(b,)`` int64."""
    index: Tensor
    """Places ``(b,)`` of the samples in the data set, on the CPU."""

    def __len__(self) -> int:
        return len(self.labels)


@runtime_checkable
class CropsAtSource(Protocol):
    """Inputs that can cut a window from the original image, before it was resized."""

    def take_cropped(self, index: Tensor, crop: RandomResizedCrop, uniforms: Tensor) -> Tensor:
        """Cut a random window out of each image.

        Args:
            index: Places ``(b,)`` of the images.
            crop: How windows are chosen.
            uniforms: ``(b, crop.draws)`` in [0, 1).

        Returns:
            Windows ``(b, c, size, size)`` uint8.
        """
        ...


def shuffled(n: int, *, seed: int, epoch: int) -> Tensor:
    """Draw the order of an epoch, a function of (n, seed, epoch) alone.

    Args:
        n: Number of samples.
        seed: Seed of the run.
        epoch: Number of the epoch.

    Returns:
        A permutation ``(n,)`` of ``0..n-1``.

    Example:
        >>> torch.equal(shuffled(5, seed=0, epoch=1).sort().values, torch.arange(5))
        True
    """
    return torch.randperm(n, generator=stream(seed, "order", epoch))


def occurrences(order: Tensor) -> Tensor:
    """Count, for each place of an order, how often its sample came before.

    Example:
        >>> occurrences(torch.tensor([4, 2, 4, 4, 2]))
        tensor([0, 0, 1, 2, 1])
    """
    grouped = order.argsort(stable=True)
    value = order[grouped]
    place = torch.arange(len(order))
    first = torch.ones(len(order), dtype=torch.bool)
    first[1:] = value[1:] != value[:-1]
    start = torch.where(first, place, 0).cummax(dim=0).values if len(order) else place
    return torch.empty_like(place).scatter_(0, grouped, place - start)


class Batches:
    """Batches of a data set, epoch by epoch.

    Args:
        dataset: The data set they are taken from.
        batch_size: Samples per batch; the last one may be smaller.
        augment: Augmentation of the images, or None.
        normalize: Normalisation after it; None only converts, and divides pixels by 255.
        device: Device that the batches go to.
        dtype: Float type of the inputs.
        channels_last: Whether the channels of an image lie innermost, which makes convolutions faster.
        workers: Threads that prepare batches ahead; 0 prepares each when it is asked for.
        drop_last: Whether to leave out a last batch that is not full.

    Raises:
        InputError: If the inputs must be encoded first, or do not fit the augmentation or normalisation.

    Example:
        >>> from anchored.data import load_digits
        >>> batches = Batches(load_digits().train, batch_size=1000)
        >>> [tuple(batch.inputs.shape) for batch in batches.epoch(torch.arange(1437), seed=0, epoch=0)]
        [(1000, 1, 8, 8), (437, 1, 8, 8)]
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        batch_size: int,
        augment: Augmentation | None = None,
        normalize: Normalization | None = None,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
        channels_last: bool = True,
        workers: int = 0,
        drop_last: bool = False,
    ) -> None:
        self.dataset = dataset
        self.batch_size = check_integer("batch_size", batch_size, low=1)
        self.augment = augment
        self.normalize = normalize
        self.device = torch.device(device)
        self.dtype = dtype
        self.channels_last = channels_last
        self.workers = check_integer("workers", workers, low=0)
        self.drop_last = drop_last
        shape = dataset.inputs.shape
        if not shape:
            raise InputError(
                f"{dataset.name}: a {dataset.kind.removesuffix('s')} must be encoded before a network can take it; "
                f"call anchored.features.encode first"
            )
        if augment is not None and len(shape) != 3:
            raise InputError(f"augmentations work on images (c, h, w), the inputs are {shape}; leave augment out")
        if normalize is not None and len(normalize.mean) != shape[0]:
            raise InputError(f"the normalisation has {len(normalize.mean)} channels, the inputs are {shape}")

    def count(self, n: int) -> int:
        """Count the batches that an order of ``n`` samples gives."""
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    def epoch(
        self, order: Tensor, *, seed: int, epoch: int, start: int = 0, occurrence: Tensor | None = None
    ) -> Iterator[Batch]:
        """Go through the batches of ``order`` from number ``start`` on.

        Args:
            order: Sample numbers ``(m,)``; a sample may come several times, and is then augmented anew each time.
            seed: Seed of the run.
            epoch: Number of the epoch.
            start: The first batch wanted, to continue an epoch that was interrupted.
            occurrence: How often each place's sample came before, if ``order`` is a part of a longer one.

        Returns:
            The batches, one after the other.
        """
        order = order.to("cpu", torch.int64)
        if self.augment is not None and occurrence is None:
            occurrence = occurrences(order)
        keys = order if occurrence is None else order + (occurrence << _OCCURRENCE_SHIFT)
        spans = [slice(i * self.batch_size, (i + 1) * self.batch_size) for i in range(start, self.count(len(order)))]
        if self.workers == 0:
            for span in spans:
                yield self._batch(order[span], keys[span], seed, epoch)
            return
        with ThreadPoolExecutor(self.workers, thread_name_prefix="batches") as pool:
            ahead: deque[Future[Batch]] = deque()
            try:
                for span in spans:
                    ahead.append(pool.submit(self._batch, order[span], keys[span], seed, epoch))
                    if len(ahead) > 2 * self.workers:
                        yield ahead.popleft().result()
                while ahead:
                    yield ahead.popleft().result()
            finally:
                for future in ahead:
                    future.cancel()

    def _batch(self, index: Tensor, keys: Tensor, seed: int, epoch: int) -> Batch:
        if self.augment is None:
            inputs = self.dataset.inputs.take(index)
        else:
            uniforms = per_index_uniform(seed, keys, self.augment.draws, "augmentation", epoch)
            inputs = self._augmented(index, self.augment, uniforms)
        labels = self.dataset.labels[index]
        return Batch(self._converted(inputs.to(self.device)), labels.to(self.device), index)

    def _augmented(self, index: Tensor, augment: Augmentation, uniforms: Tensor) -> Tensor:
        inputs = self.dataset.inputs
        first, *rest = augment.parts if isinstance(augment, Compose) and augment.parts else (augment,)
        if isinstance(first, RandomResizedCrop) and isinstance(inputs, CropsAtSource):
            images = inputs.take_cropped(index, first, uniforms[:, : first.draws])
            return Compose(*rest)(images, uniforms[:, first.draws :])
        images = inputs.take(index)
        return augment(images, uniforms.to(images.device))

    def _converted(self, inputs: Tensor) -> Tensor:
        if self.normalize is not None:
            return self.normalize(inputs, dtype=self.dtype, channels_last=self.channels_last)
        out = inputs.to(dtype=self.dtype)
        out = out.div_(255) if inputs.dtype == torch.uint8 else out
        return out.contiguous(memory_format=torch.channels_last) if self.channels_last and out.ndim == 4 else out
