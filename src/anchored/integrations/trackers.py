"""Numbers of a training sent to TensorBoard, MLflow, W&B or anything else, by what the tracker can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from anchored._errors import InputError

__all__ = ["log_to"]


def log_to(tracker: Any, *, prefix: str = "") -> Callable[[Mapping[str, float], int], None]:  # noqa: ANN401  # any of several packages
    """Return a function that sends ``(numbers, step)`` to ``tracker``.

    ===========================================  ==============================================
    ``torch.utils.tensorboard.SummaryWriter``    ``add_scalar(name, value, step)`` for each
    the ``mlflow`` module                        ``log_metrics(numbers, step=step)``
    a W&B run, ``wandb.init(...)``               ``log(numbers, step=step)``
    ===========================================  ==============================================

    Args:
        tracker: One of these, or anything with one of the three methods.
        prefix: Put before every name, for instance ``"val/"``.

    Returns:
        The function, to be called once per epoch with a flat dict such as ``Geometry.summary()`` gives.

    Raises:
        InputError: If the tracker has none of the three methods.

    Example:
        >>> class Printer:
        ...     def log(self, numbers, step):
        ...         print(step, numbers)
        >>> log_to(Printer(), prefix="val/")({"margin/mean": 0.5}, 3)
        3 {'val/margin/mean': 0.5}
    """
    ways: dict[str, Callable[[dict[str, float], int], object]] = {
        "add_scalar": lambda numbers, step: [tracker.add_scalar(name, value, step) for name, value in numbers.items()],
        "log_metrics": lambda numbers, step: tracker.log_metrics(numbers, step=step),
        "log": lambda numbers, step: tracker.log(numbers, step=step),
    }
    way = next((way for method, way in ways.items() if callable(getattr(tracker, method, None))), None)
    if way is None:
        raise InputError(
            f"a tracker must have one of the methods {', '.join(ways)}, got {type(tracker).__name__}; "
            f"give a SummaryWriter, the mlflow module or a W&B run"
        )
    return lambda numbers, step: void(way({prefix + name: value for name, value in numbers.items()}, step))


def void(_: object) -> None:
    """Drop what a tracker answers."""
