"""``--aggregate``: the experts of a run weighted for the data at hand, by its inputs alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from anchored._errors import InputError

if TYPE_CHECKING:
    from anchored.cli.model import FinishedRun
    from anchored.data import Dataset
    from anchored.runs import TrainedModel

__all__ = ["Aggregate", "aggregate_for"]

Aggregate = Annotated[
    bool, typer.Option("--aggregate", help="First weight the experts of tade for this data, by its images alone.")
]

_BATCH = 128  # as published: with it, the number of steps


def aggregate_for(loaded: FinishedRun, model: TrainedModel, dataset: Dataset) -> list[float]:
    """The weights that ``model``, of a run with experts, gets for ``dataset``; its labels are not looked at.

    The two views of an image are made by the augmentation of training; where there was none, by shifts of up to an
    eighth of the image's side.
    """
    from anchored.data import Batches, augment
    from anchored.methods import aggregate

    if not dataset.is_image:
        raise InputError(
            f"--aggregate compares two views of each image, and {dataset.name} has inputs of shape "
            f"{tuple(dataset.inputs.shape)}; leave it out"
        )
    names = loaded.config.data.augment
    assert not isinstance(names, str), "resolved before"
    side = min(dataset.inputs.shape[1:])
    weight = next(model.parameters())
    batches = Batches(
        dataset,
        batch_size=_BATCH,
        augment=augment.compose(names or [f"crop={max(1, side // 8)}"]),
        normalize=model.normalization,
        device=weight.device,
        dtype=weight.dtype,
        workers=0 if dataset.inputs.in_memory else loaded.config.train.workers,
    )
    return [float(share) for share in aggregate(model.classifier, batches, seed=loaded.config.train.seed)]
