"""Fitting: gather sums and a sample, decompose, choose strength and width by leave-one-out, answer for every sample.

The likelihood of the *given* labels under models that did not see them decides between strengths, widths and kernels;
no truth and no test set is involved. Data is read at most twice for a linear model: once for the sums, once for the
leave-one-out answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse
import torch
from torch import Tensor

from anchored._checks import check_integer, check_real
from anchored._errors import InputError
from anchored._names import choose
from anchored._progress import Work
from anchored.ridge.calibrate import fit_sharpness, given_logits, log_likelihood, log_normalizer
from anchored.ridge.copies import Keys, groups_of, row_keys
from anchored.ridge.kernel import MappedRows, Nystroem, widths
from anchored.ridge.model import Choice, LeftOut, Ridge
from anchored.ridge.rows import Array, ArrayRows, Rows
from anchored.ridge.sample import Sample, sample_size
from anchored.ridge.solve import Spectrum, deviations, spectrum_of_rows, spectrum_of_sums
from anchored.ridge.sums import Sums, Targets, as_targets

__all__ = ["Gathered", "fit_gathered", "fit_ridge", "fit_rows", "gather", "gather_chunk", "join", "with_class_weights"]

_STRENGTHS = tuple(10.0 ** (step / 2) for step in range(-10, 6))
"""Candidates for the strength, in units of the mean eigenvalue: sixteen, from 1e-5 to 300."""
_FURTHER = 8
"""How many further half decades are tried if the best strength is at an end."""
_GAIN = 1e-4
"""Nats per sample below which a further strength is not worth looking for."""
_LANDMARKS = 1_000
_FEW_LANDMARKS = 250
"""Landmarks with which the width is chosen: the time of a width grows with their square."""
_WORTH_DOUBLING = 0.05
"""Nats per sample that twice as many landmarks must gain for twice as many again to be tried."""
_KERNELS = {"rbf": ("rbf",), "auto": ("linear", "rbf")}


@dataclass(frozen=True, eq=False)
class Gathered:
    """What one pass over the data leaves.

    Attributes:
        sums: Sums of all rows; None if there are fewer rows than columns, where the rows themselves are smaller.
        sample: The rows on which strength and temperature are chosen.
        keys: Keys of all rows in order; empty if they are not needed.
    """

    sums: Sums | None
    sample: Sample
    keys: Keys


def fit_ridge(
    X: Tensor,
    labels: Tensor,
    k: int,
    *,
    alpha: float | Sequence[float] | str = "loo",
    kernel: str | None = None,
    class_weight: Tensor | str | None = None,
    weights: Tensor | None = None,
    prior: Tensor | str | None = None,
    landmarks: int = _LANDMARKS,
    gamma: float | None = None,
) -> Ridge:
    r"""Fit anchored least squares: regress the labels' anchors on the features.

    .. math::  \min_{B, b} \tfrac12 \sum_i c_i \lVert B^\top \tilde x_i + b - w_{y_i} \rVert^2
               + \tfrac12 \alpha \lVert B \rVert^2

    Args:
        X: Features ``(n, d)``, finite, of any real type; they are standardised in float64.
        labels: Classes ``(n,)`` in 0..k-1, or rows of class probabilities ``(n, k)``: then the target is their mean
            anchor.
        k: Number of classes.
        alpha: Strength: a positive number, several to choose from, or ``"loo"`` for sixteen over seven decades.
        kernel: None for a linear model, ``"rbf"`` for a Gaussian kernel, ``"auto"`` for the better of the two.
        class_weight: Weight ``(k,)`` of each class, or ``"balanced"`` for the same total weight of every class.
        weights: Weight ``(n,)`` of each sample. A weight of 3 is the same as three copies, 0 as none.
        prior: Class shares ``(k,)`` where the model will be used, or ``"uniform"``; None if they are those of the
            labels.
        landmarks: Most landmarks of the kernel.
        gamma: Sharpness of the kernel; None chooses it as the strength is chosen.

    Returns:
        The fitted model, with leave-one-out logits of every sample whose weight is not zero, in order.

    Raises:
        InputError: If the data cannot be used; the message says what to change.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> y = torch.randint(3, (600,), generator=generator)
        >>> X = torch.nn.functional.one_hot(y, 3) + 0.5 * torch.randn(600, 3, generator=generator)
        >>> model = fit_ridge(X, y, 3)
        >>> model.loo_logits.shape, bool((model.loo_logits.argmax(dim=1) == y).double().mean() > 0.85)
        (torch.Size([600, 3]), True)
    """
    check_integer("k", k, low=2, way_out="a single class needs no classifier")
    rows = ArrayRows(X.detach().cpu().numpy())
    given = labels.detach().cpu().numpy()
    if len(given) != rows.n:
        raise InputError(f"labels must have one entry per row of X, got {len(given)} for {rows.n} rows")
    targets = as_targets(given, k)
    each = None if weights is None else weights.detach().cpu().numpy().astype(np.float64)
    if each is not None:
        _check_weights(each, rows.n)
        if not each.all():
            kept = np.flatnonzero(each)
            rows, targets, each = ArrayRows(rows.values[kept]), targets[kept], each[kept]
    each = with_class_weights(targets, each, class_weight)
    return fit_rows(rows, targets, each, alpha=alpha, kernel=kernel, prior=prior, landmarks=landmarks, gamma=gamma)


def fit_rows(
    rows: Rows,
    targets: Targets,
    weights: Array | None = None,
    *,
    alpha: float | Sequence[float] | str = "loo",
    kernel: str | None = None,
    prior: Tensor | str | None = None,
    landmarks: int = _LANDMARKS,
    gamma: float | None = None,
    keep: bool = True,
    gathered: Gathered | None = None,
) -> Ridge:
    """Fit rows that are read in chunks; :func:`fit_ridge` for data in memory ends here.

    Args:
        rows: Features ``(n, d)``.
        targets: Class probabilities ``(n, k)`` from :func:`anchored.ridge.as_targets`.
        weights: ``(n,)`` positive weights, class weights included; None for one each.
        alpha: As for :func:`fit_ridge`.
        kernel: As for :func:`fit_ridge`.
        prior: As for :func:`fit_ridge`.
        landmarks: As for :func:`fit_ridge`.
        gamma: As for :func:`fit_ridge`.
        keep: Whether to keep the leave-one-out logits, ``(n, k)`` numbers.
        gathered: What :func:`gather` returned for these rows; None to gather here.

    Returns:
        The fitted model.

    Raises:
        InputError: If the data cannot be used.
    """
    n, k = targets.shape
    _check_counts(n, k, np.asarray(targets.sum(axis=0)).ravel())
    candidates = _check_alpha(alpha)
    kinds = ("linear",) if kernel is None else choose(kernel, _KERNELS, what="kernel")
    check_integer("landmarks", landmarks, low=1)
    if gamma is not None:
        check_real("gamma", gamma, low=0, closed="neither", way_out="give a positive number, or None to choose it")
    if gathered is None:
        gathered = gather(rows, targets, weights)
    sample = gathered.sample
    found: list[_Fit] = []
    if "linear" in kinds:
        found.append(_choose(_linear_spectrum(rows, targets, weights, gathered), sample, None, candidates))
    if "rbf" in kinds:
        found.append(_fit_kernel(rows, targets, weights, gathered, candidates, landmarks, gamma))
    best = max(found, key=lambda each: each.choice.log_likelihood)
    mapped = rows if best.kernel is None else MappedRows(rows, best.kernel)
    left_out = _leave_out(mapped, targets, weights, gathered.keys, best.spectrum, best.choice, keep=keep)
    overall = Choice(
        best.choice.alpha,
        best.choice.gamma,
        best.choice.temperature,
        float(np.average(left_out.given, weights=weights)),
    )
    compared = tuple(choice for each in found for choice in each.choices)
    return _model(best, overall, compared, prior, n, left_out)


def fit_gathered(
    gathered: Gathered, *, alpha: float | Sequence[float] | str = "loo", prior: Tensor | str | None = None
) -> Ridge:
    """Fit a linear model from sums and a sample alone, without the data.

    Args:
        gathered: Joined results of :func:`gather_chunk`, with sums.
        alpha: As for :func:`fit_ridge`; chosen by the exact leave-one-out answers of the sample's rows.
        prior: As for :func:`fit_ridge`.

    Returns:
        The fitted model; its leave-one-out logits are those of the sample's rows, in the order of the sample.

    Raises:
        InputError: If there are too few rows or classes.

    Example:
        >>> X, P = np.arange(8.0)[:, None], as_targets(np.array([0, 0, 0, 0, 1, 1, 1, 1]), 2)
        >>> parts = [gather_chunk(X[:3], P[:3]), gather_chunk(X[3:], P[3:])]        # as they come, or on two machines
        >>> fit_gathered(join(parts)).logits(torch.tensor([[1.0], [6.0]])).argmax(dim=1).tolist()
        [0, 1]
    """
    sums, sample = gathered.sums, gathered.sample
    if sums is None:
        raise InputError("a fit from sums needs sums; gather them with sums=True")
    _check_counts(sums.rows, sums.k, sums.class_weights)
    best = _choose(spectrum_of_sums(sums), sample, None, _check_alpha(alpha))
    spectrum, choice = best.spectrum, best.choice
    logits = spectrum.leave_one_out(spectrum.rotate(sample.rows), sample.targets, sample.weights, choice.alpha)
    left_out = _answers(logits / choice.temperature, sample.targets, keep=True)
    return _model(best, choice, best.choices, prior, sums.rows, left_out)


def gather(rows: Rows, targets: Targets, weights: Array | None = None) -> Gathered:
    """Read all rows once: sums, sample and keys.

    Args:
        rows: Features ``(n, d)``.
        targets: Class probabilities ``(n, k)``, CSR.
        weights: ``(n,)`` positive weights; None for one each.

    Returns:
        Sums only if there are at least as many rows as columns.

    Example:
        >>> found = gather(ArrayRows(np.array([[0.0], [2.0], [4.0]])), as_targets(np.array([0, 1, 1]), 2))
        >>> found.sums.mean.tolist(), len(found.sample.keys)
        ([2.0], 3)
    """
    sums = rows.n >= rows.d
    parts = (
        gather_chunk(rows.read(start, stop), targets[start:stop], _slice(weights, start, stop), sums=sums)
        for start, stop in rows.spans()
    )
    return join(parts)


def gather_chunk(chunk: Array, targets: Targets, weights: Array | None = None, *, sums: bool = True) -> Gathered:
    """Gather one chunk.

    Args:
        chunk: Features ``(n, d)``, float64.
        targets: Class probabilities ``(n, k)``, CSR.
        weights: ``(n,)`` positive weights; None for one each.
        sums: Whether to compute sums, ``(d, d)`` numbers.

    Returns:
        The chunk's part of what :func:`join` adds up.
    """
    keys = row_keys(chunk)
    sample = Sample.of(keys, chunk, targets, weights, sample_size(targets.shape[1]))
    return Gathered(Sums.of(chunk, targets, weights) if sums else None, sample, keys)


def join(parts: Iterable[Gathered]) -> Gathered:
    """Join the parts of the data in their order; the same parts give the same bytes wherever they were computed.

    Raises:
        InputError: If the parts have different features or classes, or there is none.
    """
    sums: Sums | None = None
    sample: Sample | None = None
    keys: list[Keys] = []
    for part in parts:
        keys.append(part.keys)
        if part.sums is not None:
            sums = part.sums if sums is None else sums.merge(part.sums)
        sample = part.sample if sample is None else sample.merge(part.sample)
    if sample is None:
        raise InputError("X has no rows, so there is nothing to fit; give at least two classes' samples")
    return Gathered(sums, sample, np.concatenate(keys))


@dataclass(frozen=True, eq=False)
class _Fit:
    spectrum: Spectrum
    kernel: Nystroem | None
    choice: Choice
    choices: tuple[Choice, ...]


def _linear_spectrum(rows: Rows, targets: Targets, weights: Array | None, gathered: Gathered) -> Spectrum:
    if gathered.sums is not None:
        return spectrum_of_sums(gathered.sums)
    return spectrum_of_rows(rows.read(0, rows.n), targets, weights)


def _fit_kernel(
    rows: Rows,
    targets: Targets,
    weights: Array | None,
    gathered: Gathered,
    candidates: tuple[float, ...] | None,
    landmarks: int,
    gamma: float | None,
) -> _Fit:
    """Choose the width with few landmarks; then double them as long as that makes labels clearly likelier."""
    sample, sums = gathered.sample, gathered.sums
    points = sample.rows[:landmarks]
    if sums is not None:
        mean, inverse = sums.mean, deviations(np.diagonal(sums.scatter), sums.mean, sums.weight)
    else:
        mean = np.average(sample.rows, axis=0, weights=sample.weights)
        squares = sample.weights @ (sample.rows - mean) ** 2
        inverse = deviations(squares, mean, float(sample.weights.sum()))
    whole = len(np.unique(gathered.keys)) == len(sample.keys)
    tried: list[_Fit] = []

    def fit(count: int, gamma: float) -> float:
        kernel = Nystroem.fit(points[:count], mean, inverse, gamma)
        features = MappedRows(ArrayRows(sample.rows), kernel).read(0, len(sample.rows))
        spectrum = spectrum_of_sums(Sums.of(features, sample.targets, sample.weights), scale=False)
        tried.append(_choose(spectrum, sample, kernel, candidates, features=features))
        return tried[-1].choice.log_likelihood

    count = min(_FEW_LANDMARKS, len(points))
    gamma = _highest(lambda each: fit(count, each), widths(points, mean, inverse) if gamma is None else [gamma])
    best = max(tried, key=lambda each: each.choice.log_likelihood)
    gain = math.inf
    while count < len(points) and gain > _WORTH_DOUBLING:
        count = min(2 * count, len(points))
        gain = fit(count, gamma) - best.choice.log_likelihood
        if gain > 0:
            best = tried[-1]
    choices = tuple(choice for each in tried for choice in each.choices)
    if not whole:
        assert best.kernel is not None
        spectrum = _mapped_spectrum(MappedRows(rows, best.kernel), targets, weights)
        best = _choose(spectrum, sample, best.kernel, candidates)
        choices += best.choices
    return _Fit(best.spectrum, best.kernel, best.choice, choices)


def _highest(value: Callable[[float], float], candidates: Sequence[float]) -> float:
    """Return the candidate of the largest value, found by climbing from the second one: values rise and then fall."""
    last = len(candidates) - 1
    values: dict[int, float] = {}

    def at(place: int) -> float:
        if not 0 <= place <= last:
            return -math.inf
        if place not in values:
            values[place] = value(candidates[place])
        return values[place]

    place = min(1, last)
    step = 1 if at(place + 1) > at(place) else -1
    while at(place + step) > at(place):
        place += step
    return candidates[place]


def _mapped_spectrum(rows: MappedRows, targets: Targets, weights: Array | None) -> Spectrum:
    """Decompose kernel features, which are centred but not scaled: their sizes are what the kernel means."""
    sums: Sums | None = None
    for start, stop in rows.spans():
        part = Sums.of(rows.read(start, stop), targets[start:stop], _slice(weights, start, stop))
        sums = part if sums is None else sums.merge(part)
    assert sums is not None
    return spectrum_of_sums(sums, scale=False)


def _choose(
    spectrum: Spectrum,
    sample: Sample,
    kernel: Nystroem | None,
    candidates: tuple[float, ...] | None,
    *,
    features: Array | None = None,
) -> _Fit:
    """Take the strength under whose leave-one-out logits, after their temperature, the given labels are likeliest."""
    if features is None:
        rows = ArrayRows(sample.rows)
        features = sample.rows if kernel is None else MappedRows(rows, kernel).read(0, rows.n)
    rotated = spectrum.rotate(features)
    squares = rotated**2
    gamma = None if kernel is None else kernel.gamma
    sharpness: float | None = None

    def judge(alpha: float) -> Choice:
        nonlocal sharpness
        logits = spectrum.leave_one_out(rotated, sample.targets, sample.weights, alpha, squares=squares)
        sharpness = fit_sharpness(logits, sample.targets, sample.weights, start=sharpness)
        likelihood = log_likelihood(sharpness * logits, sample.targets, sample.weights)
        return Choice(alpha, gamma, 1.0 / sharpness, likelihood)

    if candidates is not None:
        choices = [judge(alpha) for alpha in candidates]
    else:
        choices = _climb(judge, spectrum.unit)
    best = max(choices, key=lambda each: each.log_likelihood)
    return _Fit(spectrum, kernel, best, tuple(choices))


def _climb(judge: Callable[[float], Choice], unit: float) -> list[Choice]:
    """Judge all sixteen strengths, and further ones as long as the best is at an end and they gain something."""
    work = Work("choosing the strength of least squares", len(_STRENGTHS))
    choices = []
    for strength in _STRENGTHS:
        choices.append(judge(unit * strength))
        work.step()
    step = math.sqrt(10.0)
    for _ in range(_FURTHER):
        if choices[0].log_likelihood > max(each.log_likelihood for each in choices[1:]) + _GAIN:
            choices.insert(0, judge(choices[0].alpha / step))
        elif choices[-1].log_likelihood > max(each.log_likelihood for each in choices[:-1]) + _GAIN:
            choices.append(judge(choices[-1].alpha * step))
        else:
            break
    return choices


def _leave_out(
    rows: Rows, targets: Targets, weights: Array | None, keys: Keys, spectrum: Spectrum, choice: Choice, *, keep: bool
) -> LeftOut:
    """Answer for every row by the model without it and its copies."""
    means, masses = _with_copies(targets, weights, keys)
    parts = []
    for start, stop in rows.spans(targets.shape[1]):
        rotated = spectrum.rotate(rows.read(start, stop))
        logits = spectrum.leave_one_out(rotated, means[start:stop], _slice(masses, start, stop), choice.alpha)
        logits /= choice.temperature
        parts.append(_answers(logits, targets[start:stop], keep=keep))
    return LeftOut(
        np.concatenate([part.logits for part in parts if part.logits is not None]) if keep else None,
        np.concatenate([part.given for part in parts]),
        np.concatenate([part.predicted for part in parts]),
        np.concatenate([part.certainty for part in parts]),
    )


def _answers(logits: Array, targets: Targets, *, keep: bool) -> LeftOut:
    normalizer = log_normalizer(logits)
    return LeftOut(
        logits if keep else None,
        given_logits(logits, targets) - normalizer,
        logits.argmax(axis=1),
        logits.max(axis=1) - normalizer,
    )


def _with_copies(targets: Targets, weights: Array | None, keys: Keys) -> tuple[Targets, Array | None]:
    """Return mean target and total weight of each row's copies, itself included."""
    groups = groups_of(keys)
    if groups is None:
        return targets, weights
    n = len(groups)
    each = np.ones(n) if weights is None else weights
    total = np.bincount(groups, weights=each).astype(np.float64)
    gathered = scipy.sparse.csr_matrix((each / total[groups], (groups, np.arange(n))), shape=(len(total), n))
    return (gathered @ targets).tocsr()[groups], total[groups]


def _model(
    best: _Fit, choice: Choice, choices: tuple[Choice, ...], prior: Tensor | str | None, n: int, left_out: LeftOut
) -> Ridge:
    spectrum = best.spectrum
    slope, offset = spectrum.weights_of(choice.alpha)
    # A class that no sample has is counted as half a sample, since its share has no logarithm.
    shares = np.maximum(spectrum.shares, 0.5 / spectrum.weight)
    shift = np.zeros(spectrum.k) if prior is None else np.log(_check_prior(prior, spectrum.k)) - np.log(shares)
    mean, slope, offset, shift = (np.ascontiguousarray(each) for each in (spectrum.mean, slope, offset, shift))
    return Ridge(
        torch.from_numpy(mean),
        torch.from_numpy(slope),
        torch.from_numpy(offset),
        torch.from_numpy(shift),
        torch.from_numpy(spectrum.shares),
        choice=choice,
        kernel=best.kernel,
        choices=choices,
        constant=spectrum.constant if best.kernel is None else _constant(best.kernel),
        rows=n,
        left_out=left_out,
    )


def _constant(kernel: Nystroem) -> tuple[int, ...]:
    return tuple((kernel.inverse == 0).nonzero()[:, 0].tolist())


def with_class_weights(targets: Targets, weights: Array | None, class_weight: Tensor | str | None) -> Array | None:
    """Multiply the samples' weights by those of their classes.

    Args:
        targets: Class probabilities ``(n, k)``, CSR.
        weights: ``(n,)``; None for one each.
        class_weight: ``(k,)``, ``"balanced"``, or None.

    Returns:
        Weights ``(n,)``, or None if all are one.

    Raises:
        InputError: If a class weight is not a positive number.

    Example:
        >>> with_class_weights(as_targets(np.array([0, 0, 0, 1]), 2), None, "balanced").round(3).tolist()
        [0.667, 0.667, 0.667, 2.0]
    """
    if class_weight is None:
        return weights
    each = np.ones(targets.shape[0]) if weights is None else weights
    k = targets.shape[1]
    if isinstance(class_weight, str):
        choose(class_weight, {"balanced": True}, what="class_weight")
        sizes = np.asarray(targets.T @ each).ravel()
        by_class = sizes.sum() / (k * np.maximum(sizes, 1e-300))
        by_class[sizes == 0] = 1.0
    else:
        by_class = class_weight.detach().cpu().numpy().astype(np.float64)
        if by_class.shape != (k,) or not (np.isfinite(by_class).all() and (by_class > 0).all()):
            raise InputError(f"class_weight must be {k} positive numbers, one per class, or 'balanced'")
    product: Array = each * np.asarray(targets @ by_class).ravel()
    return product


def _check_prior(prior: Tensor | str, k: int) -> Array:
    if isinstance(prior, str):
        choose(prior, {"uniform": True}, what="prior")
        return np.full(k, 1.0 / k)
    shares = prior.detach().cpu().numpy().astype(np.float64)
    if shares.shape != (k,) or not (np.isfinite(shares).all() and (shares > 0).all()):
        raise InputError(f"prior must be {k} positive class shares, or 'uniform', got shape {shares.shape}")
    normalized: Array = shares / shares.sum()
    return normalized


def _check_alpha(alpha: float | Sequence[float] | str) -> tuple[float, ...] | None:
    way_out = "give a positive number, several of them, or 'loo'"
    if isinstance(alpha, str):
        if alpha != "loo":
            raise InputError(f"alpha must be a positive number, several of them, or 'loo', got {alpha!r}")
        return None
    values = list(alpha) if isinstance(alpha, Sequence | np.ndarray) else [alpha]
    if not values:
        raise InputError(f"alpha is an empty list; {way_out}")
    return tuple(check_real("alpha", value, low=0, closed="neither", way_out=way_out) for value in values)


def _check_weights(weights: Array, n: int) -> None:
    if weights.shape != (n,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError(f"weights must be {n} finite numbers >= 0, one per row of X, got shape {weights.shape}")
    if not weights.any():
        raise InputError("every weight is zero, so there is nothing to learn from; give some rows a weight")


def _check_counts(n: int, k: int, counts: npt.NDArray[np.float64]) -> None:
    if int((counts > 0).sum()) < 2:
        only = int(np.argmax(counts))
        raise InputError(f"labels must hold at least two classes, got class {only} only; add samples of another")
    if n < k:
        raise InputError(f"a fit needs at least as many rows as classes, got {n} rows for {k} classes; add samples")


def _slice(values: Array | None, start: int, stop: int) -> Array | None:
    return None if values is None else values[start:stop]
