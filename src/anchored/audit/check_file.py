"""The random sample that a person checks, as a file: drawn by the audit, filled in by the person, read back.

A check is a CSV with the columns ``index,id,given,label``. The person fills in ``label``: the right class, which is the
given one if that is right; a line is left empty if nobody can tell. Decisions of the review page about the same samples
(``corrections.csv``) are answers as well.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._files import read_text, write_text
from anchored.data import Corrections, Dataset, correct
from anchored.data.corrections import COLUMNS as CORRECTION_COLUMNS
from anchored.data.corrections import Correction, parse_lines

__all__ = ["CHECK_COLUMNS", "Check", "read_check"]

CHECK_COLUMNS = ("index", "id", "given", "label")


@dataclass(frozen=True, eq=False)
class Check:
    """A random sample of a data set, with the answers so far.

    Attributes:
        places: Places ``(m,)`` of the samples that were drawn.
        answers: Place to true class, of those that a person has answered.
    """

    places: Tensor
    answers: dict[int, int]

    def answered_in(self, path: str | Path, dataset: Dataset) -> Check:
        """Add answers from a file: a check that was filled in, or corrections of the review page.

        Args:
            path: The file. Lines about samples that were not drawn are passed over: they were not chosen at random.
            dataset: The data that was audited.

        Returns:
            The check with those answers; they count more than earlier ones.

        Raises:
            InputError: If the file cannot be read, or a line does not fit the data.
        """
        drawn = set(self.places.tolist())
        found = {place: label for place, label in _answers(Path(path), dataset).items() if place in drawn}
        return replace(self, answers=self.answers | found)

    def save(self, path: str | Path, dataset: Dataset) -> None:
        """Write the file that a person fills in.

        Args:
            path: The file.
            dataset: The data that was audited.
        """
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(CHECK_COLUMNS)
        names = dataset.class_names
        for place in self.places.tolist():
            answer = names[self.answers[place]] if place in self.answers else ""
            writer.writerow((place, dataset.ids[place], names[int(dataset.labels[place])], answer))
        write_text(path, text.getvalue())


def read_check(path: str | Path, dataset: Dataset) -> Check:
    """Read a check and the answers in it.

    Args:
        path: The file that :meth:`Check.save` wrote, filled in or not.
        dataset: The data that was audited.

    Returns:
        The samples that were drawn, and the answers.

    Raises:
        InputError: If the file cannot be read, or a line does not fit the data.

    Example:
        >>> import tempfile
        >>> from anchored.data import TensorInputs
        >>> data = Dataset("toy", TensorInputs(torch.zeros(3, 2)), torch.tensor([0, 1, 1]), ("no", "yes"))
        >>> file = Path(tempfile.mkdtemp(), "check.csv")
        >>> Check(torch.tensor([0, 2]), {}).save(file, data)
        >>> _ = file.write_text(file.read_text().replace("2,row 2,yes,", "2,row 2,yes,no"))      # what a person writes
        >>> read_check(file, data).answers
        {2: 0}
    """
    path = Path(path)
    lines = _lines(path, dataset)
    places = sorted(Corrections(path, tuple(lines), "").places(dataset))
    return Check(torch.tensor(places, dtype=torch.int64), _decided(path, lines, dataset))


def _answers(path: Path, dataset: Dataset) -> dict[int, int]:
    text = read_text(path)
    if text.removeprefix("\ufeff").startswith(",".join(CORRECTION_COLUMNS)):
        return _decided(path, list(parse_lines(text.removeprefix("\ufeff"), where=str(path))), dataset)
    return _decided(path, _lines(path, dataset), dataset)


def _decided(path: Path, lines: list[Correction], dataset: Dataset) -> dict[int, int]:
    """Return the class of every sample that the lines decide on."""
    fresh = replace(dataset, confirmed=None)
    done = correct(fresh, Corrections(path, tuple(lines), "")).dataset
    assert done.confirmed is not None, "correct says which labels a person stands for"
    return {int(place): int(done.labels[place]) for place in done.confirmed.nonzero()[:, 0]}


def _lines(path: Path, dataset: Dataset) -> list[Correction]:
    """Read a check as decisions: the given label kept, another one instead, or nothing yet."""
    reader = csv.DictReader(io.StringIO(read_text(path).removeprefix("\ufeff"), newline=""))
    if tuple(reader.fieldnames or ()) != CHECK_COLUMNS:
        raise InputError(
            f"{path}, line 1: the columns must be {','.join(CHECK_COLUMNS)}, got "
            f"{','.join(reader.fieldnames or ())[:80]!r}; draw a sample with: anchored audit RUN --check 50"
        )
    found = []
    for row in reader:
        where = f"{path}, line {reader.line_num}"
        if None in row or None in row.values() or not row["index"].isdecimal():
            raise InputError(f"{where}: a line needs {','.join(CHECK_COLUMNS)} with a number first; put it back")
        label = row["label"].strip()
        if label and label not in dataset.class_names:
            raise InputError(f"{where}: {label!r} is no class of {dataset.name}; write a class, or leave it empty")
        decision = "skip" if not label else "keep" if label == row["given"] else "relabel"
        found.append(Correction(int(row["index"]), row["id"], row["given"], decision, label, where=where))
    if not found:
        raise InputError(f"{path}: no sample in it; draw one with: anchored audit RUN --check 50")
    return found
