"""A Lightning callback that logs margins, angles and label noise after each validation epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from anchored._errors import InputError
from anchored.integrations.geometry import Geometry

__all__ = ["callback", "labels_of"]


def labels_of(batch: Any) -> Tensor:  # noqa: ANN401  # whatever a data loader gives
    """Return the labels of a batch: the second part of a pair, or the entry ``labels``, ``label``, ``y`` or ``target``.

    Example:
        >>> import torch
        >>> labels_of((torch.zeros(2, 3), torch.tensor([0, 1])))
        tensor([0, 1])
    """
    if isinstance(batch, (tuple, list)) and len(batch) > 1 and isinstance(batch[1], Tensor):
        return batch[1]
    if hasattr(batch, "keys"):
        for name in ("labels", "label", "y", "target"):
            if name in batch and isinstance(batch[name], Tensor):
                found: Tensor = batch[name]
                return found
    raise InputError(
        f"no labels found in a batch of type {type(batch).__name__}; pass labels=, a function of the batch"
    )


def callback(
    *,
    prefix: str = "val/",
    labels: Callable[[Any], Tensor] = labels_of,
    class_names: Sequence[str] | None = None,
    most: int = 20_000,
) -> Any:  # noqa: ANN401  # Lightning may not be installed
    """Return a Lightning ``Callback`` that logs what :class:`~anchored.integrations.Geometry` sums up.

    It watches the last head of the module while it validates, and logs ``val/accuracy``, ``val/margin/mean``,
    ``val/angle/own``, ``val/noise/rate`` and so on at the end of each validation epoch. In several processes, means are
    logged.

    Args:
        prefix: Put before every name.
        labels: Takes a batch, and returns its labels.
        class_names: For recalls by class.
        most: Most samples that are kept.

    Returns:
        The callback, for ``Trainer(callbacks=[...])``.

    Raises:
        InputError: If neither ``lightning`` nor ``pytorch_lightning`` is installed.

    Example:
        ``Trainer(callbacks=[anchored.integrations.lightning.callback()])``
    """
    base = _callback_class()

    class LogGeometry(base):  # type: ignore[misc,valid-type]  # Lightning is optional
        """Logs margins, angles and noise after each validation epoch."""

        def on_validation_epoch_start(self, trainer: Any, pl_module: Any) -> None:  # noqa: ANN401
            self.gathered = Geometry.of(pl_module, class_names=class_names, most=most)
            self.handle = self.gathered.watch()

        def on_validation_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, *_: Any) -> None:  # noqa: ANN401
            self.gathered.add_labels(labels(batch))

        def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:  # noqa: ANN401
            self.handle.remove()
            if not trainer.sanity_checking:
                numbers = {prefix + name: value for name, value in self.gathered.summary().items()}
                pl_module.log_dict(numbers, sync_dist=trainer.world_size > 1)

        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:  # noqa: ANN401
            if hasattr(self, "handle"):
                self.handle.remove()

    return LogGeometry()


def _callback_class() -> Any:  # noqa: ANN401  # as above
    try:
        from lightning.pytorch import Callback
    except ImportError:
        try:
            from pytorch_lightning import Callback
        except ImportError:
            raise InputError("Lightning is not installed; pip install 'lightning>=2.6.4'") from None
    return Callback
