"""Encoding spread over a Ray cluster: each task encodes a thousand rows and hands their vectors back.

The cluster is the one that ``RAY_ADDRESS`` names or this machine belongs to, otherwise a local one is started. Photos
must lie where every machine sees them. A task whose worker dies is done again, on another machine if need be. Batches
have one shape everywhere, so the vectors are those of a local run.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored.data import Inputs
from anchored.features.stream import BatchedEncoder

__all__ = ["on_ray"]

_ROWS, _RETRIES = 1024, 3
_PATIENCE = 5.0  # seconds until a cluster that does not answer is given up


def on_ray(encoder: BatchedEncoder, inputs: Inputs, rows: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Encode rows on a Ray cluster.

    Args:
        encoder: A fitted encoder.
        inputs: Where rows are read; files must be visible to every machine of the cluster.
        rows: Row numbers ``(m,)``.

    Yields:
        Row numbers and their features, as tasks end.

    Raises:
        InputError: If Ray is not installed, the cluster does not answer, or a task fails again and again.
    """
    ray = _ray()
    ours = not ray.is_initialized()
    if ours:
        _connect(ray)
    about, tensors = encoder.state()
    held = ray.put((about, {name: tensor.numpy() for name, tensor in tensors.items()}, encoder.digest))
    task = ray.remote(num_cpus=1, max_retries=_RETRIES)(_encode_shard)
    # Shards end at the edges of batches: the same batches as on one machine.
    size = max(1, _ROWS // encoder.batch_size) * encoder.batch_size
    running = {task.remote(held, inputs.subset(shard)): shard for shard in torch.split(rows, size)}
    try:
        while running:
            done, _ = ray.wait(list(running), num_returns=1)
            for each in done:
                try:
                    features = ray.get(each)
                except ray.exceptions.RayTaskError as error:
                    raise _refused(error) from None
                except ray.exceptions.RayError as error:
                    first = str(error).strip().partition("\n")[0]
                    raise InputError(
                        f"Ray gave up on a part of the data ({first}); start it again, it goes on"
                    ) from None
                yield running.pop(each), torch.from_numpy(features.copy())
    finally:
        for each in running:
            ray.cancel(each, force=True)
        if ours:
            ray.shutdown()


def _refused(error: Any) -> Exception:  # noqa: ANN401 - Ray's wrapper of what a task raised
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, InputError) else error


_MADE: dict[str, BatchedEncoder] = {}
"""The encoder that this worker used last, by its digest."""


def _restored(about: dict[str, Any], tensors: dict[str, Any], digest: str) -> BatchedEncoder:
    from anchored.features.names import restore

    if digest not in _MADE:
        made = restore(about, {name: torch.from_numpy(array.copy()) for name, array in tensors.items()})
        if not isinstance(made, BatchedEncoder) or made.digest != digest:
            raise InputError(
                f"{made.name}: a machine of the cluster would compute other vectors than this one (another number "
                f"format or version); give precision='float32', or use like machines"
            )
        _MADE.clear()
        _MADE[digest] = made
    return _MADE[digest]


def _encode_shard(held: tuple[dict[str, Any], dict[str, Any], str], inputs: Inputs) -> Any:  # noqa: ANN401 - an array
    """Encode all of ``inputs`` in a worker."""
    torch.set_num_threads(1)
    return _restored(*held).transform(inputs).numpy()


def _connect(ray: Any) -> None:  # noqa: ANN401 - a module that may be missing
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    named = os.environ.get("RAY_ADDRESS")
    if named:
        _reach(named)
    try:
        ray.init(address="auto", **quiet)
    except ConnectionError:
        if named and named != "local":
            raise _unreachable(named) from None
        ray.init(address="local", include_dashboard=False, **quiet)


def _reach(address: str) -> None:
    """Refuse an address where nobody listens; Ray itself would go on trying for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not host or not port.isdigit():
        return  # auto, local: Ray looks for itself
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
    except (OSError, OverflowError):
        raise _unreachable(address) from None


def _unreachable(address: str) -> InputError:
    return InputError(
        f"no Ray cluster answers at RAY_ADDRESS={address}; start it, or unset RAY_ADDRESS for a local one"
    )


def _ray() -> Any:  # noqa: ANN401 - a module that may be missing
    try:
        import ray
    except ImportError:
        raise InputError("--on ray needs Ray, which is not installed; pip install 'anchored[ray]'") from None
    return ray
