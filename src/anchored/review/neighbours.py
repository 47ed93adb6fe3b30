r"""Neighbours of a suspect: the training samples of a class whose features are most similar.

.. math::  \cos(\mathbf z_i, \mathbf z_j) = \frac{\mathbf z_i^\top \mathbf z_j}
           {\lVert \mathbf z_i \rVert \, \lVert \mathbf z_j \rVert}

Features are computed when a class is first asked for. An even selection is taken from a class larger than the limit,
and only the classes asked for last are kept, so time and memory stay bounded for data of any size.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import Tensor

from anchored._checks import check_integer
from anchored.data import Dataset
from anchored.runs import TrainedModel
from anchored.training import weight_of

__all__ = ["Neighbours"]

_BATCH = 256
_CLASSES_KEPT = 32


class Neighbours:
    """Finds the nearest samples of each class.

    Args:
        model: Model that computes the features.
        dataset: Samples to search, by the labels given.
        limit: Largest number of samples of a class that are compared.

    Example:
        >>> from anchored import AnchoredHead, backbones
        >>> from anchored.data import Normalization, TensorInputs
        >>> from anchored.methods import Classifier
        >>> data = Dataset("toy", TensorInputs(torch.eye(4)), torch.tensor([0, 0, 1, 1]), ("no", "yes"))
        >>> classifier = Classifier(backbones.get("tiny", (4,)), AnchoredHead(32, 2))
        >>> model = TrainedModel(classifier, Normalization((0.0,) * 4, (1.0,) * 4, 1.0), ("no", "yes"))
        >>> [index for index, _ in Neighbours(model, data).nearest(0, label=0, count=5)]
        [1]
    """

    def __init__(self, model: TrainedModel, dataset: Dataset, *, limit: int = 2_000) -> None:
        self.model = model
        self.dataset = dataset
        self.limit = check_integer("limit", limit, low=1)
        self._lock = threading.Lock()
        self._known: OrderedDict[int, tuple[Tensor, Tensor]] = OrderedDict()

    def nearest(self, index: int, label: int, count: int) -> list[tuple[int, float]]:
        r"""Find the samples of a class that are nearest by :math:`z_i^\top z_j / (\lVert z_i\rVert\lVert z_j\rVert)`.

        Args:
            index: Place of the sample in the data.
            label: Number of the class to search.
            count: Largest number of samples.

        Returns:
            Places and cosines, nearest first; the sample itself is left out.

        Example:
            See :class:`Neighbours`.
        """
        with self._lock:  # one computation at a time: two would each take the whole machine
            members, features = self._members(label)
            if len(members) == 0:
                return []
            cosines = features @ self.features(torch.tensor([index]))[0]
        cosines = cosines.masked_fill(members == index, -2.0)
        best = cosines.topk(min(count + 1, len(members)))
        pairs = zip(members[best.indices].tolist(), best.values.tolist(), strict=True)
        return [(i, value) for i, value in pairs if i != index][:count]

    def _members(self, label: int) -> tuple[Tensor, Tensor]:
        if label in self._known:
            self._known.move_to_end(label)
        else:
            members = (self.dataset.labels == label).nonzero()[:, 0]
            if len(members) > self.limit:
                members = members[torch.linspace(0, len(members) - 1, self.limit).round().long()]
            self._known[label] = members, self.features(members)
            if len(self._known) > _CLASSES_KEPT:
                self._known.popitem(last=False)
        return self._known[label]

    @torch.inference_mode()
    def features(self, index: Tensor) -> Tensor:
        """Compute features ``(m, d)`` of unit length, of the samples at ``index``."""
        weight = weight_of(self.model.classifier)
        rows = []
        for start in range(0, len(index), _BATCH):
            part = index[start : start + _BATCH]
            inputs = self.dataset.inputs.take(part).to(weight.device)
            features = self.model.classifier.features(self.model.normalization(inputs, dtype=weight.dtype))
            rows.append(F.normalize(features.float(), dim=1).cpu())
        return torch.cat(rows) if rows else torch.empty(0, 0)
