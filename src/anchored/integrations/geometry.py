"""Margins, angles and label noise of a model, gathered batch by batch: what a training framework logs per epoch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from anchored import metrics
from anchored._checks import check_integer
from anchored._errors import InputError
from anchored.audit import FEWEST_PER_CLASS, fit_label_noise
from anchored.heads import Head

__all__ = ["Geometry"]


class Geometry:
    r"""Gathers logits, features and labels of held-out batches, and sums them up as a flat dict of numbers.

    =======================  =======================================================================================
    ``accuracy``             share of labels that are predicted
    ``margin/mean``          mean of :math:`f_y - \max_{j \ne y} f_j`; ``margin/min`` is the least
    ``angle/own``            mean angle in degrees between a feature and the row of its label
    ``angle/rows``           least angle between the rows of two classes; it falls if trained rows drift together
    ``noise/rate``           estimated share of wrong labels, with ``noise/low`` and ``noise/high`` at 95 %
    ``recall/<class>``       share of a class that is found, if ``class_names`` are given; absent classes are left out
    =======================  =======================================================================================

    The noise is that of the labels that were gathered, as seen by this model; it must not have been trained on them.
    It is left out if there are fewer than ten labels per class, and angles if no features were seen.

    Args:
        head: The head of the model, for the directions of its rows; None leaves angles out.
        class_names: Names of the classes, for recalls by class.
        most: How many samples are kept; later ones are left out.

    Example:
        >>> gathered = Geometry()
        >>> gathered.add(torch.tensor([[2.0, 0.5], [0.0, 3.0]]), torch.tensor([0, 1]))
        >>> gathered.summary()
        {'accuracy': 1.0, 'margin/mean': 2.25, 'margin/min': 1.5}
    """

    def __init__(
        self, head: nn.Module | None = None, *, class_names: Sequence[str] | None = None, most: int = 20_000
    ) -> None:
        self.head = head
        self.class_names = class_names
        self.most = check_integer("most", most, low=1)
        self._kept: list[tuple[Tensor, Tensor, Tensor | None]] = []
        self._seen: tuple[Tensor, Tensor] | None = None
        self._samples = 0

    @classmethod
    def of(cls, model: nn.Module, *, class_names: Sequence[str] | None = None, most: int = 20_000) -> Geometry:
        """Return one for the head of ``model``: its last :class:`~anchored.heads.Head`.

        Args:
            model: The model; it must hold a head of this library.
            class_names: As in the constructor.
            most: As in the constructor.

        Returns:
            An object that has gathered nothing yet.

        Raises:
            InputError: If the model has no such head.

        Example:
            >>> from anchored import AnchoredHead
            >>> Geometry.of(nn.Sequential(nn.ReLU(), AnchoredHead(4, 3))).head
            AnchoredHead(in_features=4, num_classes=3, normalize=True, scale=1, for signed features (declared))
        """
        heads = [module for module in model.modules() if isinstance(module, Head)]
        if not heads:
            raise InputError(
                f"{type(model).__name__} has no head of anchored.heads to watch; call anchored.anchor_(model) first"
            )
        return cls(heads[-1], class_names=class_names, most=most)

    def watch(self) -> RemovableHandle:
        """Keep what the head is given and gives in each forward pass, for :meth:`add_labels`; remove the handle later.

        Example:
            >>> from anchored import AnchoredHead
            >>> model = nn.Sequential(nn.ReLU(), AnchoredHead(4, 3))
            >>> gathered = Geometry.of(model)
            >>> handle = gathered.watch()
            >>> _ = model(torch.eye(4))
            >>> gathered.add_labels(torch.tensor([0, 1, 2, 0]))
            >>> handle.remove()
            >>> sorted(gathered.summary())
            ['accuracy', 'angle/own', 'angle/rows', 'margin/mean', 'margin/min']
        """
        if self.head is None:
            raise InputError("there is no head to watch; use Geometry.of(model), or pass logits to add")

        def keep(_: nn.Module, given: tuple[Any, ...], logits: Tensor) -> None:
            self._seen = (given[0].detach(), logits.detach())

        return self.head.register_forward_hook(keep)

    def add_labels(self, labels: Tensor) -> None:
        """Add the labels ``(n,)`` of the batch that the head saw last; one of another size is left out."""
        if self._seen is not None and len(self._seen[1]) == len(labels) and self._seen[1].ndim == 2:
            features, logits = self._seen
            self.add(logits, labels, features)
        self._seen = None

    def add(self, logits: Tensor, labels: Tensor, features: Tensor | None = None) -> None:
        """Add a batch.

        Args:
            logits: Logits ``(n, k)``.
            labels: Labels ``(n,)``, or probabilities ``(n, k)``, of which the largest counts; negative ones are left
                out.
            features: What the head was given, ``(n, d)``; None if it is not known.
        """
        labels = labels.argmax(dim=1) if labels.ndim == 2 else labels
        room = (labels >= 0) & (torch.arange(len(labels), device=labels.device) < self.most - self._samples)
        self._samples += len(labels)
        if bool(room.any()):
            kept = [each if each is None else each.detach()[room].cpu().float() for each in (logits, features)]
            self._kept.append((kept[0], labels[room].cpu().long(), kept[1]))  # type: ignore[arg-type]  # logits are not None

    def clear(self) -> None:
        """Forget everything, before the next epoch."""
        self._kept, self._samples, self._seen = [], 0, None

    def summary(self) -> dict[str, float]:
        """Return the numbers of the table above; an empty dict if nothing was gathered."""
        if not self._kept:
            return {}
        logits, labels = (torch.cat([batch[part] for batch in self._kept]) for part in (0, 1))  # type: ignore[misc]
        margins = metrics.sample_margins(logits, labels)
        numbers = {
            "accuracy": metrics.accuracy(logits, labels),
            "margin/mean": margins.mean().item(),
            "margin/min": margins.min().item(),
        }
        features = [batch[2] for batch in self._kept if batch[2] is not None]
        if isinstance(self.head, Head) and len(features) == len(self._kept):
            rows = self.head.rows().detach().cpu().float()
            own = F.cosine_similarity(torch.cat(features), rows[labels], dim=1).clamp(-1, 1)
            numbers["angle/own"] = math.degrees(own.arccos().mean().item())
            numbers["angle/rows"] = metrics.minimal_angle(rows)
        if len(labels) >= FEWEST_PER_CLASS * logits.shape[1] and bool(torch.isfinite(logits).all()):
            noise = fit_label_noise(logits, labels)
            numbers |= {"noise/rate": noise.rate, "noise/low": noise.interval[0], "noise/high": noise.interval[1]}
        if self.class_names is not None:
            recalls = metrics.per_class_accuracy(logits, labels, logits.shape[1])
            named = zip(self.class_names, recalls, strict=True)
            numbers |= {f"recall/{name}": recall for name, recall in named if recall is not None}
        return numbers
