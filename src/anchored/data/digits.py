"""The 1,797 handwritten digits that come with scikit-learn: 8 x 8 grey images, no download.

The pixels are whole numbers 0..16. They are stored as ``15 * value``, so 0..240: exact, invertible, and
visible when shown. The split has no seed: samples are put in order of class (file order within a class) and
every fifth one, starting with the first, is for testing. That gives 1,437 training and 360 test images, with
every class within one sample of a fifth.
"""

from __future__ import annotations

import gzip
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from anchored.data.dataset import Dataset, RowIds, Split
from anchored.data.inputs import TensorInputs

__all__ = ["PIXEL_STEP", "load_digits"]

PIXEL_STEP = 15
"""Stored pixel = 15 x the value 0..16 of the file."""


def load_digits() -> Split:
    """Open the digits, 1,437 for training and 360 for testing.

    Example:
        >>> split = load_digits()
        >>> len(split.train), len(split.test), split.train.inputs.shape
        (1437, 360, (1, 8, 8))
    """
    values, labels = _read()
    pixels = torch.from_numpy((values * PIXEL_STEP).astype(np.uint8)).view(-1, 1, 8, 8)
    whole = Dataset(
        name="digits",
        inputs=TensorInputs(pixels),
        labels=labels,
        class_names=tuple(str(digit) for digit in range(10)),
        ids=RowIds(torch.arange(len(labels))),
    )
    by_class = labels.argsort(stable=True)
    for_testing = torch.zeros(len(labels), dtype=torch.bool)
    for_testing[by_class[::5]] = True
    return Split(train=whole.subset((~for_testing).nonzero()[:, 0]), test=whole.subset(for_testing.nonzero()[:, 0]))


def _read() -> tuple[npt.NDArray[np.float64], Tensor]:
    """Values ``(1797, 64)`` in 0..16 and labels ``(1797,)``."""
    package = find_spec("sklearn")
    places = package.submodule_search_locations if package is not None else None
    file = Path(places[0], "datasets", "data", "digits.csv.gz") if places else None
    if file is not None and file.is_file():
        # The file itself: importing scikit-learn's data sets takes seconds, reading it a twentieth of one.
        with gzip.open(file, "rt", encoding="ascii") as text:
            rows = np.loadtxt(text, delimiter=",")
        return rows[:, :-1], torch.from_numpy(rows[:, -1].astype(np.int64))
    from sklearn import datasets

    bundle = datasets.load_digits()
    return bundle.data, torch.from_numpy(bundle.target.astype(np.int64))
