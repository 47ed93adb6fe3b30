r"""Temperature scaling: softmax(f / T) gives calibrated probabilities, with T fitted on held-out data.

The held-out labels are as noisy as the training labels. A fit that ignores this would make the model as unsure as its
labels are wrong. So the fit takes the noise rate :math:`\eta` into account; at :math:`\eta = 0` it is ordinary
temperature scaling. If the probabilities of the true labels are known, they are the target and no rate is needed.

If no held-out sample was misclassified, or the noise explains all that were, the likelihood asks for T = 0, that is
for certainty. But n right answers do not prove more than Laplace's rule of succession allows, one mistake in n + 2:
:func:`least_temperature` is the temperature at which the mean confidence says just that.

References:
    Guo et al., 2017. On Calibration of Modern Neural Networks. ICML.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from anchored._checks import check_real
from anchored._errors import InputError

__all__ = ["fit_noise_and_temperature", "fit_temperature", "least_temperature", "noisy_nll"]

_LOG_RANGE = (-9.0, 7.0)  # T from 1e-4, for cosines in [-0.3, 0.3], to 1e3, for logits blown up by memorising
_GRID = 65
_RATE_TOLERANCE, _MOST_STEPS = 1e-6, 60
_GOLDEN = (math.sqrt(5) - 1) / 2


def noisy_nll(
    logits: Tensor, labels: Tensor, temperature: float, *, noise_rate: float = 0.0, weights: Tensor | None = None
) -> float:
    r"""Return the mean negative log-likelihood of noisy labels at a temperature.

    .. math::  -\frac1n \sum_i \log \tilde p_{i, y_i}, \qquad
               \tilde{\mathbf p}_i = (1-\eta)\,\mathbf p_i + \frac{\eta}{k-1}(1 - \mathbf p_i), \quad
               \mathbf p_i = \operatorname{softmax}(\mathbf f_i / T).

    :math:`\mathbf p` is the distribution of the true label, :math:`\tilde{\mathbf p}` that of the noisy one.

    Args:
        logits: Logits ``(n, k)``.
        labels: Labels ``(n,)``, or the probabilities ``(n, k)`` of the true ones.
        temperature: The temperature T.
        noise_rate: The rate eta of symmetric noise in the labels.
        weights: Weight ``(n,)`` of each sample; None for equal weights.

    Example:
        >>> noisy_nll(torch.zeros(2, 4), torch.tensor([0, 1]), 1.0) == math.log(4)
        True
    """
    k = logits.shape[1]
    rows = (logits.to(torch.float64) / temperature).log_softmax(dim=1)
    log_p = (rows * labels).sum(dim=1) if labels.ndim == 2 else rows.gather(1, labels[:, None]).squeeze(1)
    if noise_rate > 0:
        # (1-eta) p + eta (1-p)/(k-1), which never vanishes: no logarithm of zero for a confident mistake
        log_p = (noise_rate / (k - 1) + (1 - noise_rate * k / (k - 1)) * log_p.exp()).log()
    if weights is None:
        return float(-log_p.mean())
    weights = weights.to(torch.float64)
    return float(-(log_p * weights).sum() / weights.sum())


def fit_temperature(logits: Tensor, labels: Tensor, *, noise_rate: float = 0.0, weights: Tensor | None = None) -> float:
    r"""Find the temperature under which held-out labels are most likely.

    .. math::  T = \arg\min_T \; -\sum_i \log \tilde p_{i, y_i}, \qquad
               \tilde{\mathbf p}_i = (1-\eta)\,\mathbf p_i + \frac{\eta}{k-1}(1 - \mathbf p_i), \quad
               \mathbf p_i = \operatorname{softmax}(\mathbf f_i / T).

    Args:
        logits: Logits ``(n, k)`` of data that was not trained on.
        labels: Labels ``(n,)``, as noisy as the training labels; or the probabilities ``(n, k)`` of the true ones.
        noise_rate: The share of wrong labels among them; 0 if probabilities are given, which already account for it.
        weights: Weight ``(n,)`` of each sample; None for equal weights.

    Raises:
        InputError: If there is no sample, or the shapes do not fit.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> truth = torch.randint(3, (4000,), generator=generator)
        >>> logits = 0.01 * torch.randn(4000, 3, generator=generator)
        >>> logits[torch.arange(4000), truth] += 0.03          # right, but as pale as a small scale makes it
        >>> T = fit_temperature(logits, truth)
        >>> 0.0025 < T < 0.005                                 # the Bayes posterior has T = 0.01 ** 2 / 0.03
        True
    """
    check_real("noise_rate", noise_rate, low=0.0, high=1.0, closed="left")
    if labels.ndim == 2 and (labels.shape != logits.shape or noise_rate):
        raise InputError(
            f"probabilities of the true labels need the shape of the logits and no noise rate, "
            f"got {tuple(labels.shape)} for {tuple(logits.shape)} and {noise_rate:g}"
        )
    if len(logits) == 0 or logits.shape[0] != labels.shape[0]:
        raise InputError(
            f"a temperature needs one label per row of logits and at least one row, "
            f"got {tuple(logits.shape)} and {tuple(labels.shape)}"
        )

    def risk(log_temperature: float) -> float:
        return noisy_nll(logits, labels, math.exp(log_temperature), noise_rate=noise_rate, weights=weights)

    return math.exp(_least(risk, tolerance=1e-6))


def fit_noise_and_temperature(logits: Tensor, labels: Tensor, *, weights: Tensor | None = None) -> tuple[float, float]:
    r"""Find the noise rate and the temperature that together make held-out labels most likely.

    For a fixed T the likelihood is concave in :math:`\eta`, so each temperature has one best rate, and one
    search over T finds both. The two can be told apart because a wrong label hits confident and doubtful
    predictions alike, while a mistake of the model is more likely among the doubtful ones.

    Args:
        logits: Logits ``(n, k)`` of data that was not trained on.
        labels: Labels ``(n,)``, as noisy as the training labels.
        weights: Weight ``(n,)`` of each sample; None for equal weights.

    Returns:
        The rate in ``[0, (k-1)/k)``, and the temperature.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> truth = torch.randint(4, (4000,), generator=generator)
        >>> logits = 5.0 * torch.nn.functional.one_hot(truth, 4) + torch.randn(4000, 4, generator=generator)
        >>> wrong = torch.rand(4000, generator=generator) < 0.3
        >>> noisy = torch.where(wrong, (truth + torch.randint(1, 4, (4000,), generator=generator)) % 4, truth)
        >>> eta, T = fit_noise_and_temperature(logits, noisy)
        >>> abs(eta - 0.3) < 0.03
        True
    """
    k = logits.shape[1]
    wide = logits.to(torch.float64)
    weight = torch.ones(len(wide), dtype=torch.float64) if weights is None else weights.to(torch.float64)

    def best_rate(log_temperature: float) -> tuple[float, float]:
        p = (wide / math.exp(log_temperature)).softmax(dim=1).gather(1, labels[:, None])[:, 0].clamp(min=1e-300)
        eta = _likeliest_rate(p, weight, k)
        return float(-((p + eta * (1 - k * p) / (k - 1)).log() @ weight / weight.sum())), eta

    log_temperature = _least(lambda x: best_rate(x)[0], tolerance=1e-4)
    return best_rate(log_temperature)[1], math.exp(log_temperature)


def _likeliest_rate(p: Tensor, weight: Tensor, k: int) -> float:
    """Return the rate that maximises the log-likelihood, by Newton's method inside an interval that shrinks."""
    slope = (1 - k * p) / (k - 1)  # of a label's probability, as the rate grows
    low, high = 0.0, (k - 1) / k * (1 - 1e-9)
    if float((slope / p) @ weight) <= 0:
        return 0.0
    eta = min(high, float((1 - p) @ weight / weight.sum()))
    for _ in range(_MOST_STEPS):
        relative = slope / (p + eta * slope)
        first, second = float(relative @ weight), float(relative**2 @ weight)
        low, high = (eta, high) if first > 0 else (low, eta)
        aim = eta + first / second if second > 0 else eta
        aim = aim if low < aim < high else (low + high) / 2
        if abs(aim - eta) < _RATE_TOLERANCE:
            return aim
        eta = aim
    return eta


def least_temperature(logits: Tensor, *, weights: Tensor | None = None) -> float:
    """Return the lowest temperature that n samples can justify: mean confidence at most ``(n + 1) / (n + 2)``.

    Args:
        logits: Logits ``(n, k)`` of the data that a temperature was fitted on.
        weights: Weight ``(n,)`` of each sample; their sum stands for n.

    Example:
        >>> logits = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
        >>> (logits / least_temperature(logits)).softmax(dim=1).amax(dim=1)      # 3/4 each
        tensor([0.7500, 0.7500])
    """
    wide = logits.to(torch.float64)
    weight = torch.ones(len(wide), dtype=torch.float64) if weights is None else weights.to(torch.float64)
    n = float(weight.sum())
    low, high = _LOG_RANGE
    while high - low > 1e-9:
        middle = (low + high) / 2
        confidence = float((wide / math.exp(middle)).softmax(dim=1).amax(dim=1) @ weight) / n
        low, high = (middle, high) if confidence > (n + 1) / (n + 2) else (low, middle)
    return math.exp(high)


def _least(risk: Callable[[float], float], *, tolerance: float) -> float:
    """Return the log-temperature of least risk, by a grid and then a golden-section search around its best point."""
    # With noise the risk need not be convex in T, so look everywhere first and refine only the best place.
    low, high = _LOG_RANGE
    step = (high - low) / (_GRID - 1)
    best = min((low + i * step for i in range(_GRID)), key=risk)
    low, high = max(low, best - step), min(high, best + step)
    a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_a, at_b = risk(a), risk(b)
    while high - low > tolerance:
        if at_a <= at_b:
            high, b, at_b = b, a, at_a
            a = high - _GOLDEN * (high - low)
            at_a = risk(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + _GOLDEN * (high - low)
            at_b = risk(b)
    return (low + high) / 2
