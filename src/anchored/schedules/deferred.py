r"""Deferred re-weighting: class weights are all 1 up to an epoch, and the balanced ones from there on.

.. math::  w_j(t) = 1 \ \text{ for } t < t_0, \qquad
           w_j(t) \propto \frac{1 - \beta}{1 - \beta^{n_j}} \ \text{ for } t \ge t_0.

Published: :math:`t_0 = 160` of 200 epochs, where the rate drops for the first time. Over another
number of epochs the start keeps its share of the run, as the milestones of
:class:`~anchored.schedules.MultiStep` do, so the two still coincide.

References:
    Cao et al., 2019. Learning Imbalanced Datasets with Label-Distribution-Aware Margin Loss. NeurIPS.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from anchored._checks import check_real
from anchored.schedules._base import check_epoch, check_epochs, scaled

__all__ = ["Deferred"]


@dataclass(frozen=True, kw_only=True)
class Deferred:
    """Whether the deferred weights are in force at an epoch.

    Args:
        epochs: Length of the run.
        start: The first epoch with weights, in ``[0, epochs]``; 0 means from the beginning.

    Example:
        >>> drw = Deferred()
        >>> drw(159), drw(160)
        (False, True)
        >>> drw.for_epochs(10).start
        8.0
    """

    epochs: int = 200
    start: float = 160

    def __post_init__(self) -> None:
        check_epochs(self.epochs)
        check_real("start", self.start, low=0, high=self.epochs, way_out="use for_epochs to fit another length")

    def __call__(self, epoch: float) -> bool:
        """True from epoch ``start`` on, counted from 0."""
        return check_epoch(epoch) >= self.start

    def for_epochs(self, epochs: int) -> Deferred:
        """The same share of ``epochs``."""
        check_epochs(epochs)
        return replace(self, epochs=epochs, start=scaled(self.start, self.epochs, epochs))

    def as_dict(self) -> dict[str, object]:
        """Plain values: ``Deferred(**d)`` turns them back.

        Example:
            >>> Deferred().as_dict()
            {'epochs': 200, 'start': 160}
        """
        return {"epochs": self.epochs, "start": self.start}
