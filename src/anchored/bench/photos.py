"""``anchored fit PHOTOS --test TEST`` and nothing else: on people's labels beside others, and its time from scratch.

With ``--data-root`` the labels are people's: of CIFAR-10's training images 10,000 are drawn (one draw per seed) and
written as PNG files into folders named after what an annotator called them, the 10,000 test images into folders of
their true classes. ``agnews`` is the built-in set of 10,000 news items. Then the default road is taken, and its test
accuracy, the average precision of ``audit/suspects.csv`` and the noise rate that it states are compared with the truth,
which nothing before sees.

Beside it stand scikit-learn's logistic regression and cleanlab's ``CleanLearning`` around it, on the same vectors,
standardised, each with three strengths (C = 0.001, 0.01, 0.1). *By likelihood* is the one under which the given labels
are likeliest in five folds, which a user could find; *best by test* the one with the highest test accuracy, or for
average precision the highest of the three by the truth: no user could know those, and they are the harder opponents.

Without ``--data-root`` the speed is measured: 3,000 generated photos in class folders, from a cold cache to the report,
and once more with the cache filled.
"""

from __future__ import annotations

import csv
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import StandardScaler
from torch import Tensor

from anchored._errors import InputError
from anchored._names import choose
from anchored._random import stream
from anchored.bench._measure import Result
from anchored.bench.score_file import ScoreFile
from anchored.data import Dataset, load_cifar10, load_cifar10n
from anchored.runs import Fitted, fit, open_data
from anchored.training import validate

__all__ = ["CLASSIFIERS", "SETS", "lay_out", "run"]

SETS = ("clean", "aggre", "random1", "worse", "agnews", "agnews tfidf")
"""Labels of CIFAR-10 and its human annotations; news items by the default encoder and by term weights alone."""
CLASSIFIERS = ("anchored fit", "logistic regression", "cleanlab")
_SAMPLES, _PHOTOS = 10_000, 3_000
_STRENGTHS = (0.001, 0.01, 0.1)
_FOLDS, _MOST_ITERATIONS = 5, 200
_REVISION = 3
"""Raised by one whenever a change of the code changes what ``anchored fit`` answers: older scores are not read then."""
_GOALS = {"worse": (0.82, 0.945), "aggre": (0.848, 0.74), "agnews": (0.845, 0.71)}
"""Test accuracy and average precision to reach."""
_SIDE, _COLOURS = 224, 3

Rows = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]


def run(
    *,
    data_root: str | Path | None = None,
    seeds: Sequence[int] | None = None,
    sets: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    store: str | Path | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Result:
    """Measure the default road: on human labels if there is a data root, otherwise its speed.

    Args:
        data_root: Where CIFAR-10, CIFAR-10N and AG News lie; None to measure the speed on generated photos.
        seeds: Seeds of the draws of 10,000 images; by default 0, 1 and 2. AG News is one set, whatever the seed.
        sets: Names of :data:`SETS`; None for all.
        models: Names of :data:`CLASSIFIERS`; None for all.
        store: File of finished scores, which are not measured again; None keeps none.
        tell: Called with a line about each step before it is measured.

    Returns:
        One row per set, draw and classifier; or, without a data root, one per step.

    Raises:
        InputError: If the data is missing, or a name is unknown.
    """
    if data_root is None:
        for name, given in (("seeds", seeds), ("sets", sets), ("models", models), ("store", store)):
            if given is not None:
                raise InputError(f"--{name} is about labels given by people, which need --data-root; leave it out")
        return measure_speed(tell=tell)
    names = SETS if sets is None else tuple(sets)
    for name in names:
        choose(name, dict.fromkeys(SETS), what="set of labels")
    asked = CLASSIFIERS if models is None else tuple(models)
    for name in asked:
        choose(name, dict.fromkeys(CLASSIFIERS), what="classifier")
    scores = ScoreFile(store)
    rows: list[tuple[str | float | None, ...]] = []
    facts: dict[str, float | str | bool] = {}
    for name in names:
        for seed in (0,) if name.startswith("agnews") else (0, 1, 2) if seeds is None else tuple(seeds):
            found = _measured(name, seed, asked, Path(data_root), scores, tell)
            rows += _rows(name, seed, found)
            ours = found.get("anchored fit")
            if ours is not None and name in _GOALS:
                accuracy, precision = _GOALS[name]
                facts[f"{name} {seed} reached"] = ours["accuracy"] >= accuracy and ours["precision"] >= precision
    return Result(
        title=f"{_SAMPLES:,} photos and news items under labels given by people",
        columns=("labels", "draw", "classifier", "test %", "AP", "wrong %", "said %", "low", "high", "s", "CPU s"),
        rows=tuple(rows),
        note="AP: average precision of finding the wrong labels. Seconds by the clock and of the processor, vectors "
        "from the cache; those of logistic regression and cleanlab are for one strength, its folds included.",
        facts=facts,
    )


def lay_out(root: str | Path, folder: str | Path, labels: str, *, seed: int, n: int = _SAMPLES) -> dict[str, int]:
    """Write images of CIFAR-10 as PNG files into class folders ``train`` and ``test``.

    Args:
        root: Where CIFAR-10 and, for labels given by people, CIFAR-10N lie.
        folder: Folder to write to.
        labels: ``clean``, or labels of :data:`anchored.data.human.CIFAR10N`: the class folders of the training images.
        seed: Seed of the draw.
        n: Number of training images.

    Returns:
        The number of the true class of each training image, by the name of its file.
    """
    split = load_cifar10(root) if labels == "clean" else load_cifar10n(root, labels)
    assert split.test is not None, "CIFAR-10 has one"
    rows = torch.randperm(len(split.train), generator=stream(seed, "bench-photos"))[:n].sort().values
    _write_photos(split.train, rows, Path(folder) / "train")
    _write_photos(split.test, torch.arange(len(split.test)), Path(folder) / "test")
    truth = split.train.labels if split.train.clean_labels is None else split.train.clean_labels
    return {_file_name(row): int(truth[row]) for row in rows.tolist()}


def _write_photos(dataset: Dataset, rows: Tensor, folder: Path) -> None:
    for name in dataset.class_names:
        (folder / name).mkdir(parents=True)
    pixels = dataset.inputs.take(rows).permute(0, 2, 3, 1).numpy()
    for row, image in zip(rows.tolist(), pixels, strict=True):
        Image.fromarray(image).save(folder / dataset.class_names[int(dataset.labels[row])] / _file_name(row))


def _file_name(row: int) -> str:
    return f"{row:05d}.png"


def _measured(
    name: str, seed: int, asked: Sequence[str], root: Path, scores: ScoreFile, tell: Callable[[str], None]
) -> dict[str, dict[str, float]]:
    """Scores by classifier, those of the others with their strength behind their name; what is in the file is kept."""

    def key(classifier: str) -> dict[str, str | int]:
        return {"set": name, "seed": seed, "classifier": classifier, "revision": _REVISION}

    wanted = [each for each in asked if each == "anchored fit"]
    wanted += [f"{each} {strength}" for each in asked if each != "anchored fit" for strength in _STRENGTHS]
    found = {each: scores.get(key(each)) for each in wanted}
    if any(score is None for score in found.values()):
        with tempfile.TemporaryDirectory(prefix="anchored-bench-") as folder:
            tell(f"{name}, draw {seed}: anchored fit")
            ours, road = _default_road(name, seed, root, Path(folder))
            if "anchored fit" in found:
                scores.add(key("anchored fit"), ours)
            for strength in _STRENGTHS:
                missing = [each for each in wanted if each.endswith(f" {strength}") and found[each] is None]
                if missing:
                    tell(f"{name}, draw {seed}: others with C = {strength}")
                    for each, score in _others(road, strength, [m.rpartition(" ")[0] for m in missing], seed).items():
                        scores.add(key(f"{each} {strength}"), score)
        found = {each: scores.get(key(each)) for each in wanted}
    return {each: score for each, score in found.items() if score is not None}


class _Road:
    """Vectors, labels and truth of a set, as the default road had them.

    Args:
        fitted: The finished run.
        truth: True labels ``(n,)``.
    """

    def __init__(self, fitted: Fitted, truth: Labels) -> None:
        train, test = fitted.data.labelled, fitted.data.test
        assert test is not None, "the benchmark gives one"
        scale = StandardScaler()
        self.X: Rows = scale.fit_transform(_vectors(train)).astype(np.float32)
        self.X_test: Rows = scale.transform(_vectors(test)).astype(np.float32)
        self.y, self.y_test = train.labels.numpy(), test.labels.numpy()
        self.wrong = self.y != truth


def _vectors(dataset: Dataset) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = dataset.inputs.take(torch.arange(len(dataset))).double().numpy()
    return found


def _default_road(name: str, seed: int, root: Path, place: Path) -> tuple[dict[str, float], _Road]:
    """Do what ``anchored fit DATA --test TEST`` does, and score it against the truth."""
    settings: dict[str, Any]
    if name.startswith("agnews"):
        settings = {"data": {"source": "agnews", "root": str(root)}}
        if name.endswith("tfidf"):
            settings["features"] = {"encoder": "tfidf"}
    else:
        by_file = lay_out(root, place / "data", name, seed=seed)
        settings = {"data": {"source": str(place / "data" / "train"), "test": str(place / "data" / "test")}}
    clock, processor = time.perf_counter(), time.process_time()
    config = validate(settings)
    split = open_data(config)
    fitted = fit(split, config, folder=place / "run")
    seconds, cpu = time.perf_counter() - clock, time.process_time() - processor
    train = split.train
    if train.clean_labels is not None:
        truth = train.clean_labels.numpy()
    else:
        truth = np.array([by_file[Path(str(train.ids[row])).name] for row in range(len(train))], dtype=np.int64)
    road = _Road(fitted, truth)
    score = {
        "accuracy": float(fitted.result["test"]["accuracy"]),
        "wrong": float(road.wrong.mean()),
        "seconds": seconds,
        "cpu": cpu,
    }
    if "auto" in fitted.result:
        said = fitted.result["auto"]
        low, high = said["interval"]
        score |= {"rate": float(said["noise_rate"]), "low": float(low), "high": float(high)}
    suspects = place / "run" / "audit" / "suspects.csv"
    if road.wrong.any() and suspects.is_file():
        score["precision"] = _precision(suspects, road.wrong)
    return score, road


def _precision(suspects: Path, wrong: npt.NDArray[np.bool_]) -> float:
    """Average precision of the ranking in a file, ties in it as they are."""
    probability = np.zeros(len(wrong))
    with suspects.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            probability[int(line["index"])] = 1.0 / int(line["rank"])
    return float(average_precision_score(wrong, probability))


def _others(road: _Road, strength: float, names: Sequence[str], seed: int) -> dict[str, dict[str, float]]:
    """Score logistic regression and cleanlab around it, with one strength of the penalty."""
    model = LogisticRegression(C=strength, max_iter=_MOST_ITERATIONS)
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that would go on
        clock, processor = time.perf_counter(), time.process_time()
        shares = np.asarray(cross_val_predict(model, road.X, road.y, cv=folds, method="predict_proba"))
        spent = (time.perf_counter() - clock, time.process_time() - processor)
        likely = float(np.log(np.clip(shares[np.arange(len(road.y)), road.y], 1e-12, None)).mean())
        found = {}
        for name in names:
            clock, processor = time.perf_counter(), time.process_time()
            made = LogisticRegression(C=strength, max_iter=_MOST_ITERATIONS)
            fitted = _clean_learning(made, road, shares, seed) if name == "cleanlab" else made.fit(road.X, road.y)
            found[name] = {
                "accuracy": float((fitted.predict(road.X_test) == road.y_test).mean()),
                "likelihood": likely,
                "seconds": spent[0] + time.perf_counter() - clock,
                "cpu": spent[1] + time.process_time() - processor,
            }
            if name == "cleanlab" and road.wrong.any():
                quality = fitted.get_label_issues()["label_quality"].to_numpy()
                found[name]["precision"] = float(average_precision_score(road.wrong, -quality))
    return found


def _clean_learning(model: LogisticRegression, road: _Road, shares: npt.NDArray[np.float64], seed: int) -> Any:  # noqa: ANN401 - cleanlab has no types
    try:
        from cleanlab.classification import CleanLearning
    except ImportError:
        raise InputError(
            "this benchmark compares with cleanlab, which is not here; install anchored[cleanlab]"
        ) from None
    learning = CleanLearning(model, seed=seed, find_label_issues_kwargs={"n_jobs": 1})
    return learning.fit(road.X, road.y, pred_probs=shares)


def _rows(name: str, seed: int, found: Mapping[str, dict[str, float]]) -> list[tuple[str | float | None, ...]]:
    """Lines of the table: ours, then each of the others by likelihood and at its best."""
    lines: list[tuple[str | float | None, ...]] = []

    def line(classifier: str, score: Mapping[str, float]) -> tuple[str | float | None, ...]:
        shares = [None if key not in score else 100 * score[key] for key in ("wrong", "rate", "low", "high")]
        return (
            name,
            str(seed),
            classifier,
            100 * score["accuracy"],
            score.get("precision"),
            *shares,
            score.get("seconds"),
            score.get("cpu"),
        )

    if "anchored fit" in found:
        lines.append(line("anchored fit", found["anchored fit"]))
    for other in CLASSIFIERS[1:]:
        own = {each: score for each, score in found.items() if each.startswith(f"{other} ")}
        if own:
            chosen = max(own, key=lambda each: own[each]["likelihood"])
            lines.append(line(f"{other}, by likelihood ({chosen.rpartition(' ')[2]})", own[chosen]))
            shown = [key for key in own[chosen] if key in ("accuracy", "precision")]
            best = {key: max(score[key] for score in own.values()) for key in shown}
            lines.append(line(f"{other}, best by test", best))
    return lines


def measure_speed(n: int = _PHOTOS, *, tell: Callable[[str], None] = lambda line: None, side: int = _SIDE) -> Result:
    """Measure the default road on generated photos, from a cold cache to the report, and once more.

    Args:
        n: Number of photos.
        tell: Called with a line about each step before it is measured.
        side: Height and width of the photos.

    Returns:
        Seconds by the clock and of the processor; the first of these is what a user waits for on a free machine.
    """
    from anchored.report import write as write_report

    rows: list[tuple[str | float | None, ...]] = []
    spent: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="anchored-bench-") as folder, _cache_in(Path(folder) / "cache"):
        make_photos(Path(folder) / "photos", n, side)
        for turn in ("cold cache", "filled cache"):
            tell(f"{n:,} photos, {turn}")
            clock, processor = time.perf_counter(), time.process_time()
            config = validate({"data": {"source": str(Path(folder) / "photos")}})
            place = Path(folder) / turn.replace(" ", "-")
            fitted = fit(open_data(config), config, folder=place)
            write_report(place)
            seconds, cpu = time.perf_counter() - clock, time.process_time() - processor
            rows.append((turn, seconds, cpu, seconds / n, str(fitted.config.method.name)))
            spent |= {f"{turn.split()[0]} seconds": seconds, f"{turn.split()[0]} cpu": cpu}
    threads = torch.get_num_threads()
    return Result(
        title=f"{n:,} photos of {side} x {side} pixels, from files to the report",
        columns=("start", "seconds", "CPU seconds", "seconds a photo", "method"),
        rows=tuple(rows),
        note=f"{threads} thread{'s' * (threads > 1)}. CPU seconds are of all threads together, and other work on the "
        f"machine does not change them: on two free cores the clock shows about half of them.",
        facts={"photos": n, "threads": threads, **spent},
    )


def make_photos(folder: Path, n: int, side: int) -> None:
    """Write generated photos of three classes, a third of them in the folder of another class.

    A photo is a coarse pattern in the colour of its class, smoothed and with noise: nothing that a network knows.

    Args:
        folder: Folder to write to.
        n: Number of photos.
        side: Height and width.
    """
    generator = stream(0, "bench-photos speed")
    names = ("a", "b", "c")
    for name in names:
        (folder / name).mkdir(parents=True)
    for number in range(n):
        coarse = torch.randint(0, 160, (7, 7, 3), generator=generator)
        coarse[:, :, number % _COLOURS] += 95
        image = Image.fromarray(coarse.to(torch.uint8).numpy()).resize((side, side), Image.Resampling.BICUBIC)
        wrong = float(torch.rand((), generator=generator)) < 0.3
        name = names[(number + int(wrong)) % len(names)]
        image.save(folder / name / f"{number:05d}.jpg")


@contextmanager
def _cache_in(folder: Path) -> Iterator[None]:
    """Keep vectors in ``folder`` for a while."""
    before = os.environ.get("ANCHORED_CACHE")
    os.environ["ANCHORED_CACHE"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["ANCHORED_CACHE"]
        else:
            os.environ["ANCHORED_CACHE"] = before
