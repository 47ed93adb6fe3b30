r"""What else is called so: the training samples of a class that look most like a suspect, to the model.

.. math::  \cos(\mathbf z_i, \mathbf z_j) = \frac{\mathbf z_i^\top \mathbf z_j}
           {\lVert \mathbf z_i \rVert \, \lVert \mathbf z_j \rVert}

Features are computed when a class is first asked for. Of a class larger than the limit an even selection is
taken, and only the classes asked for last are kept, so time and memory stay bounded whatever the size of the data.
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
    """The nearest samples of each class.

    Args:
        model: Makes the features.
        dataset: Where to look, by the labels given.
        limit: At most so many samples of a class are looked at.
    """

    def __init__(self, model: TrainedModel, dataset: Dataset, *, limit: int = 2_000) -> None:
        self.model = model
        self.dataset = dataset
        self.limit = check_integer("limit", limit, low=1)
        self._lock = threading.Lock()
        self._known: OrderedDict[int, tuple[Tensor, Tensor]] = OrderedDict()

    def nearest(self, index: int, label: int, count: int) -> list[tuple[int, float]]:
        """Up to ``count`` samples of class ``label`` other than ``index`` itself, nearest first, with their cosines."""
        with self._lock:  # one computation at a time: two would each take the whole machine
            members, features = self._members(label)
            if len(members) == 0:
                return []
            cosines = features @ self._features(torch.tensor([index]))[0]
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
            self._known[label] = members, self._features(members)
            if len(self._known) > _CLASSES_KEPT:
                self._known.popitem(last=False)
        return self._known[label]

    @torch.inference_mode()
    def _features(self, index: Tensor) -> Tensor:
        """Features ``(n, d)`` of unit length."""
        weight = weight_of(self.model.classifier)
        rows = []
        for start in range(0, len(index), _BATCH):
            part = index[start : start + _BATCH]
            inputs = self.dataset.inputs.take(part).to(weight.device)
            features = self.model.classifier.features(self.model.normalization(inputs, dtype=weight.dtype))
            rows.append(F.normalize(features.float(), dim=1).cpu())
        return torch.cat(rows) if rows else torch.empty(0, 0)
