"""Judge ``network``: two networks, each trained on one half of the data and asked about the other.

It needs inputs rather than vectors, and minutes rather than seconds, so it is asked only if there are no features, or
beside the others by who has the time.
"""

from __future__ import annotations

import time
from pathlib import Path

from torch import nn

from anchored._progress import Progress
from anchored.audit.cross_fit import cross_fit
from anchored.audit.judges.base import Opinion
from anchored.audit.judges.calibrate import calibrated, scored
from anchored.data import Dataset
from anchored.training import RunConfig

__all__ = ["network"]


def network(
    dataset: Dataset,
    config: RunConfig,
    *,
    module: nn.Module | None = None,
    folder: str | Path | None = None,
    progress: Progress | None = None,
) -> Opinion:
    """Return the opinion of two cross-fitted networks, which :func:`anchored.audit.combine` can join with others.

    Args:
        dataset: The data, every sample labelled.
        config: Resolved configuration of the run; see :func:`anchored.audit.cross_fit`.
        module: A backbone of your own; each half trains a copy.
        folder: Where to keep the work as it is made; None keeps nothing.
        progress: Is told what happens.

    Returns:
        The calibrated opinion.
    """
    start = time.perf_counter()
    answers = cross_fit(dataset, config, module=module, folder=folder, progress=progress)
    found = calibrated(answers.logits, dataset.labels, dataset.weights)
    each = found.new_ones(len(dataset)) if dataset.weights is None else dataset.weights.to(found.dtype)
    return scored("network", found, dataset.labels, each, seconds=time.perf_counter() - start)
