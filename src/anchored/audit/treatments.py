r"""Which treatment of doubtful labels makes labels that nobody saw likeliest: the evidence, never test accuracy.

The samples are put into folds. Without the fold that is asked about, the closed forms judge the labels of the others
(leave-one-out), the noise law gives their posterior and the matrix M of how true classes are labelled, and a model
learns them in each of the ways of :mod:`anchored.audit.trust`. It is then asked for the labels of the fold as they are
**given**, wrong ones included:

.. math::  L = \sum_n \log \sum_i p_i(x_n)\, M_{i \tilde y_n}, \qquad \mathbf p = \operatorname{softmax}(\mathbf f/T),

with M of the other folds, so that a model of the true labels is not punished for being sure; a model of the labels as
given has a rate of noise that is the same for all classes instead, :math:`M_{ij} = \eta/(k-1)`, of largest likelihood.
So is T. Nothing that a fold is asked by has seen the fold's labels.

Labels are weighted by trust unless another way is better by more than two standard errors of the difference, sample by
sample: doubting labels needlessly costs little, and trusting wrong ones much.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from scipy.optimize import minimize_scalar
from torch import Tensor

from anchored._random import stream
from anchored.audit.judges import Vectors, combine, opinion_of
from anchored.audit.judges.folds import folds_of
from anchored.audit.label_noise import fit_label_noise
from anchored.audit.trust import TREATMENTS, treated
from anchored.methods.axes import AXES
from anchored.metrics import fit_noise_and_temperature
from anchored.ridge import Ridge, fit_ridge

__all__ = ["USUAL", "Evidence", "compare_treatments"]

USUAL = "cleaned"
"""The treatment that is taken unless another one is clearly better."""
_FOLDS = 4
_MOST_SAMPLES = 2_000
_ERRORS = 2.0
"""Standard errors by which another way must be better than the usual one."""
_KERNEL_WORK = 1e6
_LANDMARKS = 250


@dataclass(frozen=True)
class Evidence:
    """How likely unseen labels are after each treatment.

    Attributes:
        log_likelihood: Mean log-probability of the given labels, by treatment.
        errors: How many standard errors each treatment is better than the usual one.
        chosen: The treatment to take.
    """

    log_likelihood: Mapping[str, float]
    errors: Mapping[str, float]
    chosen: str


def compare_treatments(vectors: Vectors) -> Evidence:
    """Compare the treatments of :data:`anchored.audit.trust.TREATMENTS`.

    Args:
        vectors: The samples with the labels given. Of more than 2,000 a part is drawn.

    Returns:
        The evidence; the same for the same seed.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> truth = torch.arange(400) % 2
        >>> X = torch.eye(2)[truth] + torch.randn(400, 2, generator=generator)
        >>> given = torch.where(torch.rand(400, generator=generator) < 0.2, 1 - truth, truth)
        >>> found = compare_treatments(Vectors.check(X, given, 2))
        >>> sorted(found.log_likelihood), found.chosen
        (['cleaned', 'given', 'replaced', 'sure'], 'cleaned')
    """
    if len(vectors) > _MOST_SAMPLES:
        order = torch.randperm(len(vectors), generator=stream(vectors.seed, "treatments"))
        vectors = vectors.subset(order[:_MOST_SAMPLES].sort().values)
    vectors = _along_axes(vectors)
    fold = folds_of(vectors, _FOLDS)
    logits = {name: torch.zeros(len(vectors), vectors.k, dtype=torch.float64) for name in TREATMENTS}
    matrices = torch.eye(vectors.k, dtype=torch.float64).repeat(_FOLDS, 1, 1)
    for number in range(_FOLDS):
        out = (fold == number).nonzero()[:, 0]
        rest = vectors.subset(((fold != number) & (vectors.each > 0)).nonzero()[:, 0])
        if len(out) and int((rest.labels.bincount() > 0).sum()) > 1:
            answers, matrices[number] = _asked(rest, vectors.X[out])
            for name, answer in answers.items():
                logits[name][out] = answer
    labelled = matrices[fold, :, vectors.labels]  # (n, k): how probable each given label is for each true class
    each = {
        name: _as_given(answer, vectors) if name == "given" else _mixed(answer, labelled, vectors)
        for name, answer in logits.items()
    }
    weight = vectors.each
    means = {name: float(weight @ values / weight.sum()) for name, values in each.items()}
    errors = {name: _errors(weight * (values - each[USUAL])) for name, values in each.items()}
    better = [name for name in TREATMENTS if errors[name] > _ERRORS]
    return Evidence(means, errors, max(better, key=lambda name: means[name], default=USUAL))


def _along_axes(vectors: Vectors) -> Vectors:
    """Return samples of many columns along their principal axes: the twenty models that follow need no more.

    The axes are turned at random among themselves, so that all columns are about the same size: least squares
    standardises them, which would make the smallest axes as loud as the largest.
    """
    if vectors.X.shape[1] <= AXES:
        return vectors
    _, rows = vectors.principal
    size = rows.shape[1]
    turn, _ = torch.linalg.qr(torch.randn(size, size, generator=stream(vectors.seed, "treatment axes")))
    return replace(vectors, X=rows @ turn)


def _asked(rest: Vectors, X: Tensor) -> tuple[dict[str, Tensor], Tensor]:
    """Return logits of the rows ``X`` from models of ``rest``, whose labels were treated in each way, and its M."""
    linear = fit_ridge(rest.X, rest.labels, rest.k, weights=rest.weights)
    models = {"ridge": linear}
    if rest.X.numel() <= _KERNEL_WORK:
        models["kernel-ridge"] = _fit(rest, rest.labels, rest.weights, None)
    opinions = [opinion_of(name, model.loo_logits, rest) for name, model in models.items()]
    found, weighted = combine(opinions, rest.labels, rest.weights)
    noise = fit_label_noise(found, rest.labels, weights=rest.weights)
    posterior = noise.posterior(found, rest.labels)
    best = max(weighted, key=lambda each: each.log_likelihood).name
    answers = {}
    for name in TREATMENTS:
        labels, weights = treated(rest.labels, posterior, name)
        if int(labels[weights > 0].bincount().count_nonzero()) < 2:
            labels, weights = rest.labels, torch.ones_like(weights)
        weights = weights * rest.each
        if best == "ridge":
            answers[name] = fit_ridge(rest.X, labels, rest.k, weights=weights).logits(X)
        else:
            answers[name] = _fit(rest, labels, weights, models[best].gamma).logits(X)
    return answers, noise.transition


def _fit(rest: Vectors, labels: Tensor, weights: Tensor | None, gamma: float | None) -> Ridge:
    return fit_ridge(rest.X, labels, rest.k, weights=weights, kernel="rbf", landmarks=_LANDMARKS, gamma=gamma)


def _as_given(logits: Tensor, vectors: Vectors) -> Tensor:
    """Return log-probabilities ``(n,)`` of the given labels under noise rate and temperature of largest likelihood."""
    eta, temperature = fit_noise_and_temperature(logits, vectors.labels, weights=vectors.weights)
    p = (logits / temperature).softmax(dim=1).gather(1, vectors.labels[:, None])[:, 0]
    return _log((1 - eta) * p + eta / (vectors.k - 1) * (1 - p))


def _mixed(logits: Tensor, labelled: Tensor, vectors: Vectors) -> Tensor:
    """Return log-probabilities ``(n,)`` of the given labels under the temperature of largest likelihood."""
    size = max(float(logits.std()), 1e-12)

    def likelihood(log_temperature: float) -> Tensor:
        return _log(((logits / (size * math.exp(log_temperature))).softmax(dim=1) * labelled).sum(dim=1))

    found = minimize_scalar(lambda t: -float(vectors.each @ likelihood(t)), bounds=(-6.0, 4.0), method="bounded")
    return likelihood(float(found.x))


def _log(p: Tensor) -> Tensor:
    return p.clamp(min=torch.finfo(torch.float64).tiny).log()


def _errors(difference: Tensor) -> float:
    """Return a sum in units of its standard error."""
    spread = float(difference.std()) * len(difference) ** 0.5
    return float(difference.sum()) / spread if spread > 0 else 0.0
