"""Finding wrong labels: our judges beside cleanlab on the same vectors, calibration and intervals over a grid.

cleanlab is given out-of-sample probabilities of logistic regression in five folds and ranks by ``self_confidence``, its
default; of three strengths (C = 0.01, 0.1, 1) the one that ranks best, by the truth, is shown: more than a user could
know. Its time is that of all three. Ours is :func:`anchored.audit.judge_vectors` with its defaults, ranked by the
probability that the label is wrong. ``gap`` is the largest difference, over ten bins of at least fifty samples, between
that probability and the share that is wrong indeed; ``flagged`` the largest share of correct labels that are flagged
(:func:`anchored.audit.flag`) in any of the classes of many, medium and few samples, if it has at least twenty.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import StandardScaler
from torch import Tensor

from anchored._errors import InputError
from anchored.audit import judge_vectors
from anchored.bench._measure import Result
from anchored.bench.noisy_sets import NoisySet, noisy_sets
from anchored.imbalance import shots

__all__ = ["run"]

_FOLDS, _STRENGTHS = 5, (0.01, 0.1, 1.0)
_BINS, _FEWEST_IN_BIN, _FEWEST_IN_GROUP = 10, 50, 20
_MOST_ITERATIONS = 200
_COLUMNS = (
    "data", "labels", "wrong", "ours AP", "cleanlab AP", "ours s", "cleanlab s",
    "rate", "low", "high", "gap", "flagged",
)  # fmt: skip


def run(
    *,
    data_root: str | Path | None = None,
    seeds: Sequence[int] = (0,),
    data: Sequence[str] | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Result:
    """Measure average precision, seconds, calibration and intervals, row by row.

    Args:
        data_root: Where MNIST lies, and encoded photos and texts; see :func:`anchored.bench.noisy_sets.noisy_sets`.
        seeds: Seeds of the wrong labels; every seed gives rows of its own.
        data: Names of the data to measure; None for all.
        tell: Called with a line about each row before it is measured.

    Returns:
        A row per set of labels; the rows without cleanlab are for the rate alone.
    """
    rows: list[tuple[str | float | None, ...]] = []
    bins = torch.zeros(3, _BINS, dtype=torch.float64)
    said: list[str] = []
    for seed in seeds:
        for each in noisy_sets(data_root, seed=seed):
            if data is not None and each.data not in data:
                continue
            tell(f"{each.data}, {each.law}")
            row, counted, text = _row(each, seed)
            rows.append(row)
            bins += counted
            said.append(f"{each.data}, {each.law}: {text}")
    known = [row for row in rows if row[8] is not None]
    inside = sum(_number(row[8]) <= _number(row[2]) <= _number(row[9]) for row in known)
    compared = [row for row in rows if row[4] is not None]
    return Result(
        title="Finding wrong labels: average precision, seconds, noise rate and calibration",
        columns=_COLUMNS,
        rows=tuple(rows),
        note=f"The interval of the rate contains the truth in {inside} of {len(known)} rows. Of all labels at a "
        f"probability of being wrong, so many are: {_calibration(bins)}. seeds: {', '.join(map(str, seeds))}.",
        facts={
            "better_everywhere": all(_number(row[3]) > _number(row[4]) for row in compared),
            "rows_better": sum(_number(row[3]) > _number(row[4]) for row in compared),
            "rows_compared": len(compared),
            "intervals_containing": inside,
            "intervals": len(known),
            "said": "\n".join(said),
        },
    )


def _row(each: NoisySet, seed: int) -> tuple[tuple[str | float | None, ...], Tensor, str]:
    start = time.perf_counter()
    verdict = judge_vectors(each.X, each.labels, each.k, seed=seed)
    ours = time.perf_counter() - start
    probability = 1.0 - verdict.posterior.gather(1, each.labels[:, None])[:, 0]
    wrong = each.labels != each.truth
    some = bool(wrong.any())
    theirs, seconds = _cleanlab(each, wrong, seed) if each.compared and some else (None, None)
    counted = _binned(probability, wrong)
    low, high = verdict.noise.interval
    row = (
        each.data,
        each.law,
        float(wrong.double().mean()),
        float(average_precision_score(wrong.numpy(), probability.numpy())) if some else None,
        theirs,
        ours,
        seconds,
        verdict.rate,
        low,
        high,
        _gap(counted),
        _flagged(verdict.flagged(each.labels), wrong, each),
    )
    return row, counted, verdict.text


def _cleanlab(each: NoisySet, wrong: Tensor, seed: int) -> tuple[float, float]:
    """Return cleanlab's best average precision over the strengths, and the seconds of all of them."""
    try:
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        raise InputError(
            "this benchmark compares with cleanlab, which is not here; install anchored[cleanlab]"
        ) from None
    labels, found = each.labels.numpy(), []
    start = time.perf_counter()
    rows = StandardScaler().fit_transform(each.X.double().numpy())
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class of fewer than five samples, or a fit that would go on
        for strength in _STRENGTHS:
            model = LogisticRegression(C=strength, max_iter=_MOST_ITERATIONS)
            shares = cross_val_predict(model, rows, labels, cv=folds, method="predict_proba")
            quality = get_label_quality_scores(labels, np.asarray(shares))
            found.append(float(average_precision_score(wrong.numpy(), -quality)))
    return max(found), time.perf_counter() - start


def _binned(probability: Tensor, wrong: Tensor) -> Tensor:
    """Return, for ten bins of the probability, how many samples, the sum of probabilities and how many are wrong."""
    place = (probability * _BINS).long().clamp(0, _BINS - 1)
    sums = torch.zeros(3, _BINS, dtype=torch.float64)
    for row, values in zip(sums, (torch.ones_like(probability), probability, wrong.double()), strict=True):
        row.index_add_(0, place, values.double())
    return sums


def _gap(counted: Tensor) -> float:
    count, expected, wrong = counted
    enough = count >= _FEWEST_IN_BIN
    return float(((wrong - expected)[enough] / count[enough]).abs().max()) if bool(enough.any()) else math.nan


def _calibration(counted: Tensor) -> str:
    count, expected, wrong = (row.tolist() for row in counted)
    return ", ".join(f"{e / c:.2f} → {w / c:.2f}" for c, e, w in zip(count, expected, wrong, strict=True) if c)


def _flagged(flagged: Tensor, wrong: Tensor, each: NoisySet) -> float | None:
    """Return the largest share of correct labels flagged in any shot group, or None if no group is large enough."""
    shares = []
    for members in shots(each.truth.bincount(minlength=each.k)).values():
        group = torch.isin(each.labels, torch.tensor(list(members), dtype=torch.int64)) & ~wrong
        if int(group.sum()) >= _FEWEST_IN_GROUP:
            shares.append(float(flagged[group].double().mean()))
    return max(shares) if shares else None


def _number(value: str | float | None) -> float:
    return value if isinstance(value, float) else math.nan
