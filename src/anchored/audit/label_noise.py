r"""How wrong the labels are, from nothing but the labels: a model trained on them is asked about samples it never saw.

.. math::  P(\tilde y = j \mid x) = \sum_i p_i(x)\, M_{ij}, \qquad
           \mathbf p(x) = \operatorname{softmax}\!\left(\mathbf f(x)/T + \mathbf b\right),

where :math:`\tilde y` is the label given, :math:`\mathbf f` the logits, and :math:`M_{ij}` the share of true class i
that was labelled j. Temperature, bias and matrix are those under which the given labels are likeliest, found by
expectation-maximisation: the posterior of the true label

.. math::  q_i(x, j) \propto p_i(x)\, M_{ij}

is counted into M, and is what T and b are fitted to, in turns. The noise rate is the mean of :math:`1 - q_{\tilde y}`.

Counting contradictions alone would blame the labels for the model's mistakes too. Here the two are told apart, because
a model makes mistakes when it is in doubt, while a wrong label comes when it is certain as well. That leaves
one thing open: a model that is equally certain of nearly everything may be certain or may be modest, and the labels
cannot say which; noise that is the same for all classes and a higher temperature look alike. So, of the samples that
it takes for one class, the model is taken at its word about the fifth of which it is surest (the anchor points of
Patrini et al.). The rows of M of rare classes are drawn towards noise that is the same for all classes, with the
weight of a few samples.

The interval has two parts: how the rate varies when the samples are drawn again (bootstrap), and half of the
contradictions that were put down to the model, because that split rests on its logits being ordered by doubt.

References:
    Dawid and Skene, 1979. Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm. JRSS C.
    Patrini et al., 2017. Making Deep Neural Networks Robust to Label Noise: a Loss Correction Approach. CVPR (M,
    anchor points).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._random import generator_or_default
from anchored.data import Dataset

__all__ = ["LabelNoise", "fit_label_noise", "judge"]

_PRIOR_SAMPLES = 20.0
"""How many samples of each class the common noise rate stands for when a row of the matrix is counted."""
_BIAS_PRECISION = 1.0
"""Precision of the normal prior of each class's bias, in nats: a class can be predicted e times too often or rarely."""
_MOST_STEPS, _TOLERANCE = 500, 1e-7
_SURE = 0.2
"""The share of the samples taken for a class about which the model is believed."""
_BOOTSTRAP_SAMPLES, _MOST_SAMPLES = 5_000, 20_000
_BOOTSTRAPS, _BOOTSTRAP_STEPS = 16, 10
_SHARE_IN_DOUBT = 0.5
FEWEST_PER_CLASS = 10
"""Samples per class, on average, below which a law of the labels would be a guess."""
_Z = 1.96


@dataclass(frozen=True, eq=False)
class LabelNoise:
    """The estimated noise of the given labels.

    Attributes:
        rate: The share of wrong labels among the samples.
        interval: What the rate may be, at 95 %.
        transition: ``(k, k)`` float64; row i says how the samples of true class i were labelled.
        temperature: What logits are divided by to become log-probabilities of the true label.
        bias: ``(k,)`` float64, added to them afterwards; its mean is 0.
        samples: How many labels this rests on.
    """

    rate: float
    interval: tuple[float, float]
    transition: Tensor
    temperature: float
    bias: Tensor
    samples: int

    def probabilities(self, logits: Tensor) -> Tensor:
        r"""Compute :math:`\operatorname{softmax}(\mathbf f / T + \mathbf b)` ``(n, k)``, of the true label."""
        return self._scores(logits).softmax(dim=1)

    def posterior(self, logits: Tensor, labels: Tensor) -> Tensor:
        r"""Compute the posterior of the true label: :math:`q_i \propto p_i M_{i \tilde y}`.

        Args:
            logits: ``(n, k)``, of a model that did not see these samples.
            labels: ``(n,)``, as given.

        Returns:
            Probabilities ``(n, k)`` of the true labels, float64; each row has the sum 1.

        Example:
            >>> matrix = torch.tensor([[0.9, 0.1], [0.3, 0.7]], dtype=torch.float64)
            >>> noise = LabelNoise(0.2, (0.1, 0.3), matrix, 1.0, torch.zeros(2, dtype=torch.float64), 100)
            >>> noise.posterior(torch.zeros(1, 2), torch.tensor([1]))  # 0.1 against 0.7
            tensor([[0.1250, 0.8750]], dtype=torch.float64)
        """
        # A transition that was never seen has weight 0, so its logarithm is -inf: impossible, and meant so.
        return (self._scores(logits).log_softmax(dim=1) + self.transition.T[labels].log()).softmax(dim=1)

    def _scores(self, logits: Tensor) -> Tensor:
        return logits.to(torch.float64) / self.temperature + self.bias


def fit_label_noise(
    logits: Tensor, labels: Tensor, *, weights: Tensor | None = None, generator: torch.Generator | None = None
) -> LabelNoise:
    """Estimate the noise of ``labels`` from the logits of a model that was not trained on these samples.

    Args:
        logits: ``(n, k)``, of any scale. From a model that has learnt these labels by heart the noise looks too small.
        labels: ``(n,)``, as given.
        weights: ``(n,)``, how much each sample counts.
        generator: Random numbers of the bootstrap behind the interval.

    Returns:
        The noise rate with an interval, the transition matrix, and how logits become probabilities.

    Raises:
        InputError: Logits, labels and weights do not fit each other, or are not finite.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> truth = torch.randint(4, (4000,), generator=generator)
        >>> logits = 3.0 * torch.nn.functional.one_hot(truth, 4) + torch.randn(4000, 4, generator=generator)
        >>> given = torch.where(torch.rand(4000, generator=generator) < 0.3, (truth + 1) % 4, truth)
        >>> noise = fit_label_noise(logits, given)
        >>> abs(noise.rate - 0.3) < 0.02, abs(float(noise.transition[0, 1]) - 0.3) < 0.05
        (True, True)
    """
    _check(logits, labels, weights)
    n = len(logits)
    rows, given, weight = _part(logits, labels, weights, n)
    # Softmax ignores a shift of a row; one size for all models lets the search begin at one place.
    size = max(float((rows - rows.mean(dim=1, keepdim=True)).std()), 1e-12)
    rows = (rows - rows.mean(dim=1, keepdim=True)) / size
    few = _part(rows, given, weight, _MOST_SAMPLES)
    law = _climb(*few, _start(rows, given, weight), _MOST_STEPS)
    if len(few[0]) < n:
        # A part of the samples shows where the maximum lies; the matrix and the rate are then counted over all.
        counted = _counted(given, weight, _joint(rows, given, law).softmax(dim=1))
        law = replace(law, transition=_transition(counted), rate=_rate(counted))
    contradicted = _mean((rows.argmax(dim=1) != given).to(torch.float64), weight)
    spread = _bootstrap(rows, given, weight, law, generator_or_default(generator)) * math.sqrt(
        min(_BOOTSTRAP_SAMPLES, n) / min(_MOST_SAMPLES, n)
    )
    half = _Z * math.hypot(spread, _SHARE_IN_DOUBT * abs(contradicted - law.rate) / _Z)
    # If no label is contradicted, the bootstrap sees no variation; the rule of three does.
    half = max(half, 3.0 / n)
    return LabelNoise(
        rate=law.rate,
        interval=(max(0.0, law.rate - half), min(1.0, law.rate + half)),
        transition=law.transition,
        temperature=size / law.sharpness,
        bias=law.bias,
        samples=n,
    )


def judge(dataset: Dataset, logits: Tensor, *, generator: torch.Generator | None = None) -> tuple[LabelNoise, Tensor]:
    """Estimate the noise of a data set's labels, and the posterior of each true label.

    Labels that a person has confirmed are true. The noise is then estimated from the others, because those that were
    looked at are not like them; the rate is that of the whole set.

    Args:
        dataset: The data, every sample labelled.
        logits: ``(n, k)``, of a model that was not trained on these samples.
        generator: Random numbers of the bootstrap behind the interval.

    Returns:
        The estimated noise, and the posterior ``(n, k)``.

    Example:
        >>> from anchored.data import corrupt, load_digits
        >>> data = corrupt(load_digits().train, "symmetric=0.2", seed=0).dataset
        >>> sure = 8.0 * torch.nn.functional.one_hot(data.clean_labels, 10)
        >>> noise, posterior = judge(data, sure)
        >>> round(noise.rate, 2), posterior.shape
        (0.2, torch.Size([1437, 10]))
    """
    labels, weights, confirmed = dataset.labels, dataset.weights, dataset.confirmed
    if confirmed is None or not bool(confirmed.any()):
        noise = fit_label_noise(logits, labels, weights=weights, generator=generator)
        return noise, noise.posterior(logits, labels)
    still_open = ~confirmed
    if int(still_open.sum()) < FEWEST_PER_CLASS * dataset.k:
        still_open = torch.ones_like(confirmed)  # too few for a law of their own
    noise = fit_label_noise(
        logits[still_open],
        labels[still_open],
        weights=None if weights is None else weights[still_open],
        generator=generator,
    )
    posterior = noise.posterior(logits, labels)
    posterior[confirmed] = torch.nn.functional.one_hot(labels[confirmed], dataset.k).to(posterior)
    counted = torch.ones(len(labels), dtype=torch.float64) if weights is None else weights.to(torch.float64)
    share = float(counted[~confirmed].sum() / counted.sum())
    low, high = noise.interval
    return replace(noise, rate=share * noise.rate, interval=(share * low, share * high), samples=len(labels)), posterior


@dataclass(frozen=True)
class _Law:
    sharpness: float
    bias: Tensor
    transition: Tensor
    rate: float


def _start(rows: Tensor, labels: Tensor, weight: Tensor) -> _Law:
    k = rows.shape[1]
    rate = max(0.02, _mean((rows.argmax(dim=1) != labels).to(torch.float64), weight))
    return _Law(2.0, rows.new_zeros(k), _uniform(rate, k), rate)


def _uniform(rate: float, k: int) -> Tensor:
    """The matrix of noise that is the same for all pairs of classes, short of the point where labels say nothing."""
    rate = min(rate, 0.9 * (k - 1) / k)
    matrix = torch.full((k, k), rate / (k - 1), dtype=torch.float64)
    return matrix.fill_diagonal_(1.0 - rate)


def _climb(rows: Tensor, labels: Tensor, weight: Tensor, law: _Law, steps: int) -> _Law:
    """Raise the likelihood of the labels until it stands still, with the true label known if the model is surest."""
    sure, believed = _surest(rows)
    before = -math.inf
    for _ in range(steps):
        joint = _joint(rows, labels, law)
        evidence = joint.logsumexp(dim=1, keepdim=True)
        posterior = (joint - evidence).exp()
        posterior[sure] = believed
        law = _maximize(rows, labels, weight, posterior, law)
        now = _mean(evidence[:, 0], weight)
        if now - before < _TOLERANCE:
            break
        before = now
    return law


def _surest(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Where the gap to the second class is among the widest of its predicted class, and those classes, one-hot."""
    (first, second), (predicted, _) = (part.T for part in rows.topk(2, dim=1))
    k = rows.shape[1]
    order = (second - first).argsort(stable=True)
    order = order[predicted[order].argsort(stable=True)]  # class by class, the widest gap first
    sizes = predicted.bincount(minlength=k)
    place = torch.arange(len(rows)) - (sizes.cumsum(0) - sizes)[predicted[order]]
    sure = order[place < _SURE * sizes[predicted[order]]]
    return sure, torch.nn.functional.one_hot(predicted[sure], k).to(rows.dtype)


def _maximize(rows: Tensor, labels: Tensor, weight: Tensor, posterior: Tensor, law: _Law) -> _Law:
    counted = _counted(labels, weight, posterior)
    sharpness, bias = _regress(rows, posterior, weight, law.sharpness, law.bias)
    return _Law(sharpness, bias, _transition(counted), _rate(counted))


def _joint(rows: Tensor, labels: Tensor, law: _Law) -> Tensor:
    """The logarithms ``(n, k)`` of the probability of each true label together with the one given."""
    return (law.sharpness * rows + law.bias).log_softmax(dim=1) + law.transition.T[labels].log()


def _counted(labels: Tensor, weight: Tensor, posterior: Tensor) -> Tensor:
    """How many samples ``(k, k)`` of each true class carry each label."""
    k = posterior.shape[1]
    return posterior.new_zeros(k, k).index_add_(0, labels, posterior * weight[:, None]).T


def _rate(counted: Tensor) -> float:
    return float(1.0 - counted.trace() / counted.sum())


def _transition(counted: Tensor) -> Tensor:
    prior = _PRIOR_SAMPLES * _uniform(_rate(counted), len(counted))
    return (counted + prior) / (counted + prior).sum(dim=1, keepdim=True)


def _regress(rows: Tensor, target: Tensor, weight: Tensor, sharpness: float, bias: Tensor) -> tuple[float, Tensor]:
    """One damped Newton step of the regression of soft labels on logits, in sharpness 1/T and bias."""

    def objective(a: float, b: Tensor) -> float:
        fit = ((a * rows + b).log_softmax(dim=1) * target).sum(dim=1) @ weight
        return float(fit - 0.5 * _BIAS_PRECISION * b @ b)

    k = rows.shape[1]
    p = (sharpness * rows + bias).softmax(dim=1)
    left = (target - p) * weight[:, None]
    mean = (p * rows).sum(dim=1)
    gradient = torch.cat([(left * rows).sum()[None], left.sum(dim=0) - _BIAS_PRECISION * bias])
    curvature = rows.new_zeros(k + 1, k + 1)
    curvature[0, 0] = ((p * rows**2).sum(dim=1) - mean**2) @ weight
    curvature[0, 1:] = curvature[1:, 0] = weight @ (p * (rows - mean[:, None]))
    curvature[1:, 1:] = torch.diag(weight @ p) - (p * weight[:, None]).T @ p
    curvature.diagonal()[1:] += _BIAS_PRECISION
    curvature[0, 0] += 1e-9
    step = torch.linalg.solve(curvature, gradient)
    here, size = objective(sharpness, bias), 1.0
    for _ in range(8):
        a, b = sharpness + size * float(step[0]), bias + size * step[1:]
        if a > 0 and objective(a, b) >= here:
            return a, b - b.mean()
        size /= 2
    return sharpness, bias


def _bootstrap(rows: Tensor, labels: Tensor, weight: Tensor, law: _Law, generator: torch.Generator) -> float:
    """The standard deviation of the rate over samples drawn again, of at most _BOOTSTRAP_SAMPLES."""
    rows, labels, weight = _part(rows, labels, weight, _BOOTSTRAP_SAMPLES)
    n = len(rows)
    rates = []
    for _ in range(_BOOTSTRAPS):
        drawn = torch.bincount(torch.randint(n, (n,), generator=generator), minlength=n)
        again = _climb(rows, labels, weight * drawn, replace(law), _BOOTSTRAP_STEPS)
        rates.append(again.rate)
    return float(torch.tensor(rates, dtype=torch.float64).std())


def _part(logits: Tensor, labels: Tensor, weights: Tensor | None, most: int) -> tuple[Tensor, Tensor, Tensor]:
    """Take every so-many-th sample, if there are more than enough."""
    index = torch.arange(0, len(logits), max(1, -(-len(logits) // most)))
    weight = torch.ones(len(index), dtype=torch.float64) if weights is None else weights[index].to(torch.float64)
    return logits[index].to(torch.float64), labels[index], weight


def _mean(values: Tensor, weight: Tensor) -> float:
    return float(values @ weight / weight.sum())


def _check(logits: Tensor, labels: Tensor, weights: Tensor | None) -> None:
    if logits.ndim != 2 or logits.shape[1] < 2 or len(logits) == 0:
        raise InputError(f"logits must be (n, k) with n >= 1 and k >= 2, got {tuple(logits.shape)}")
    if not bool(torch.isfinite(logits).all()):
        raise InputError("logits must be finite, got NaN or infinity; look at the model that made them")
    k = logits.shape[1]
    if labels.shape != logits.shape[:1] or int(labels.min()) < 0 or int(labels.max()) >= k:
        raise InputError(
            f"labels must be {len(logits)} numbers in 0..{k - 1}, one per row of logits, got shape "
            f"{tuple(labels.shape)}; leave samples without a label out"
        )
    if weights is not None and (weights.shape != labels.shape or float(weights.min()) < 0 or not float(weights.sum())):
        raise InputError(f"weights must be {len(logits)} numbers >= 0, not all 0, got shape {tuple(weights.shape)}")
