"""Accuracy of ``auto`` beside plain training and cleanlab, on the sets on which the audit is measured.

A third of every set of :mod:`anchored.bench.noisy_sets` is kept for testing, by its true labels; the rest is trained on
with the labels as they are given. Plain training is the network of ``AnchoredClassifier`` with cross entropy and, apart
from it, logistic regression; cleanlab is its ``CleanLearning`` around logistic regression. All are used with their
defaults, and all get the same vectors. Clean sets show what it costs to be careful where nothing is wrong.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from anchored._names import choose
from anchored._random import seed_of
from anchored.bench._measure import Result
from anchored.bench.noisy_sets import NoisySet, noisy_sets
from anchored.bench.score_file import ScoreFile
from anchored.bench.tables import MODELS, REVISIONS, measure

__all__ = ["run"]

_OURS, _PLAIN, _CLEANLAB = "AnchoredClassifier", "network alone", "cleanlab, logistic"
_MODELS = (_OURS, _PLAIN, "logistic regression", _CLEANLAB)
_TESTED = 1 / 3
_POINT = 0.01
"""How far ``auto`` may be behind plain training on clean labels: one point."""


def run(
    *,
    data_root: str | Path | None = None,
    seeds: Sequence[int] = (0,),
    sets: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    store: str | Path | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Result:
    """Measure the test accuracy of every classifier on every set.

    Args:
        data_root: Where MNIST, CIFAR-10N and NoisyAG-News lie; what is missing is left out.
        seeds: Seeds of noise, parts and classifiers; every seed gives rows of its own.
        sets: Names of the data to measure; None for all.
        models: Classifiers, see :data:`anchored.bench.tables.MODELS`; by default ours, the network alone, logistic
            regression and, if it is installed, cleanlab.
        store: File of finished scores, which are not measured again; None keeps none.
        tell: Called with a line about each row before it is measured.

    Returns:
        One row per set and seed, accuracies in percent. ``facts`` counts the clean rows, and those of them in which
        ``AnchoredClassifier`` is more than a point behind the network alone.
    """
    if models is None:
        models = [name for name in _MODELS if name != _CLEANLAB or find_spec("cleanlab") is not None]
    makers = {name: choose(name, MODELS, what="classifier") for name in models}
    kept = ScoreFile(store)
    rows: list[tuple[str | float | None, ...]] = []
    clean, behind = 0, 0
    for seed in seeds:
        for each in noisy_sets(data_root, seed=seed):
            if sets is not None and each.data not in sets:
                continue
            tell(f"seed {seed}: {each.data}, {each.law}")
            found = {name: _accuracy(kept, each, seed, name) for name in makers}
            rows.append((each.data, each.law, *(100 * accuracy for accuracy in found.values())))
            if each.law == "clean" and _OURS in found and _PLAIN in found:
                clean += 1
                behind += found[_OURS] < found[_PLAIN] - _POINT
    return Result(
        title="Accuracy on true labels, %",
        columns=("data", "labels", *makers),
        rows=tuple(rows),
        note=(
            f"A third of each set is for testing. On clean labels {_OURS} is more than one point behind the "
            f"{_PLAIN} in {behind} of {clean} rows. Seeds: {', '.join(map(str, seeds))}."
        ),
        facts={"clean_rows": float(clean), "clean_rows_behind": float(behind)},
    )


def _accuracy(kept: ScoreFile, each: NoisySet, seed: int, name: str) -> float:
    """Return the accuracy from the file, or measure it now and keep it."""
    content = hashlib.sha256(each.X.double().numpy().tobytes() + each.labels.numpy().tobytes()).hexdigest()
    key: dict[str, str | int] = {
        "benchmark": "noisy-accuracy",
        "classifier": name,
        "revision": REVISIONS.get(name, 0),
        "set": each.data,
        "noise": each.law,
        "seed": seed,
        "data": content,
    }
    score = kept.get(key)
    if score is None:
        X, given, truth = each.X.double().numpy(), each.labels.numpy(), each.truth.numpy()
        train, test = train_test_split(np.arange(len(truth)), test_size=_TESTED, stratify=truth, random_state=seed)
        model = MODELS[name](seed_of(seed, "model", each.data, each.law))
        score = asdict(measure(model, X[train], given[train], X[test], truth[test]))
        kept.add(key, score)
    return score["accuracy"]
