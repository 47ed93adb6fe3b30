r"""Judge ``second-round``: anchored least squares on labels as far as a first round believes them.

A first round judges the labels; a second learns from its posterior :math:`q` instead of the labels: the target of a
sample is :math:`\sum_j q_j w_j`, its mean anchor. Wrong labels count for little then, and the model sees more clearly.

The posterior of a sample rests on its own label, and its neighbours' posteriors on theirs. Leaving out one sample's
target in the second round would not do: the label that is judged has had a say in the targets of all others, and would
come back through them. So the samples are put into folds, and **everything**, the first round included, is done without
the fold that is judged. What the second round says of a fold owes nothing to the fold's labels; the likelihood of the
given labels can decide, as for every other judge, whether it is listened to.
"""

from __future__ import annotations

import torch
from torch import Tensor

from anchored.audit.judges.base import Vectors
from anchored.audit.judges.calibrate import calibrated
from anchored.audit.judges.folds import folds_of
from anchored.audit.judges.ridge import closed_form
from anchored.audit.label_noise import fit_label_noise
from anchored.ridge import fit_ridge

__all__ = ["second_round"]

_FOLDS = 4


def second_round(vectors: Vectors) -> Tensor:
    """Judge by least squares on the posterior of a first round, cross-fitted.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> truth = torch.arange(300) % 3
        >>> X = 3 * torch.eye(3)[truth] + torch.randn(300, 3, generator=generator)
        >>> given = torch.where(torch.rand(300, generator=generator) < 0.3, (truth + 1) % 3, truth)
        >>> said = second_round(Vectors.check(X, given, 3))
        >>> bool((said.argmax(dim=1) == truth).double().mean() > 0.9)
        True
    """
    fold = folds_of(vectors, _FOLDS)
    logits = torch.zeros(len(vectors), vectors.k, dtype=torch.float64)
    for number in range(_FOLDS):
        out = (fold == number).nonzero()[:, 0]
        kept = ((fold != number) & (vectors.each > 0)).nonzero()[:, 0]
        rest = vectors.subset(kept)
        if not len(out) or int((rest.labels.bincount() > 0).sum()) < 2:
            continue
        first = calibrated(closed_form(rest, kernel=None), rest.labels, rest.weights)
        noise = fit_label_noise(first, rest.labels, weights=rest.weights)
        believed = noise.posterior(first, rest.labels)
        model = fit_ridge(rest.X, believed, rest.k, weights=rest.weights)
        logits[out] = model.logits(vectors.X[out])
    return logits
