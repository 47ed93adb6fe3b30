"""Anchored least squares beside the matrix products it needs, beside folds of logistic regression, and on a large file.

Everything is measured in one run, on made-up features with overlapping classes. Each contender runs in a process of its
own, so that its peak of memory is its own; what importing and making the data takes is subtracted or named.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import resource
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV

from anchored._random import stream
from anchored.bench._measure import Result
from anchored.estimator import AnchoredRidge
from anchored.ridge import fit_ridge

__all__ = ["run"]

_STRENGTHS = 16
_FOLDS, _PENALTIES = 5, (0.01, 0.1, 1.0)
_MEGABYTE = 2**20
_STEP = 50_000
_FACTORS = 32
_CORRELATED = ", correlated columns"
"""Independent columns are the easiest case of a search by gradients; a network's features share directions."""
_FROM_FILE = ("bare products from the file", "anchored least squares from the file")

_Data = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


def run(
    *,
    rows: int = 50_000,
    columns: int = 1_280,
    classes: int = 10,
    file_rows: int = 1_000_000,
    file_columns: int = 512,
    file_classes: int = 1_000,
    folder: str | Path | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Result:
    """Measure time and memory in memory and from a file.

    Args:
        rows: Samples in memory.
        columns: Features of them.
        classes: Classes of them.
        file_rows: Samples in the file.
        file_columns: Features in the file.
        file_classes: Classes in the file.
        folder: Where the file is written, two gigabytes; None for the folder of temporary files.
        tell: Called with a line before each contender.

    Returns:
        Processor seconds, the same in units of the bare products, and peak memory of each contender.
    """
    sizes = (rows, columns, classes)
    found: dict[str, tuple[float, float]] = {}
    contenders: dict[str, Callable[..., float]] = {
        "bare products": _bare,
        "anchored least squares": _ours,
        "RidgeClassifierCV": _ridge_classifier,
        "logistic regression, 5 folds x 3 C": _logistic,
    }
    for name, contender in contenders.items():
        tell(f"{name}: {rows:,} x {columns:,}, {classes} classes")
        found[name] = _alone(contender, *sizes)
    for name in ("anchored least squares", "logistic regression, 5 folds x 3 C"):
        tell(f"{name}, columns with {_FACTORS} common factors")
        found[f"{name}{_CORRELATED}"] = _alone(contenders[name], *sizes, _FACTORS)
    bare = found["bare products"][0]
    shape = f"{rows:,} x {columns:,}, {classes}"
    table: list[tuple[str | float | None, ...]] = [
        (shape, name, seconds, seconds / bare, memory) for name, (seconds, memory) in found.items()
    ]
    with tempfile.TemporaryDirectory(dir=folder) as place:
        tell(f"writing {file_rows:,} x {file_columns:,} numbers")
        path, labels = _write(Path(place), file_rows, file_columns, file_classes)
        for name, task in zip(_FROM_FILE, (_bare_file, _file), strict=True):
            tell(f"{name}: {file_rows:,} x {file_columns:,}, {file_classes:,} classes")
            found[name] = _alone(task, str(path), str(labels))
    bare_file = found["bare products from the file"][0]
    shape = f"{file_rows:,} x {file_columns:,}, {file_classes:,}"
    table += [(shape, name, found[name][0], found[name][0] / bare_file, found[name][1]) for name in _FROM_FILE]
    ours, folds = found["anchored least squares"][0], found["logistic regression, 5 folds x 3 C"][0]
    ratio = found[f"logistic regression, 5 folds x 3 C{_CORRELATED}"][0]
    ratio /= found[f"anchored least squares{_CORRELATED}"][0]
    return Result(
        title="Anchored least squares: processor seconds, in units of the bare products, and peak memory",
        columns=("data", "what", "seconds", "x bare", "peak MB"),
        rows=tuple(table),
        note=(
            f"Bare products: X'X and XU in float64; from the file also X times the slopes. Ours: leave-one-out for all "
            f"rows and {_STRENGTHS} strengths, calibrated. Logistic regression: one fold of each C, times {_FOLDS}. "
            f"Peak memory is that of the whole process, data included. Load of the machine: {os.getloadavg()[0]:.1f}."
        ),
        facts={
            "ours_in_units_of_bare": ours / bare,
            "logistic_in_units_of_ours": folds / ours,
            "logistic_in_units_of_ours, correlated": ratio,
            "ridge_classifier_cv_in_units_of_ours": found["RidgeClassifierCV"][0] / ours,
            "file_in_units_of_bare": found["anchored least squares from the file"][0] / bare_file,
            "file_peak_megabytes": found["anchored least squares from the file"][1],
            "load": os.getloadavg()[0],
        },
    )


def _alone(task: Callable[..., float], *arguments: int | str) -> tuple[float, float]:
    """Run a task in a fresh process; return its seconds and the peak of its memory in megabytes."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_measured, (task, *arguments))


def _measured(task: Callable[..., float], *arguments: int | str) -> tuple[float, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds = task(*arguments)
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / _MEGABYTE


def _make(n: int, d: int, k: int, factors: int = 0) -> _Data:
    """Draw overlapping classes: unit noise about means of length 3, and factors common to columns and classes."""
    generator = stream(0, "bench", "ridge")
    y = torch.randint(k, (n,), generator=generator)
    means = torch.randn(k, d, generator=generator, dtype=torch.float64) * (3.0 / math.sqrt(d))
    X = torch.randn(n, d, generator=generator, dtype=torch.float64)
    for start in range(0, n, _STEP):
        X[start : start + _STEP] += means[y[start : start + _STEP]]
    if factors:
        each = torch.randn(n, factors, generator=generator, dtype=torch.float64)
        X += each @ torch.randn(factors, d, generator=generator, dtype=torch.float64)
    return X.numpy(), y.numpy()


def _timed(function: Callable[[], object]) -> float:
    """Return seconds of processor time, all threads together: other work on the machine does not count."""
    start = time.process_time()
    function()
    return time.process_time() - start


def _bare(n: int, d: int, k: int) -> float:
    X, _ = _make(n, d, k)
    U = np.linalg.qr(np.ascontiguousarray(X[:d]))[0] if n >= d else np.eye(d)

    def products() -> None:
        X.T @ X
        X @ U

    return _timed(products)


def _ours(n: int, d: int, k: int, factors: int = 0) -> float:
    X, y = _make(n, d, k, factors)
    features, labels = torch.from_numpy(X), torch.from_numpy(y)
    return _timed(lambda: fit_ridge(features, labels, k))


def _ridge_classifier(n: int, d: int, k: int) -> float:
    X, y = _make(n, d, k)
    alphas = n * 10.0 ** np.linspace(-5, 2.5, _STRENGTHS)
    return _timed(lambda: RidgeClassifierCV(alphas).fit(X, y))


def _logistic(n: int, d: int, k: int, factors: int = 0) -> float:
    X, y = _make(n, d, k, factors)
    train = np.arange(n) % _FOLDS != 0
    X, y = X[train], y[train]
    return _FOLDS * sum(_timed(partial(LogisticRegression(C=C, max_iter=200).fit, X, y)) for C in _PENALTIES)


def _write(folder: Path, n: int, d: int, k: int) -> tuple[Path, Path]:
    generator = stream(0, "bench", "ridge", "file")
    y = torch.randint(k, (n,), generator=generator)
    means = torch.randn(k, d, generator=generator) * (6.0 / math.sqrt(d))
    path = folder / "X.npy"
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (n, d)}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, n, _STEP):
            labels = y[start : start + _STEP]
            (torch.randn(len(labels), d, generator=generator) + means[labels]).numpy().tofile(file)
    np.save(folder / "y.npy", y.numpy())
    return path, folder / "y.npy"


def _file(path: str, labels: str) -> float:
    return _timed(lambda: AnchoredRidge().fit_file(path, Path(labels)))


def _bare_file(path: str, labels: str) -> float:
    """Multiply chunk by chunk what a fit must multiply, reading included: X'X, XU, and X times the classes' slopes."""
    X = np.load(path, mmap_mode="r", allow_pickle=False)
    k = int(np.load(labels, allow_pickle=False).max()) + 1
    d = X.shape[1]
    U = np.linalg.qr(np.add(X[:d], 0.0, dtype=np.float64))[0]
    slopes = np.ascontiguousarray(np.resize(U, (d, k)))
    step = 2**23 // d

    def products() -> None:
        for start in range(0, len(X), step):
            chunk = np.add(X[start : start + step], 0.0, dtype=np.float64)
            chunk.T @ chunk
            chunk @ U
            chunk @ slopes

    return _timed(products)
