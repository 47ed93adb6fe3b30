"""One review: the data, its suspects and the decisions on them, in the form that the page asks for.

All answers are plain values, ready for JSON. The page names samples by their index only, so nothing that a browser
sends can become a path or a label that is not in the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import torch

from anchored._errors import InputError
from anchored.audit import Suspect
from anchored.data import Dataset, TableInputs, TextInputs, png
from anchored.data.corrections import Correction
from anchored.review.cases import Cases
from anchored.review.decisions import DecisionLog
from anchored.review.neighbours import Neighbours

__all__ = ["NEIGHBOURS", "Review"]

NEIGHBOURS = 8
"""Number of samples of a class that are shown beside a suspect."""
_MOST_ROWS = 200
_SMALL_PICTURE = 96
_LONGEST_TEXT = 4_000


class Review:
    """Answers the questions of the page, and records decisions.

    Args:
        title: Title of the page, e.g. the run's folder.
        dataset: The training data, as it was audited and as people see it.
        cases: The suspects to decide on.
        log: File that decisions go to; None if the page keeps them itself.
        neighbours: Finds samples to compare with; None shows none.
        all_cases: Whether the page starts with all cases instead of those that are more probably wrong than right.
        words: Says of a text which words speak for the suggested label and which for the given one; None says nothing.
        speaking: For each case the columns that speak against its label, the most telling first; None if not known.

    Example:
        >>> import tempfile
        >>> from anchored.data import TensorInputs
        >>> data = Dataset("toy", TensorInputs(torch.zeros(2, 3)), torch.tensor([0, 1]), ("cat", "dog"))
        >>> row = Suspect(1, 1, "row 1", "dog", "cat", 0.9, -0.4, 0.1, 0.9, "many")
        >>> with DecisionLog(tempfile.mkdtemp() + "/corrections.csv") as log:
        ...     review = Review("toy", data, Cases(data.class_names, (row,)), log=log)
        ...     review.decide(1, "accept")
        ...     review.decisions()
        [[1, 'accept', 0]]
    """

    def __init__(
        self,
        title: str,
        dataset: Dataset,
        cases: Cases,
        *,
        log: DecisionLog | None = None,
        neighbours: Neighbours | None = None,
        all_cases: bool = False,
        words: Callable[[str, int, int], tuple[Sequence[str], Sequence[str]]] | None = None,
        speaking: Sequence[Sequence[str]] | None = None,
    ) -> None:
        self.title = title
        self.all_cases = all_cases
        self.dataset = dataset
        self.cases = cases
        self._number = {name: j for j, name in enumerate(cases.class_names)}
        self.log = log
        self._neighbours = neighbours
        self._words = words
        self._speaking = speaking
        self._by_index = {row.index: row for row in cases.rows}

    def payload(self) -> dict[str, Any]:
        """Collect what the page needs to start: the cases column by column, and the decisions so far."""
        rows, number, shape = self.cases.rows, self._number, self.dataset.inputs.shape
        return {
            "title": self.title,
            "classes": list(self.cases.class_names),
            "image": self.dataset.is_image,
            "small": self.dataset.is_image and max(shape[1:]) < _SMALL_PICTURE,
            "columns": self._columns(),
            "speaking": self._columns_against(),
            "neighbours": NEIGHBOURS if self._neighbours is not None else 0,
            "saved_in": None if self.log is None else str(self.log.path),
            "least": 0 if self.all_cases else None,
            "expected_elsewhere": self.cases.expected_elsewhere,
            "index": [row.index for row in rows],
            "id": [row.id for row in rows],
            "given": [number[row.given] for row in rows],
            "suggested": [number[row.suggested] for row in rows],
            "wrong": [round(row.probability_wrong, 4) for row in rows],
            "margin": [_rounded(row.margin) for row in rows],
            "given_probability": [_rounded(row.given_probability) for row in rows],
            "suggested_probability": [_rounded(row.suggested_probability) for row in rows],
            "group": [row.group for row in rows],
            "decisions": self.decisions(),
        }

    def _columns(self) -> list[str] | None:
        if self.dataset.is_image:
            return None
        inputs = self.dataset.inputs
        if isinstance(inputs, TextInputs):
            return ["text"] if self._words is None else ["text", "speaks for the suggested", "speaks for the given"]
        if isinstance(inputs, TableInputs):
            return list(inputs.names)
        return list(self.dataset.columns or tuple(f"x{i}" for i in range(inputs.shape[0])))

    def _columns_against(self) -> list[list[int]] | None:
        columns = self._columns()
        if self._speaking is None or columns is None:
            return None
        place = {name: c for c, name in enumerate(columns)}
        return [[place[name] for name in names if name in place] for names in self._speaking]

    def decisions(self) -> list[list[int | str]]:
        """List ``[index, decision, class number]`` of each suspect that was decided on, in the order of the decisions.

        A line about a sample that had another label at the time is passed over.
        """
        if self.log is None:
            return []
        number = self._number
        by_id = {row.id: row for row in self.cases.rows}
        last: dict[int, Correction] = {}
        for line in self.log.lines:
            row = self._by_index.get(line.index)
            row = row if row is not None and row.id == line.id else by_id.get(line.id)
            if row is None or row.given != line.given or line.result not in number:
                continue
            last.pop(row.index, None)
            if line.decision != "undo":
                last[row.index] = line
        return [[index, line.decision, number[line.result]] for index, line in last.items()]

    def decide(self, index: int, decision: str, label: int | None = None) -> None:
        """Record a decision about a suspect; it is on the disk when this returns.

        Args:
            index: Place of the sample in the training data.
            decision: ``accept``, ``relabel``, ``keep``, ``skip`` or ``undo``.
            label: Number of the class, for ``relabel``.

        Raises:
            InputError: The sample is no suspect, or the class does not exist.
        """
        if self.log is None:
            raise InputError("this review keeps no record; open it with a file for the corrections")
        row = self._row(index)
        names = self.cases.class_names
        chosen = {"accept": row.suggested, "keep": row.given}.get(decision, "")
        if decision == "relabel":
            if label is None or not 0 <= label < len(names):
                raise InputError(f"relabel needs a class number in 0..{len(names) - 1}, got {label!r}")
            chosen = names[label]
        self.log.append(
            Correction(
                row.index,
                row.id,
                row.given,
                decision,
                chosen,
                datetime.now(UTC).isoformat(timespec="seconds"),
            )
        )

    def _row(self, index: int) -> Suspect:
        if index not in self._by_index:
            raise InputError(f"sample {index} is not among the suspects")
        return self._by_index[index]

    def picture(self, index: int) -> bytes:
        """Return the image at ``index`` as the bytes of a PNG."""
        self._check(index)
        if not self.dataset.is_image:
            raise InputError(f"{self.dataset.name} holds no images")
        return png(self.dataset.inputs.take(torch.tensor([index]))[0])

    def values(self, indices: Sequence[int]) -> list[list[str]]:
        """Return the rows of a table at ``indices`` as text, numbers with six digits; of a text, the text itself."""
        for index in indices:
            self._check(index)
        if self.dataset.is_image or len(indices) > _MOST_ROWS:
            raise InputError(f"rows are for tables, at most {_MOST_ROWS} at a time")
        inputs = self.dataset.inputs
        if isinstance(inputs, TextInputs):
            return [self._text(inputs.texts[index], index) for index in indices]
        if isinstance(inputs, TableInputs):
            rows_of_cells = (inputs.row(index) for index in indices)
            return [
                ["" if cells[name] is None else str(cells[name]) for name in inputs.names] for cells in rows_of_cells
            ]
        rows = inputs.take(torch.tensor(list(indices), dtype=torch.int64)).tolist()
        return [[f"{value:.6g}" for value in row] for row in rows]

    def _text(self, text: str, index: int) -> list[str]:
        """The text, cut if it is very long; and of a suspect the words that speak for either label."""
        shown = [text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + " …"]
        if self._words is None:
            return shown
        row = self._by_index.get(index)
        if row is None:
            return [*shown, "", ""]
        found = self._words(text, self._number[row.given], self._number[row.suggested])
        return [*shown, *(", ".join(words) for words in found)]

    def neighbours(self, index: int, label: int) -> dict[str, list[Any]]:
        """Find the samples of a class that are nearest to a sample.

        Args:
            index: Place of the sample in the training data.
            label: Number of the class.

        Returns:
            Three lists of the same length: ``index``, ``id`` and ``similarity`` (a cosine), nearest first.

        Raises:
            InputError: There is no such sample or class.
        """
        self._check(index)
        if not 0 <= label < len(self.cases.class_names):
            raise InputError(f"there is no class {label}")
        found = [] if self._neighbours is None else self._neighbours.nearest(index, label, NEIGHBOURS)
        return {
            "index": [i for i, _ in found],
            "id": [self.dataset.ids[i] for i, _ in found],
            "similarity": [_rounded(cosine) for _, cosine in found],
        }

    def _check(self, index: int) -> None:
        if not 0 <= index < len(self.dataset):
            raise InputError(f"there is no sample {index}; {self.dataset.name} has {len(self.dataset)}")


def _rounded(value: float) -> float | None:
    return round(value, 4) if math.isfinite(value) else None
