"""Batches through a network while the next ones are being read: threads decode, the caller's thread computes.

A batch always has the same number of rows; the last one is filled up with copies of its first row. The kernels that a
matrix library chooses depend on the shape of a batch, and with them the last bits of the result. With one shape the
vector of an input is the same bits whatever it is encoded together with, in whichever order, on however many threads.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ClassVar

import torch
from torch import Tensor

from anchored.data import Inputs
from anchored.features.base import Encoder

__all__ = ["BatchedEncoder", "stream"]


class BatchedEncoder(Encoder):
    """An encoder that works in two steps: prepare rows (decode, tokenise), then embed them (the network).

    Attributes:
        batch_size: Rows of one batch.
    """

    cached: ClassVar[bool] = True
    batch_size: int = 16

    @abstractmethod
    def prepare(self, inputs: Inputs, index: Tensor) -> Any:  # noqa: ANN401 - pixels or tokens, for `embed`
        """Read the rows at ``index``; called from several threads at once.

        Args:
            inputs: The inputs.
            index: Row numbers ``(b,)``.

        Returns:
            What :meth:`embed` takes.
        """

    @abstractmethod
    def embed(self, prepared: Any) -> Tensor:  # noqa: ANN401 - what `prepare` returned
        """Run the network on prepared rows and return features ``(b, d)``, float32."""

    def transform(self, inputs: Inputs) -> Tensor:
        """Encode inputs, decoding and computing side by side."""
        out = torch.empty(len(inputs), self.dim)
        for rows, features in stream(self, inputs, torch.arange(len(inputs))):
            out[rows] = features
        return out


def stream(
    encoder: BatchedEncoder, inputs: Inputs, rows: Tensor, *, workers: int | None = None
) -> Iterator[tuple[Tensor, Tensor]]:
    """Encode rows batch by batch; at most a few batches are held in memory.

    Args:
        encoder: The encoder.
        inputs: Where rows are read.
        rows: Row numbers ``(m,)``, encoded in this order.
        workers: Threads that read; by default one per core, at most eight.

    Yields:
        Row numbers ``(b,)`` and their features ``(b, d)``.

    Example:
        >>> from anchored.data import TensorInputs
        >>> from anchored.features import from_module
        >>> rows = TensorInputs(torch.eye(3))
        >>> encoder = from_module(torch.nn.Identity(), batch_size=2).fit(rows)
        >>> [index.tolist() for index, _ in stream(encoder, rows, torch.tensor([2, 0, 1]))]
        [[2, 0], [1]]
    """
    threads = min(8, os.cpu_count() or 1) if workers is None else workers
    batches = torch.split(rows, encoder.batch_size) if len(rows) else ()
    waiting: deque[tuple[Tensor, Future[Any]]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="anchored-read")
    try:
        for batch in batches:
            waiting.append((batch, pool.submit(encoder.prepare, inputs, _filled(batch, encoder.batch_size))))
            if len(waiting) > 2 * threads:
                yield _embedded(encoder, *waiting.popleft())
        while waiting:
            yield _embedded(encoder, *waiting.popleft())
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _filled(batch: Tensor, size: int) -> Tensor:
    missing = size - len(batch)
    return batch if missing <= 0 else torch.cat([batch, batch[:1].expand(missing)])


def _embedded(encoder: BatchedEncoder, batch: Tensor, prepared: Future[Any]) -> tuple[Tensor, Tensor]:
    with torch.inference_mode():
        features = encoder.embed(prepared.result())
    return batch, features[: len(batch)].clone()
