"""From a data set of photos, texts or rows to one of vectors, encoded once and kept in the cache."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored.data import Dataset, Inputs, TensorInputs
from anchored.features.base import Encoder
from anchored.features.cache import FeatureCache, Space
from anchored.features.keys import content_keys, describe_source
from anchored.features.names import get, kind_of
from anchored.features.progress import Progress
from anchored.features.spread import on_ray
from anchored.features.stream import BatchedEncoder, stream

__all__ = ["SHARD_ROWS", "encode", "encode_each", "features_of"]

SHARD_ROWS = 1024
"""Rows that are written to the cache at a time: what a killed run loses at most."""
_WINDOW = 4 * SHARD_ROWS
_THREADS = 4
_MEASURED_SECONDS, _MEASURED_ROWS = 1.0, 64
Computed = Iterator[tuple[Tensor, Tensor]]
Compute = Callable[[BatchedEncoder, Inputs, Tensor], Computed]


def encode(
    data: Dataset,
    encoder: str | Encoder = "auto",
    *,
    weights: str | Path | None = None,
    cache: FeatureCache | str | Path | bool = True,
    progress: Progress | None = None,
    on: Literal["local", "ray"] = "local",
) -> Dataset:
    """Encode the inputs of a data set; labels, names and everything else stay as they are.

    An encoder given by name is fitted on ``data``. To encode a test set in the same way as the training set, make the
    encoder first: ``encoder = features.get("auto", inputs=train.inputs).fit(train.inputs)``, then encode both with it.

    Args:
        data: Photos, texts or rows of a table. A data set of vectors is returned as it is.
        encoder: A name for :func:`anchored.features.get`, or an encoder.
        weights: A file of weights, if the encoder is given by name.
        cache: Where vectors are kept: True for the default place, False for nowhere, a folder, or a cache.
        progress: Hears how it goes on.
        on: ``"local"``, or ``"ray"`` to spread the work over a Ray cluster.

    Returns:
        The data set with vectors ``(n, d)``, float32, as inputs.

    Raises:
        InputError: If an input cannot be read or encoded; the line names it.

    Example:
        >>> from anchored.data import from_arrays
        >>> photos = from_arrays(torch.zeros(2, 3, 8, 8, dtype=torch.uint8), torch.tensor([0, 1]))
        >>> from anchored.features import from_module
        >>> tiny = from_module(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 4)), size=(8, 8))
        >>> vectors = encode(photos, tiny, cache=False)
        >>> vectors.inputs.shape, vectors.labels.tolist()
        ((4,), [0, 1])
    """
    if on not in ("local", "ray"):
        raise InputError(f"on must be 'local' or 'ray', got {on!r}")
    if kind_of(data.inputs) == "vector" and (encoder == "auto" or getattr(encoder, "kind", "") in ("image", "text")):
        return data
    made = get(encoder, inputs=data.inputs, weights=weights) if isinstance(encoder, str) else encoder
    if not getattr(made, "fitted", True) or isinstance(encoder, str):
        made = made.fit(data.inputs)
    features = features_of(data.inputs, made, cache=cache, progress=progress, on=on)
    return replace(data, inputs=TensorInputs(features), columns=None)


def features_of(
    inputs: Inputs,
    encoder: Encoder,
    *,
    cache: FeatureCache | str | Path | bool = True,
    progress: Progress | None = None,
    on: Literal["local", "ray"] = "local",
) -> Tensor:
    """Encode inputs with a fitted encoder, through the cache.

    Args:
        inputs: What to encode.
        encoder: A fitted encoder.
        cache: As in :func:`encode`.
        progress: Hears how it goes on.
        on: ``"local"`` or ``"ray"``.

    Returns:
        Features ``(n, d)``, float32, finite.

    Example:
        >>> from anchored.features import from_module
        >>> rows = TensorInputs(torch.eye(3))
        >>> features_of(rows, from_module(torch.nn.Identity()).fit(rows), cache=False)[1]
        tensor([0., 1., 0.])
    """
    told = Progress() if progress is None else progress
    told.start(samples=len(inputs))
    try:
        if not isinstance(encoder, BatchedEncoder):
            features = encoder.transform(inputs)
            told.step(samples=len(inputs))
        else:
            features = _batched(inputs, encoder, _space(inputs, encoder, cache, told), told, _COMPUTE[on])
    finally:
        told.stop()
    if not bool(torch.isfinite(features).all()):
        row = int((~torch.isfinite(features)).any(dim=1).nonzero()[0])
        raise InputError(f"{encoder.name}: the features of sample {row} are not finite; try precision='float32'")
    return features


def encode_each(encoder: Encoder, inputs: Inputs, index: Tensor) -> tuple[Tensor, dict[int, str]]:
    """Encode inputs so that one that cannot be read does not stop the others.

    Args:
        encoder: A fitted encoder.
        inputs: Where to read.
        index: Places ``(b,)`` of the inputs wanted.

    Returns:
        Features of the inputs that can be read, in order, and by place in ``index`` why the others cannot.

    Example:
        >>> from anchored.data import FileInputs
        >>> from anchored.features import from_module
        >>> tiny = from_module(torch.nn.Flatten(), size=(2, 2)).fit(TensorInputs(torch.zeros(1, 3, 2, 2)))
        >>> features, errors = encode_each(tiny, FileInputs(["gone.png"], (3, 2, 2)), torch.tensor([0]))
        >>> features.shape, errors
        (torch.Size([0, 12]), {0: 'gone.png: there is no such file'})
    """
    some = inputs.subset(index)
    if not isinstance(encoder, BatchedEncoder):
        return _by_halves(encoder, some)
    try:
        return encoder.transform(some), {}
    except InputError:
        pass  # one by one, to find out which

    def trouble(place: int) -> str | None:
        try:
            encoder.prepare(some, torch.tensor([place]))
        except InputError as error:
            return str(error)
        return None

    with ThreadPoolExecutor(_THREADS) as pool:
        told = list(pool.map(trouble, range(len(index))))
    errors = {place: why for place, why in enumerate(told) if why is not None}
    good = torch.tensor([place for place, why in enumerate(told) if why is None], dtype=torch.int64)
    return encoder.transform(some.subset(good)) if len(good) else torch.empty(0, encoder.dim), errors


def _by_halves(encoder: Encoder, inputs: Inputs) -> tuple[Tensor, dict[int, str]]:
    """Encode all at once, or each half on its own if that fails: few bad rows among many are found quickly."""
    try:
        return encoder.transform(inputs), {}
    except InputError as error:
        if len(inputs) == 1:
            return torch.empty(0, encoder.dim), {0: str(error)}
    middle = len(inputs) // 2
    rows = torch.arange(len(inputs))
    first, wrong = _by_halves(encoder, inputs.subset(rows[:middle]))
    second, others = _by_halves(encoder, inputs.subset(rows[middle:]))
    return torch.cat([first, second]), wrong | {middle + place: why for place, why in others.items()}


def _local(encoder: BatchedEncoder, inputs: Inputs, rows: Tensor) -> Computed:
    return stream(encoder, inputs, rows)


_COMPUTE: dict[str, Compute] = {"local": _local, "ray": on_ray}


def _space(inputs: Inputs, encoder: Encoder, cache: FeatureCache | str | Path | bool, told: Progress) -> Space | None:
    source = describe_source(inputs)
    if cache is False or not encoder.cached or source is None:
        return None
    if not isinstance(cache, FeatureCache):
        cache = FeatureCache(None if cache is True else cache)
    return cache.space(encoder.name, encoder.digest, source, say=told.say)


def _batched(inputs: Inputs, encoder: BatchedEncoder, space: Space | None, told: Progress, compute: Compute) -> Tensor:
    """Go through the inputs window by window: what the cache has is read, the rest computed and written."""
    out = torch.empty(len(inputs), encoder.dim)
    clock = _Clock(encoder.name, len(inputs), told)
    for window in torch.split(torch.arange(len(inputs)), _WINDOW) if len(inputs) else ():
        missing, keys = window, None
        if space is not None:
            keys = content_keys(inputs, window)
            found, features = space.find(keys)
            if len(found) and features.shape[1] == encoder.dim:
                out[window[found]] = features
                there = torch.zeros(len(window), dtype=torch.bool)
                there[found] = True
                missing = window[~there]
                clock.skip(len(found))
        if len(missing):
            keep = _Keeper(space, dict(zip(window.tolist(), keys, strict=True)) if keys else {})
            try:
                for rows, features in compute(encoder, inputs, missing):
                    out[rows] = features
                    keep(rows, features)
                    clock.step(len(rows))
            finally:
                keep.flush()
    return out


class _Keeper:
    """Collects computed rows and writes them to the cache, a shard at a time."""

    def __init__(self, space: Space | None, keys: dict[int, bytes]) -> None:
        self._space, self._keys = space, keys
        self._rows: list[int] = []
        self._features: list[Tensor] = []

    def __call__(self, rows: Tensor, features: Tensor) -> None:
        if self._space is None:
            return
        self._rows += rows.tolist()
        self._features.append(features)
        if len(self._rows) >= SHARD_ROWS:
            self.flush()

    def flush(self) -> None:
        if self._space is not None and self._rows:
            self._space.add([self._keys[row] for row in self._rows], torch.cat(self._features))
        self._rows, self._features = [], []


class _Clock:
    """Says how long it will take as soon as that is known, and passes on how far it is."""

    def __init__(self, name: str, total: int, told: Progress) -> None:
        self._name, self._left, self._told = name, total, told
        self._begun = time.monotonic()
        self._done, self._said = 0, False

    def skip(self, rows: int) -> None:
        """Count rows that were found in the cache."""
        self._left -= rows
        self._told.step(samples=rows)

    def step(self, rows: int) -> None:
        """Count rows that were computed."""
        self._done += rows
        self._left -= rows
        self._told.step(samples=rows)
        spent = time.monotonic() - self._begun
        if not self._said and spent >= _MEASURED_SECONDS and self._done >= _MEASURED_ROWS:
            self._said = True
            seconds = self._left * spent / self._done
            self._told.say(
                f"encoding {self._left + self._done:,} inputs with {self._name}: "
                f"{self._done / spent:,.0f} a second, about {_duration(seconds)} to go"
            )


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
