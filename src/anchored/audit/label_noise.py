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
it takes for one class, the model is taken at its word about the fiftieth of which it is surest (the anchor points of
Patrini et al.). The rows of M of rare classes are drawn towards noise that is the same for all classes, with the
weight of a few samples.

The interval says how far the two can be told apart (:func:`rate_interval`).

References:
    Dawid and Skene, 1979. Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm. JRSS C.
    Patrini et al., 2017. Making Deep Neural Networks Robust to Label Noise: a Loss Correction Approach. CVPR (M,
    anchor points).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from scipy.special import betaincinv
from torch import Tensor

from anchored._errors import InputError
from anchored._random import generator_or_default
from anchored._threads import one_thread_if_small
from anchored.data import Dataset

__all__ = ["FEWEST_PER_CLASS", "LabelNoise", "fit_label_noise", "judge", "judge_labels", "rate_interval"]

_PRIOR_SAMPLES = 20.0
"""How many samples of each class the common noise rate stands for when a row of the matrix is counted."""
_BIAS_PRECISION = 1.0
"""Precision of the normal prior of each class's bias, in nats: a class can be predicted e times too often or rarely."""
_MOST_STEPS, _TOLERANCE = 500, 1e-7
_SURE, _FEWEST_SURE, _LARGEST_SURE = 0.02, 2.0, 0.5
"""The share of the samples taken for a class about which the model is believed."""
_MOST_SAMPLES = 20_000
_SHARES, _FEWEST_IN_SHARE = (0.5, 0.2, 0.1, 0.05, 0.02), 30
"""Shares of the surest samples among which contradictions are counted, if they are enough samples."""
_TESTED = 0.2
"""Share of the surest samples among which the commonest label is compared with the second."""
_SYSTEMATIC = 0.5
"""How many mistakes that a judge repeats are allowed for, as a share of the contradictions that may be its own."""
FEWEST_PER_CLASS = 10
"""Samples per class, on average, below which a law of the labels would be a guess."""
_LEVEL = 0.95


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

    @classmethod
    def unknown(cls, k: int, samples: int) -> LabelNoise:
        """Return what is said if nothing can be known: every label as it is given, and a rate that may be anything.

        Args:
            k: Number of classes.
            samples: Number of labels.
        """
        one = torch.eye(k, dtype=torch.float64)
        return cls(0.0, (0.0, 1.0), one, 1.0, torch.zeros(k, dtype=torch.float64), samples)

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
    logits: Tensor,
    labels: Tensor,
    *,
    weights: Tensor | None = None,
    truth: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> LabelNoise:
    """Estimate the noise of ``labels`` as seen by a model that was not trained on these samples.

    Args:
        logits: ``(n, k)``, of any scale. From a model that has learnt these labels by heart the noise looks too small.
        labels: ``(n,)``, as given.
        weights: ``(n,)``, how much each sample counts.
        truth: ``(n,)``, the true class if a person has said it, -1 otherwise. Which samples were looked at may depend
            on logits and labels: all samples stay in the likelihood, so the most suspect ones being known does not make
            the rest look clean.
        generator: Chooses the samples on which the law is fitted if there are more than 20,000.

    Returns:
        The estimated noise; its rate is that of ``labels`` as they are given here.

    Raises:
        InputError: If shapes do not fit or a number is not finite.

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
    weight = torch.ones(n, dtype=torch.float64) if weights is None else weights.to(torch.float64)
    known = torch.full((n,), -1) if truth is None else truth
    # Softmax ignores a shift of a row; one size for all models lets the search begin at one place.
    rows = logits.to(torch.float64)
    rows = rows - rows.mean(dim=1, keepdim=True)
    size = max(float(rows.std()), 1e-12)
    rows = rows / size
    if n > _MOST_SAMPLES:
        part = torch.randperm(n, generator=generator_or_default(generator))[:_MOST_SAMPLES].sort().values
        law = _climb(rows[part], labels[part], weight[part], known[part], _start(rows, labels, weight), _MOST_STEPS)
        # A part of the samples shows where the maximum lies; the matrix and the rate are then counted over all.
        counted = _counted(labels, weight, _believe(_joint(rows, labels, law).softmax(dim=1), known))
        law = replace(law, transition=_transition(counted), rate=_rate(counted))
    else:
        law = _climb(rows, labels, weight, known, _start(rows, labels, weight), _MOST_STEPS)
    low, high = rate_interval(rows, labels, weights=weights)
    return LabelNoise(
        rate=min(max(law.rate, low), high),
        interval=(low, high),
        transition=law.transition,
        temperature=size / law.sharpness,
        bias=law.bias,
        samples=n,
    )


def rate_interval(logits: Tensor, labels: Tensor, *, weights: Tensor | None = None) -> tuple[float, float]:
    r"""Bound the share of wrong labels by what a judge's contradictions can mean, at 95 %.

    A label that contradicts the judge is wrong, or the judge is. The judge is hardly ever wrong where it is surest. So

    .. math::  r_{\min} = \min_q\, L(\text{contradicted among the surest } q), \qquad
               r_{\max} = U(\text{contradicted among all}) + \tfrac12 (c - r_{\min}),

    where L and U are the ends of exact binomial intervals (Clopper and Pearson), q runs from a half to a fiftieth of
    the samples taken for each class (less the fall from each q to the next smaller one), and c is the share of all
    labels that are contradicted. The lower end is noise that the judge sees even where it is surest. What lies between
    it and c may be the judge's own mistakes or noise where samples are hard: the labels cannot say. Mistakes that
    people repeat on the same kind of sample are learnt by the judge and contradict nothing; half as many of them are
    allowed for as there are contradictions in doubt, so that an easy data set gets a narrow interval and a hard one,
    clean or not, a wide one.

    All this assumes that the true class is the commonest label of each kind of sample. If another label is nearly as
    common even where the judge is surest, nobody can tell which is the true one, and the upper end is 1.

    Args:
        logits: ``(n, k)`` of a model that did not see the sample's label.
        labels: Given labels ``(n,)``.
        weights: ``(n,)``; only the share of the contradictions depends on them.

    Returns:
        The interval.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> truth = torch.randint(4, (4000,), generator=generator)
        >>> logits = 6.0 * torch.nn.functional.one_hot(truth, 4) + torch.randn(4000, 4, generator=generator)
        >>> given = torch.where(torch.rand(4000, generator=generator) < 0.3, (truth + 1) % 4, truth)
        >>> low, high = rate_interval(logits, given)
        >>> 0.05 < low < float((given != truth).double().mean()) < high < 0.45
        True
    """
    n, k = logits.shape
    weight = torch.ones(n, dtype=torch.float64) if weights is None else weights.to(torch.float64)
    predicted = logits.argmax(dim=1)
    wrong = predicted != labels
    contradicted = _mean(wrong.to(torch.float64), weight)
    effective = float(weight.sum() ** 2 / weight.square().sum())
    low, high = contradicted, _exact(contradicted * effective, effective)[1]
    used = weight > 0
    before: float | None = None
    for share in _SHARES:
        sure, _ = _surest(logits, share, fewest=1.0)
        sure = sure[used[sure]]
        if len(sure) >= _FEWEST_IN_SHARE or share == _SHARES[0]:
            here = float(wrong[sure].to(torch.float64).mean())
            before = here if before is None else before
            # Contradictions that grow fewer with sureness grow fewer still beyond the surest samples at hand.
            low = min(low, _exact(float(wrong[sure].sum()), len(sure))[0] - max(0.0, before - here))
            before = here
    low = max(0.0, low)
    high = min(1.0, high + _SYSTEMATIC * (contradicted - low))
    sure, _ = _surest(logits, _TESTED)
    counts = _counted(
        labels[sure], used[sure].to(torch.float64), torch.nn.functional.one_hot(predicted[sure], k).double()
    )
    first = float(counts.diagonal().sum())
    second = float(counts.clone().fill_diagonal_(-1.0).amax(dim=1).clamp(min=0.0).sum())
    if _exact(first, first + second)[0] <= 0.5:
        high = 1.0
    return low, high


def _exact(count: float, total: float) -> tuple[float, float]:
    """Return the exact binomial interval of a share (Clopper and Pearson)."""
    tail = (1 - _LEVEL) / 2
    if total <= 0:
        return 0.0, 1.0
    low = float(betaincinv(count, total - count + 1, tail)) if count > 0 else 0.0
    high = float(betaincinv(count + 1, total - count, 1 - tail)) if count < total else 1.0
    return low, high


def judge(dataset: Dataset, logits: Tensor, *, generator: torch.Generator | None = None) -> tuple[LabelNoise, Tensor]:
    """Estimate the noise of a data set's labels, and the posterior ``(n, k)`` of each true label.

    Args:
        dataset: The data, every sample labelled; labels that a person has confirmed are true.
        logits: ``(n, k)``, of a model that was not trained on these samples.
        generator: As for :func:`fit_label_noise`.

    Returns:
        The noise, whose rate is that of the labels as they are now, and the posterior.
    """
    return judge_labels(
        logits,
        dataset.labels,
        weights=dataset.weights,
        confirmed=dataset.confirmed,
        given=dataset.original_labels,
        generator=generator,
    )


def judge_labels(
    logits: Tensor,
    labels: Tensor,
    *,
    weights: Tensor | None = None,
    confirmed: Tensor | None = None,
    given: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> tuple[LabelNoise, Tensor]:
    """Estimate the noise of labels of which a person may have confirmed some, and the posterior of each true label.

    Those that were looked at are the most suspect ones. If the labels before correction are known, this does no harm:
    what was looked at depends on logits and given labels only, all of which stay in the likelihood, with the truth
    filled in where it is known. If they are not known, the law is that of the samples that nobody has looked at; it
    sees less noise than there was, since the clearest mistakes are gone.

    Args:
        logits: ``(n, k)``, of a model that was not trained on these samples.
        labels: ``(n,)`` as they are now; those that are confirmed are true.
        weights: ``(n,)``, how much each sample counts.
        confirmed: ``(n,)`` bool, which labels a person stands for; None if nobody has looked.
        given: ``(n,)``, the labels before anything was corrected; None if they are not known.
        generator: As for :func:`fit_label_noise`.

    Returns:
        The noise, whose rate is that of the labels as they are now, and the posterior ``(n, k)``.
    """
    if confirmed is None or not bool(confirmed.any()):
        noise = fit_label_noise(logits, labels, weights=weights, generator=generator)
        return noise, noise.posterior(logits, labels)
    k, open_ones = logits.shape[1], ~confirmed
    each = torch.ones(len(labels), dtype=torch.float64) if weights is None else weights.to(torch.float64)
    share = float(each[open_ones].sum() / each.sum())
    if given is not None:
        truth = torch.where(confirmed, labels, -1)
        noise = fit_label_noise(logits, given, weights=weights, truth=truth, generator=generator)
        found = float(each @ (confirmed & (given != labels)).to(torch.float64) / each.sum())
        low, high = (min(max(0.0, end - found), share) for end in noise.interval)
    else:
        few = int(open_ones.sum()) < FEWEST_PER_CLASS * k  # too few for a law of their own
        of = torch.ones_like(confirmed) if few else open_ones
        noise = fit_label_noise(
            logits[of], labels[of], weights=None if weights is None else weights[of], generator=generator
        )
        low, high = (share * end for end in noise.interval)
    posterior = noise.posterior(logits, labels)
    posterior[confirmed] = torch.nn.functional.one_hot(labels[confirmed], k).to(posterior)
    rate = float(each @ (1.0 - posterior.gather(1, labels[:, None])[:, 0]) / each.sum())
    noise = replace(noise, rate=min(max(rate, low), high), interval=(low, high), samples=len(labels))
    return noise, posterior


@dataclass(frozen=True)
class _Law:
    sharpness: float
    bias: Tensor
    transition: Tensor
    rate: float


def _start(rows: Tensor, labels: Tensor, weight: Tensor) -> _Law:
    """Begin with the labels that the surest samples of each class carry: they show how classes are mistaken."""
    k = rows.shape[1]
    rate = max(0.02, _mean((rows.argmax(dim=1) != labels).to(torch.float64), weight))
    sure, believed = _surest(rows)
    counted = _counted(labels[sure], weight[sure], believed)
    prior = _PRIOR_SAMPLES * _uniform(rate, k)
    return _Law(2.0, rows.new_zeros(k), (counted + prior) / (counted + prior).sum(dim=1, keepdim=True), rate)


def _uniform(rate: float, k: int) -> Tensor:
    """The matrix of noise that is the same for all pairs of classes, short of the point where labels say nothing."""
    rate = min(rate, 0.9 * (k - 1) / k)
    matrix = torch.full((k, k), rate / (k - 1), dtype=torch.float64)
    return matrix.fill_diagonal_(1.0 - rate)


def _believe(posterior: Tensor, known: Tensor) -> Tensor:
    """Put the truth into the posterior where it is known."""
    place = (known >= 0).nonzero()[:, 0]
    posterior[place] = torch.nn.functional.one_hot(known[place], posterior.shape[1]).to(posterior)
    return posterior


def _climb(rows: Tensor, labels: Tensor, weight: Tensor, known: Tensor, law: _Law, steps: int) -> _Law:
    """Raise the likelihood of the labels until it stands still, with the true label known where the model is surest."""
    sure, believed = _surest(rows)
    before = -math.inf
    with one_thread_if_small(rows.numel()):
        for _ in range(steps):
            joint = _joint(rows, labels, law)
            evidence = joint.logsumexp(dim=1, keepdim=True)
            posterior = (joint - evidence).exp()
            posterior[sure] = believed
            posterior = _believe(posterior, known)
            law = _maximize(rows, labels, weight, posterior, law)
            now = _mean(evidence[:, 0], weight)
            if now - before < _TOLERANCE:
                break
            before = now
    return law


def _surest(rows: Tensor, share: float | None = None, *, fewest: float | None = None) -> tuple[Tensor, Tensor]:
    """Where the gap to the second class is among the widest of its predicted class, and those classes, one-hot."""
    (first, second), (predicted, _) = (part.T for part in rows.topk(2, dim=1))
    k = rows.shape[1]
    order = (second - first).argsort(stable=True)
    order = order[predicted[order].argsort(stable=True)]  # class by class, the widest gap first
    sizes = predicted.bincount(minlength=k)
    place = torch.arange(len(rows)) - (sizes.cumsum(0) - sizes)[predicted[order]]
    least = _FEWEST_SURE if fewest is None else fewest
    most = ((_SURE if share is None else share) * sizes).clamp(min=least).minimum(_LARGEST_SURE * sizes)
    sure = order[place < most[predicted[order]]]
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
