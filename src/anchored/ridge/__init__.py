"""Anchored least squares: the paper's symmetric loss in closed form, with exact leave-one-out answers.

:func:`fit_ridge` is the door for data in memory. The parts are public too: sums that can be added and subtracted
(:class:`Sums`), one decomposition for all strengths (:class:`Spectrum`), kernel features (:class:`Nystroem`).
"""

from anchored.ridge.calibrate import fit_sharpness, log_likelihood
from anchored.ridge.copies import groups_of, row_keys
from anchored.ridge.fit import (
    Gathered,
    fit_gathered,
    fit_ridge,
    fit_rows,
    gather,
    gather_chunk,
    join,
    with_class_weights,
)
from anchored.ridge.kernel import Nystroem
from anchored.ridge.model import Choice, LeftOut, Ridge
from anchored.ridge.rows import ArrayRows, Rows
from anchored.ridge.sample import Sample
from anchored.ridge.solve import Spectrum, spectrum_of_rows, spectrum_of_sums
from anchored.ridge.stream import NpyRows, ParquetRows, gather_stream, open_rows
from anchored.ridge.sums import Sums, as_targets

__all__ = [
    "ArrayRows",
    "Choice",
    "Gathered",
    "LeftOut",
    "NpyRows",
    "Nystroem",
    "ParquetRows",
    "Ridge",
    "Rows",
    "Sample",
    "Spectrum",
    "Sums",
    "as_targets",
    "fit_gathered",
    "fit_ridge",
    "fit_rows",
    "fit_sharpness",
    "gather",
    "gather_chunk",
    "gather_stream",
    "groups_of",
    "join",
    "log_likelihood",
    "open_rows",
    "row_keys",
    "spectrum_of_rows",
    "spectrum_of_sums",
    "with_class_weights",
]
