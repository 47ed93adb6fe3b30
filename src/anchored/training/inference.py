"""One way to ask a network about a data set: logits and features, in memory or streamed from the disk.

Images on the disk are decoded in threads while the network works; under several processes each asks about its part.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn

from anchored.data import Batches, Dataset, Normalization
from anchored.methods import Network
from anchored.training.runtime import Runtime

__all__ = ["Answers", "answer_batches", "ask", "evaluation_batches", "raw_logits", "weight_of"]

BATCH = 512
"""Samples per forward pass when nothing is trained."""


class Answers(NamedTuple):
    """What a network answers about a data set, in its order, on the CPU, float32 or wider.

    Attributes:
        logits: ``(n, k)``, not divided by any temperature.
        features: ``(n, d)``, what the head sees; None if they were not asked for.
    """

    logits: Tensor
    features: Tensor | None = None


def evaluation_batches(
    dataset: Dataset, normalization: Normalization | None, runtime: Runtime, *, workers: int = 2, size: int = BATCH
) -> Batches:
    """Make the batches that a network is asked about: in order, normalised, never augmented.

    Args:
        dataset: What to ask about.
        normalization: What makes raw inputs normalised ones.
        runtime: Device and number type.
        workers: Threads that decode images on the disk; inputs in memory need none.
        size: Samples per batch.

    Returns:
        Batches on the runtime's device.

    Example:
        >>> from anchored.data import load_digits
        >>> batches = evaluation_batches(load_digits().test, None, Runtime(torch.device("cpu")))
        >>> batches.batch_size, len(batches.dataset)
        (512, 360)
    """
    return Batches(
        dataset,
        batch_size=size,
        normalize=normalization,
        device=runtime.device,
        dtype=runtime.dtype,
        workers=0 if dataset.inputs.in_memory else workers,
    )


@torch.inference_mode()
def answer_batches(
    network: Network, batches: Batches, runtime: Runtime, *, order: Tensor | None = None, features: bool = False
) -> Iterator[Answers]:
    """Answer batch by batch, so that memory does not grow with the data.

    Args:
        network: The network; it is put into evaluation mode for the time.
        batches: The data, as :func:`evaluation_batches` makes it.
        runtime: Device and precision of the forward pass.
        order: Sample numbers ``(m,)`` to ask about; by default all, in order.
        features: Whether the features are wanted too.

    Yields:
        Logits, and features if asked for, of one batch, on the runtime's device.
    """
    order = torch.arange(len(batches.dataset)) if order is None else order
    was_training = network.training
    network.eval()
    try:
        for batch in batches.epoch(order, seed=0, epoch=0):
            with runtime.autocast():
                if features:
                    z = network.features(batch.inputs)
                    yield Answers(network.head(z), z)
                else:
                    yield Answers(network(batch.inputs))
    finally:
        network.train(was_training)


def ask(network: Network, batches: Batches, runtime: Runtime, *, features: bool = False) -> Answers:
    """Ask a network about a whole data set; every process gets all answers.

    Args:
        network: The network.
        batches: The data, as :func:`evaluation_batches` makes it.
        runtime: The processes that share the work.
        features: Whether the features are wanted too.

    Returns:
        The answers in the order of the data set, on the CPU.

    Example:
        >>> from anchored import LinearHead, backbones
        >>> from anchored.data import load_digits
        >>> from anchored.methods import Classifier
        >>> digits, runtime = load_digits().test, Runtime(torch.device("cpu"))
        >>> network = Classifier(backbones.get("tiny", (1, 8, 8)), LinearHead(32, 10))
        >>> batches = evaluation_batches(digits, Normalization.none(digits.inputs), runtime)
        >>> answers = ask(network, batches, runtime, features=True)
        >>> answers.logits.shape, answers.features.shape
        (torch.Size([360, 10]), torch.Size([360, 32]))
    """
    n = len(batches.dataset)
    part = -(-n // runtime.world_size)
    mine = torch.arange(runtime.rank * part, (runtime.rank + 1) * part).clamp(max=n - 1)  # the overlap is cut below
    answers = list(answer_batches(network, batches, runtime, order=mine, features=features))
    logits = _whole([each.logits for each in answers], runtime, n)
    vectors = [each.features for each in answers if each.features is not None]
    return Answers(logits, _whole(vectors, runtime, n) if features else None)


def raw_logits(
    network: Network, dataset: Dataset, normalization: Normalization, runtime: Runtime, *, workers: int = 2
) -> Tensor:
    """Compute logits before any temperature; cosines, if the head is a scale times cosines.

    Args:
        network: The network; it comes back to the device that it was on.
        dataset: What to ask about.
        normalization: What makes raw inputs normalised ones.
        runtime: Where to compute.
        workers: Threads that decode images on the disk.

    Returns:
        Logits ``(n, k)``, float32, on the CPU.

    Example:
        >>> from anchored import AnchoredHead, backbones
        >>> from anchored.data import load_digits
        >>> from anchored.methods import Classifier
        >>> digits = load_digits().test
        >>> network = Classifier(backbones.get("tiny", (1, 8, 8)), AnchoredHead(32, 10, scale=5.0))
        >>> logits = raw_logits(network, digits, Normalization.none(digits.inputs), Runtime(torch.device("cpu")))
        >>> bool(logits.abs().max() <= 1)  # cosines, without the scale of 5
        True
    """
    weight = weight_of(network)
    home, kind = weight.device, "64" if weight.dtype == torch.float64 else runtime.precision
    there = runtime if kind == runtime.precision else Runtime(runtime.device, kind)
    batches = evaluation_batches(dataset, normalization, there, workers=workers)
    logits = ask(network.to(runtime.device), batches, there).logits
    network.to(home)
    head = network.head
    # A linear head has no scale, and a head that normalises nothing has no cosines: those stay as they are.
    scale = getattr(head, "scale", None) if getattr(head, "normalize", True) else None
    return (logits / scale if isinstance(scale, float) and scale > 0 else logits).float()


def weight_of(module: nn.Module) -> Tensor:
    """Return any floating-point tensor of a module: its device and type are those of the inputs.

    Example:
        >>> weight_of(nn.Linear(2, 2).double()).dtype
        torch.float64
    """
    tensors = itertools.chain(module.parameters(), module.buffers())
    return next(tensor for tensor in tensors if tensor.is_floating_point())


def _whole(parts: list[Tensor], runtime: Runtime, n: int) -> Tensor:
    if not parts:
        return torch.empty(0)
    rows = torch.cat(parts)
    wide = rows if rows.dtype == torch.float64 else rows.float()
    return runtime.gather(wide)[:n].cpu()
