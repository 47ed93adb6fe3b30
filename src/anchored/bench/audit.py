"""Finding wrong labels: our judges beside cleanlab on the same vectors, and how far their numbers can be trusted.

cleanlab is given out-of-sample probabilities of logistic regression in five folds and ranks by ``self_confidence``, its
default; of three strengths (C = 0.01, 0.1, 1) the one that ranks best, by the truth, is shown: more than a user could
know. Its time is that of all three. Ours is :func:`anchored.audit.judge_vectors` with its defaults, ranked by the
probability that the label is wrong. Both times are seconds of the processor, which other work on the machine hardly
changes.

Five tables: average precision and times; the noise rate with its interval; calibration in ten bins; what a person who
checks labels at random changes; what is found after a person has corrected the 300 most suspect labels.
"""

from __future__ import annotations

import hashlib
import math
import statistics
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
from anchored._random import stream
from anchored.audit import Verdict, check_sample, correct_by_check, judge_vectors
from anchored.bench._measure import Result
from anchored.bench.noisy_sets import NoisySet, noisy_sets
from anchored.bench.score_file import ScoreFile
from anchored.imbalance import shots

__all__ = ["run"]

Row = tuple[str | float | None, ...]

_FOLDS, _STRENGTHS = 5, (0.01, 0.1, 1.0)
_MOST_ITERATIONS = 200
_BINS, _FEWEST_IN_BIN, _FEWEST_IN_GROUP = 10, 50, 20
_CHECKS, _SIZES = 10, (50, 200)
"""How many random checks are simulated with the truth as the person's answers, and of how many labels."""
_CORRECTED = 300
_REVIEWED = ("symmetric 0.2", "aggre", "random1", "worse", "people")


def run(
    *,
    data_root: str | Path | None = None,
    seeds: Sequence[int] = (0,),
    sets: Sequence[str] | None = None,
    store: str | Path | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Result:
    """Measure average precision, seconds, rates, calibration, checks and rounds of review, row by row.

    Args:
        data_root: Where MNIST, CIFAR-10N and NoisyAG-News lie; see :func:`anchored.bench.noisy_sets.noisy_sets`.
        seeds: Seeds of the wrong labels; every seed gives rows of its own.
        sets: Names of the data to measure; None for all.
        store: File of finished scores of cleanlab, which are not measured again; None keeps none.
        tell: Called with a line about each row before it is measured.

    Returns:
        A row for each set of labels that cleanlab is asked about too; the other tables are in ``more``.
    """
    kept = ScoreFile(store)
    compared: list[Row] = []
    rates: list[Row] = []
    calibration: list[Row] = []
    checked: list[Row] = []
    reviewed: list[Row] = []
    total = torch.zeros(3, _BINS, dtype=torch.float64)
    said: list[str] = []
    for seed in seeds:
        for each in noisy_sets(data_root, seed=seed):
            if sets is not None and each.data not in sets:
                continue
            tell(f"{each.data}, {each.law}")
            name, wrong = (each.data, each.law), each.labels != each.truth
            start = time.process_time()
            verdict = judge_vectors(each.X, each.labels, each.k, seed=seed)
            seconds = time.process_time() - start
            probability = _probability(verdict, each.labels)
            counted = _binned(probability, wrong)
            total += counted
            said.append(f"{each.data}, {each.law}: {verdict.text}")
            if each.compared and bool(wrong.any()):
                theirs = _kept(kept, each, wrong, seed)
                compared.append(
                    (
                        *name,
                        _share(wrong),
                        _precision(probability, wrong),
                        theirs["precision"],
                        seconds,
                        theirs["seconds"],
                    )
                )
                checked.append((*name, *_checks(verdict, each, wrong, seed)))
            if each.compared and each.law in _REVIEWED:
                reviewed.append((*name, *_second_look(verdict, each, seed)))
            low, high = verdict.noise.interval
            flagged = _flagged(verdict.flagged(each.labels), wrong, each)
            rates.append((*name, _share(wrong), verdict.rate, low, high, flagged))
            calibration.append((*name, _gap(counted), *_shown(counted)))
    inside = sum(_number(row[4]) <= _number(row[2]) <= _number(row[5]) for row in rates)
    better = sum(_number(row[3]) > _number(row[4]) for row in compared)
    quick = sum(5 * _number(row[5]) <= _number(row[6]) for row in compared)
    which = f"seeds: {', '.join(map(str, seeds))}"
    return Result(
        title="Finding wrong labels: average precision and seconds",
        columns=("data", "labels", "wrong", "ours AP", "cleanlab AP", "ours s", "cleanlab s"),
        rows=tuple(compared),
        note=f"Better than cleanlab in {better} of {len(compared)} rows, in a fifth of its time in {quick}. {which}.",
        facts={
            "better_everywhere": better == len(compared),
            "rows_better": better,
            "rows_in_a_fifth_of_the_time": quick,
            "rows_compared": len(compared),
            "intervals_containing": inside,
            "intervals": len(rates),
            "said": "\n".join(said),
        },
        more=(
            Result(
                "Noise rate, and the share of correct labels that are flagged in the worst of the shot groups",
                ("data", "labels", "wrong", "rate", "low", "high", "flagged"),
                tuple(rates),
                f"The interval of the rate contains the truth in {inside} of {len(rates)} rows.",
            ),
            Result(
                "Calibration: probability of being wrong → share that is, in ten bins",
                ("data", "labels", "gap", *(f"{bin / _BINS:.1f}–{(bin + 1) / _BINS:.1f}" for bin in range(_BINS))),
                tuple(calibration),
                f"gap: the largest difference over bins of at least {_FEWEST_IN_BIN} labels; others are left out. "
                f"All sets together: {', '.join(filter(None, _shown(total)))}.",
            ),
            Result(
                "After a random check: gap, and how often the interval contains the rate",
                ("data", "labels", "gap", *(f"{what} {size}" for size in _SIZES for what in ("gap", "inside"))),
                tuple(checked),
                f"Medians over {_CHECKS} random checks of so many labels, answered by the truth.",
            ),
            Result(
                f"After the {_CORRECTED} most suspect labels were corrected: recall of the wrong ones that are left",
                ("data", "labels", "left", "recall before", "recall after", "precision after", "rate", "estimated"),
                tuple(reviewed),
                "before: the share of the same labels that was flagged by the first look.",
            ),
        ),
    )  # fmt: skip


def _probability(verdict: Verdict, labels: Tensor) -> Tensor:
    return 1.0 - verdict.posterior.gather(1, labels[:, None])[:, 0]


def _share(chosen: Tensor) -> float | None:
    """Return the share that is True, or None of nothing."""
    return float(chosen.double().mean()) if len(chosen) else None


def _precision(probability: Tensor, wrong: Tensor) -> float:
    return float(average_precision_score(wrong.numpy(), probability.numpy()))


def _kept(kept: ScoreFile, each: NoisySet, wrong: Tensor, seed: int) -> dict[str, float]:
    """Return cleanlab's score from the file, or measure it now and keep it."""
    content = hashlib.sha256(each.X.double().numpy().tobytes() + each.labels.numpy().tobytes()).hexdigest()
    key: dict[str, str | int] = {
        "benchmark": "audit",
        "model": "cleanlab",
        "set": each.data,
        "noise": each.law,
        "seed": seed,
        "data": content,
    }
    score = kept.get(key)
    if score is None:
        precision, seconds = _cleanlab(each, wrong, seed)
        score = {"precision": precision, "seconds": seconds}
        kept.add(key, score)
    return score


def _cleanlab(each: NoisySet, wrong: Tensor, seed: int) -> tuple[float, float]:
    """Return cleanlab's best average precision over the strengths, and the seconds of all of them."""
    try:
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        raise InputError(
            "this benchmark compares with cleanlab, which is not here; install anchored[cleanlab]"
        ) from None
    labels, found = each.labels.numpy(), []
    start = time.process_time()
    rows = StandardScaler().fit_transform(each.X.double().numpy())
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class of fewer than five samples, or a fit that would go on
        for strength in _STRENGTHS:
            model = LogisticRegression(C=strength, max_iter=_MOST_ITERATIONS)
            shares = cross_val_predict(model, rows, labels, cv=folds, method="predict_proba")
            quality = get_label_quality_scores(labels, np.asarray(shares))
            found.append(float(average_precision_score(wrong.numpy(), -quality)))
    return max(found), time.process_time() - start


def _checks(verdict: Verdict, each: NoisySet, wrong: Tensor, seed: int) -> Row:
    """Return the gap as it is, and per size the median gap after a check and how many intervals hold the rate."""
    found: list[float | None] = [_gap(_binned(_probability(verdict, each.labels), wrong))]
    rate = _number(_share(wrong))
    for size in _SIZES:
        gaps, inside = [], 0
        for number in range(_CHECKS):
            places = check_sample(len(wrong), size, stream(seed, "bench-audit check", each.law, number))
            answers = {int(place): int(each.truth[place]) for place in places}
            after = correct_by_check(verdict.noise, verdict.posterior, each.labels, answers)
            unseen = torch.ones_like(wrong)
            unseen[places] = False
            gaps.append(_number(_gap(_binned(after.probability_wrong[unseen], wrong[unseen]))))
            inside += after.noise.interval[0] <= rate <= after.noise.interval[1]
        found += [None if any(map(math.isnan, gaps)) else statistics.median(gaps), float(inside)]
    return tuple(found)


def _second_look(first: Verdict, each: NoisySet, seed: int) -> Row:
    """Correct the most suspect labels by the truth and look again: is what is left still found?"""
    looked_at = torch.zeros(len(each.labels), dtype=torch.bool)
    looked_at[_probability(first, each.labels).argsort(descending=True, stable=True)[:_CORRECTED]] = True
    labels = torch.where(looked_at, each.truth, each.labels)
    left = labels != each.truth
    second = judge_vectors(each.X, labels, each.k, confirmed=looked_at, given=each.labels, seed=seed)
    flagged = second.flagged(labels)
    return (
        float(left.sum()),
        _share(first.flagged(each.labels)[left]),
        _share(flagged[left]),
        _share(left[flagged]),
        _share(left),
        second.rate,
    )


def _binned(probability: Tensor, wrong: Tensor) -> Tensor:
    """Return, for ten bins of the probability, how many samples, the sum of probabilities and how many are wrong."""
    place = (probability * _BINS).long().clamp(0, _BINS - 1)
    sums = torch.zeros(3, _BINS, dtype=torch.float64)
    for row, values in zip(sums, (torch.ones_like(probability), probability, wrong.double()), strict=True):
        row.index_add_(0, place, values.double())
    return sums


def _gap(counted: Tensor) -> float | None:
    count, expected, wrong = counted
    enough = count >= _FEWEST_IN_BIN
    return float(((wrong - expected)[enough] / count[enough]).abs().max()) if bool(enough.any()) else None


def _shown(counted: Tensor) -> list[str | None]:
    """Write each bin as mean probability → share that is wrong; None for a bin of too few labels."""
    return [
        f"{expected / count:.2f} → {wrong / count:.2f}" if count >= _FEWEST_IN_BIN else None
        for count, expected, wrong in counted.T.tolist()
    ]


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
