"""``--aggregate``: weight the experts of a run for the data at hand, by its inputs alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anchored._errors import InputError

if TYPE_CHECKING:
    from anchored.cli.model import FinishedRun
    from anchored.data import Dataset
    from anchored.runs import TrainedModel

__all__ = ["aggregate_for"]

_BATCH = 128  # as published: with it, the number of steps


def aggregate_for(loaded: FinishedRun, model: TrainedModel, dataset: Dataset) -> list[float]:
    """Weight the experts of a model for a data set, whose labels are not used.

    The two views of an image are made by the augmentation of training; if there was none, by shifts of up to an eighth
    of the image's side.

    Args:
        loaded: The run.
        model: Its model, which gets the weights.
        dataset: Images of the place where the model is used.

    Returns:
        Weights of the experts, which sum to one.

    Raises:
        InputError: The data holds no images, or the model has no experts.
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
