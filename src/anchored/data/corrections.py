"""Corrections: what a reviewer decided about labels, one line each, and the data with those decisions applied.

A file of corrections is a CSV with the columns ``index,id,given,decision,label,time``:

============  ========================================================================================
``index``     place of the sample in the training data it was reviewed in
``id``        what the data set calls the sample; it decides which sample is meant
``given``     the label at the time of the review
``decision``  ``accept`` (the suggestion), ``relabel``, ``keep``, ``skip``, or ``undo`` of the decision before
``label``     the label it shall have, after ``accept`` and ``relabel``
``time``      when it was decided
============  ========================================================================================

Lines are only ever added, and of one sample the last line counts: it gives ``label`` after ``accept`` and ``relabel``,
and ``given`` otherwise. A line must find the sample labelled as its ``given`` says, by the data or by a line above
it; so a second review goes on in the same file, and corrections of other data are refused.

As the file only grows, its first bytes name a state of it for good: ``digest`` is their hash and their number, and a
run that was started from that state finds it again after the review has gone on.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from anchored._errors import InputError
from anchored._names import suggest
from anchored.data.dataset import Dataset, RowIds

__all__ = [
    "COLUMNS",
    "DECISIONS",
    "Corrected",
    "Correction",
    "Corrections",
    "correct",
    "parse_lines",
    "read_corrections",
]

_LONGEST_INDEX = 18
COLUMNS = ("index", "id", "given", "decision", "label", "time")
DECISIONS = ("accept", "relabel", "keep", "skip", "undo")
_WITH_LABEL = ("accept", "relabel")
_DECIDED = (*_WITH_LABEL, "keep")


@dataclass(frozen=True)
class Correction:
    """One line of the file: what was decided about one sample.

    Example:
        >>> Correction(7, "cat/7.png", "cat", "accept", "dog").result
        'dog'
        >>> Correction(7, "cat/7.png", "cat", "keep").result
        'cat'
    """

    index: int
    id: str
    given: str
    decision: str
    label: str = ""
    time: str = ""
    where: str = "corrections"
    """The file and line it stands in, for a refusal."""

    def __post_init__(self) -> None:
        if self.decision not in DECISIONS:
            raise InputError(
                f"{self.where}: unknown decision {self.decision!r}; {suggest(self.decision, list(DECISIONS))}"
            )
        if self.decision in _WITH_LABEL and not self.label:
            raise InputError(f"{self.where}: {self.decision} needs the label it gives; fill the column 'label'")

    @property
    def result(self) -> str:
        """The label that the sample has after this line."""
        return self.label if self.decision in _WITH_LABEL else self.given

    def row(self) -> tuple[str, ...]:
        """Return the values of the columns, in their order."""
        return str(self.index), self.id, self.given, self.decision, self.label, self.time


@dataclass(frozen=True)
class Corrections:
    """The decisions in a file."""

    path: Path
    """The file."""
    lines: tuple[Correction, ...]
    """Its lines, in their order."""
    digest: str
    """Hash and number of the bytes they were read from; empty for a file not yet written."""

    def places(self, dataset: Dataset) -> list[int]:
        """Find the place of each line's sample in ``dataset``.

        If several samples share an id (a list may name an image twice), ``index`` says which one.
        """
        found = _places(dataset.ids, {line.id for line in self.lines})
        return [_place(line, found.get(line.id, []), dataset.name) for line in self.lines]


@dataclass(frozen=True, eq=False)
class Corrected:
    """Corrected data."""

    dataset: Dataset
    """The data under the labels that the reviewer decided on."""
    receipt: dict[str, Any]
    """What was done, as plain values for a file."""


def read_corrections(path: str | Path, *, digest: str | None = None) -> Corrections:
    r"""Read a file of corrections.

    A last line that was cut short is refused: ``anchored review`` removes it, because it was never confirmed.

    Args:
        path: The file.
        digest: The state of the file to read, if lines may have been added since; by default all of it.

    Returns:
        The decisions, with the digest of what was read.

    Raises:
        InputError: If the file cannot be read, a line is wrong, or lines of the state asked for were changed.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "corrections.csv")
        >>> _ = path.write_text(",".join(COLUMNS) + "\n7,cat/7.png,cat,relabel,dog,2024-05-01\n")
        >>> [(line.id, line.result) for line in read_corrections(path).lines]
        [('cat/7.png', 'dog')]
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"corrections {path} cannot be read: {error.strerror}") from None
    if digest is not None:
        content = content[: _size(digest)]
        if _digest(content) != digest:
            raise InputError(
                f"corrections {path} are not those that the run was started with: lines were changed or removed; "
                f"put them back, or start another run"
            )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"corrections {path} must be text in UTF-8; save it as such") from None
    return Corrections(path, tuple(parse_lines(text, where=str(path))), _digest(content))


def parse_lines(text: str, *, where: str) -> Iterator[Correction]:
    r"""Read the text of a file of corrections.

    Args:
        text: The whole file.
        where: Its name, for a refusal.

    Returns:
        Its lines, one after the other, without the heading.

    Raises:
        InputError: If the heading or a line is wrong; the message names the line.

    Example:
        >>> [line.decision for line in parse_lines(",".join(COLUMNS) + "\n0,row 0,no,keep,,\n", where="c.csv")]
        ['keep']
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        if tuple(header) != COLUMNS:
            raise InputError(
                f"{where}, line 1: the columns must be {','.join(COLUMNS)}, got {','.join(header)[:80]!r}; "
                f"see the corrections.csv that anchored review writes"
            )
        for row in filter(None, reader):
            place = f"{where}, line {reader.line_num}"
            if len(row) != len(COLUMNS):
                raise InputError(
                    f"{place}: a correction has {len(COLUMNS)} values, got {len(row)}; complete or remove it"
                )
            if not row[0].isdecimal() or len(row[0]) > _LONGEST_INDEX:
                raise InputError(f"{place}: index must be a whole number, got {row[0]!r:.60}")
            name, given, decision, label, time = row[1:]
            yield Correction(int(row[0]), name, given, decision, label, time, where=place)
    except csv.Error as error:
        raise InputError(f"{where}, line {reader.line_num}: not CSV ({error}); complete or remove it") from None


def correct(dataset: Dataset, corrections: Corrections | str | Path) -> Corrected:
    """Apply the decisions of a reviewer to the labels; labels that were changed or kept count as confirmed.

    The labels from before stay with the data as ``original_labels``: judges learn from the corrected ones, and the law
    of the mistakes is that of the original ones, with the truth filled in where it is known now.

    Args:
        dataset: The data as it was reviewed, corrupted if the run that was reviewed corrupted it. It is not changed.
        corrections: The decisions, or their file.

    Returns:
        The data under its new labels, and a receipt of what was changed.

    Raises:
        InputError: If the corrections do not fit the data.

    Example:
        >>> import torch
        >>> from anchored.data import TensorInputs
        >>> data = Dataset("toy", TensorInputs(torch.zeros(3, 2)), torch.tensor([0, 1, 1]), ("no", "yes"))
        >>> line = Correction(2, "row 2", "yes", "accept", "no")
        >>> done = correct(data, Corrections(Path("corrections.csv"), (line,), ""))
        >>> done.dataset.labels.tolist(), done.receipt["changed"]
        ([0, 1, 0], 1)
    """
    if not dataset.labelled:
        raise InputError(f"{dataset.name}: only labels that are there can be corrected; some samples have none")
    if not isinstance(corrections, Corrections):
        corrections = read_corrections(corrections)
    last = _last(dataset, corrections)
    labels = dataset.labels.clone()
    confirmed = torch.zeros(len(dataset), dtype=torch.bool) if dataset.confirmed is None else dataset.confirmed.clone()
    pairs: Counter[tuple[str, str]] = Counter()
    for place, line in last.items():
        before = dataset.class_names[int(labels[place])]
        confirmed[place] = line.decision in _DECIDED
        if line.result != before:
            labels[place] = dataset.class_names.index(line.result)
            pairs[before, line.result] += 1
    decisions = Counter(line.decision for line in last.values())
    receipt: dict[str, Any] = {
        "file": str(corrections.path),
        "digest": corrections.digest,
        "decided": sum(decisions[name] for name in _DECIDED),
        **{name: decisions[name] for name in (*_DECIDED, "skip")},
        "changed": sum(pairs.values()),
        "pairs": [{"given": a, "label": b, "count": n} for (a, b), n in sorted(pairs.items(), key=_by_count)],
    }
    if dataset.clean_labels is not None:
        receipt["wrong_before"] = int((dataset.labels != dataset.clean_labels).sum())
        receipt["wrong_after"] = int((labels != dataset.clean_labels).sum())
    original = dataset.labels if dataset.original_labels is None else dataset.original_labels
    return Corrected(replace(dataset, labels=labels, confirmed=confirmed, original_labels=original), receipt)


def _last(dataset: Dataset, corrections: Corrections) -> dict[int, Correction]:
    """The line that counts for each sample, by its place; every line must fit the data or the lines above it."""
    labels: dict[int, set[str]] = {}
    last: dict[int, Correction] = {}
    for line, place in zip(corrections.lines, corrections.places(dataset), strict=True):
        now = dataset.class_names[int(dataset.labels[place])]
        seen = labels.setdefault(place, {now})
        if line.given not in seen:
            raise InputError(
                f"{line.where}: sample {line.id!r} was labelled {line.given!r} when it was reviewed and is labelled "
                f"{now!r} now; these corrections are of other data, or remove the line and review the sample again"
            )
        if line.result not in dataset.class_names:
            known = suggest(line.result, list(dataset.class_names))
            raise InputError(f"{line.where}: {line.result!r} is no class of {dataset.name}; {known}")
        seen.add(line.result)
        last[place] = line
    return last


def _by_count(item: tuple[tuple[str, str], int]) -> tuple[int, tuple[str, str]]:
    return -item[1], item[0]


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}:{len(content)}"


def _size(digest: str) -> int:
    size = digest.rpartition(":")[2]
    if not size.isdecimal():
        raise InputError(f"the digest of corrections must read sha256:HASH:BYTES, got {digest!r}")
    return int(size)


def _places(ids: Sequence[str], wanted: set[str]) -> dict[str, list[int]]:
    """Where the samples called so lie; rows that have no other name answer to their number alone as well."""
    found: dict[str, list[int]] = {}
    if isinstance(ids, RowIds):
        names: dict[int, list[str]] = {}
        for name in wanted:
            if (digits := name.removeprefix("row ")).isdecimal():
                names.setdefault(int(digits), []).append(name)
        for place, row in enumerate(ids.rows.tolist()):
            for name in names.get(row, ()):
                found.setdefault(name, []).append(place)
        return found
    for place, name in enumerate(ids):
        if name in wanted:
            found.setdefault(name, []).append(place)
    return found


def _place(line: Correction, places: list[int], name: str) -> int:
    if not places:
        raise InputError(
            f"{line.where}: {name} has no sample called {line.id!r}; these corrections are of other data, "
            f"or remove the line"
        )
    if len(places) == 1:
        return places[0]
    if line.index in places:
        return line.index
    raise InputError(
        f"{line.where}: {name} has {len(places)} samples called {line.id!r}, none of them at index {line.index}; "
        f"correct the index or remove the line"
    )
