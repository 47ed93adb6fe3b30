"""The cases of a review: the suspects of an audit for which another label is likelier, most suspicious first.

A sample whose given label is still the likeliest one is no case, even if it is more probably wrong than right: there is
nothing to suggest. Such samples are counted, and what they add to the expected number of wrong labels is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored.audit import Audit, Suspect, most_valuable
from anchored.data import Dataset

__all__ = ["Cases"]

_POOL = 10
"""How many candidates per case that is chosen by value are compared: the most suspect ones."""


@dataclass(frozen=True, eq=False)
class Cases:
    """Suspects to decide on, in the order of suspicion.

    Args:
        class_names: Every label that can be given.
        rows: The suspects.
        expected_elsewhere: Expected number of wrong labels among the samples that are not listed.
        unresolved: Number of labels that are more probably wrong than right, but likelier than any other one label.

    Example:
        >>> rows = tuple(Suspect(i, i, "a", "cat", "dog", p, -p, 0.1, 0.9, "many") for i, p in ((1, 0.7), (2, 0.5)))
        >>> first = Cases(("cat", "dog"), rows).top(1)
        >>> len(first), first.expected_elsewhere
        (1, 0.5)
    """

    class_names: tuple[str, ...]
    rows: tuple[Suspect, ...]
    expected_elsewhere: float = 0.0
    unresolved: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def of(cls, audit: Audit) -> Cases:
        """Take the cases of ``audit``."""
        known = set(audit.class_names)
        for row in audit.suspects:
            for name in (row.given, row.suggested):
                if name not in known:
                    raise InputError(
                        f"the audit has a suspect of {name!r}, which is none of its classes; make it again"
                    )
        rows = tuple(row for row in audit.suspects if row.given != row.suggested)
        others = [row.probability_wrong for row in audit.suspects if row.given == row.suggested]
        return cls(audit.class_names, rows, math.fsum(others), sum(wrong > 0.5 for wrong in others))

    def top(self, n: int) -> Cases:
        """Keep the first ``n``; the errors expected among the others move to ``expected_elsewhere``."""
        others = math.fsum(row.probability_wrong for row in self.rows[n:])
        return replace(self, rows=self.rows[:n], expected_elsewhere=self.expected_elsewhere + others)

    def by_value(self, features: Callable[[Tensor], Tensor], *, first: int = 200) -> Cases:
        """Put cases first that are suspect and differ from each other; see :mod:`anchored.audit.next_to_show`.

        Args:
            features: From places ``(m,)`` in the data to vectors ``(m, d)``; similar vectors are similar samples.
            first: Number of cases to choose; those that follow stay in the order of suspicion.

        Returns:
            The same cases in another order.

        Example:
            >>> row = Suspect(1, 0, "a", "cat", "dog", 0.9, -0.9, 0.1, 0.9, "many")
            >>> rows = (row, replace(row, index=1), replace(row, index=2, probability_wrong=0.7))
            >>> one = Cases(("cat", "dog"), rows)
            >>> vectors = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
            >>> [row.index for row in one.by_value(lambda places: vectors[places]).rows]     # 1 looks like 0
            [0, 2, 1]
        """
        pool = self.rows[: _POOL * first]
        if not pool:
            return self
        number = {name: j for j, name in enumerate(self.class_names)}
        chosen = most_valuable(
            torch.tensor([row.probability_wrong for row in pool], dtype=torch.float64),
            features(torch.tensor([row.index for row in pool])),
            first,
            given=torch.tensor([number[row.given] for row in pool]),
            suggested=torch.tensor([number[row.suggested] for row in pool]),
        ).tolist()
        taken = set(chosen)
        rest = (row for place, row in enumerate(self.rows) if place not in taken)
        return replace(self, rows=(*(self.rows[place] for place in chosen), *rest))

    def check(self, dataset: Dataset, *, where: str) -> None:
        """Refuse cases that do not belong to ``dataset`` as it is now.

        Args:
            dataset: The training data.
            where: Folder of the audit, for the message.

        Raises:
            InputError: A sample is missing, has another name, or another label than in the audit.
        """
        way_out = f"remove {where} and audit the run again"
        if self.class_names != dataset.class_names:
            raise InputError(f"{where}: its classes are not those of {dataset.name}; {way_out}")
        labels, ids, n = dataset.labels.tolist(), dataset.ids, len(dataset)
        for row in self.rows:
            if not 0 <= row.index < n:
                raise InputError(f"{where}: {dataset.name} has {n} samples and none at {row.index}; {way_out}")
            if ids[row.index] not in (row.id, f"row {row.id}"):
                raise InputError(
                    f"{where}: sample {row.index} of {dataset.name} is {ids[row.index]!r} and not {row.id!r}; {way_out}"
                )
            now = dataset.class_names[labels[row.index]]
            if now != row.given:
                raise InputError(
                    f"{where}: sample {row.id!r} was labelled {row.given!r} in the audit and is labelled {now!r} now; "
                    f"{way_out}"
                )
