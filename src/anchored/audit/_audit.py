"""An audit: how bad the labels are, and which ones, in one object that can be kept in a folder.

=================  ================================================================================
``suspects.csv``   every sample that was judged, most probably wrong first
``audit.json``     the noise rate and its interval, the transition matrix, classes, pairs, duplicates
=================  ================================================================================
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from anchored._errors import InputError
from anchored._files import read_json, write_json
from anchored.audit.check import correct_by_check
from anchored.audit.judges.knowable import SYSTEMATIC, knowable, nothing_known
from anchored.audit.label_noise import LabelNoise, judge
from anchored.audit.near_duplicates import near_duplicates
from anchored.audit.suspects import Suspects, rank
from anchored.data import Dataset

__all__ = ["Audit", "CheckedLabels", "ClassNoise", "ConfusedPair", "DuplicateGroup", "audit"]

ABOUT, RANKED = "audit.json", "suspects.csv"
_MOST_PAIRS = 100


class Asked(Protocol):
    """A model that can be asked about a data set, such as :class:`anchored.runs.TrainedModel`."""

    class_names: tuple[str, ...]

    def raw_logits(self, dataset: Dataset, /) -> Tensor:
        """Compute logits ``(n, k)`` before any temperature."""
        ...


@dataclass(frozen=True)
class ClassNoise:
    """How many samples carry a class's name, and the share of them that is of another."""

    name: str
    count: int
    noise_rate: float | None
    """None if no sample carries the name."""


@dataclass(frozen=True)
class ConfusedPair:
    """How many samples given as one class are expected to be of another, and which share of the class that is."""

    given: str
    suggested: str
    count: float
    share: float


@dataclass(frozen=True)
class DuplicateGroup:
    """Samples that look alike and are labelled differently; the distance is a share of the usual one, 0 for copies."""

    indices: tuple[int, ...]
    ids: tuple[str, ...]
    labels: tuple[str, ...]
    distance: float


@dataclass(frozen=True)
class CheckedLabels:
    """How many labels a person checked at random, and how many of them were wrong."""

    checked: int
    wrong: int


@dataclass(frozen=True, eq=False)
class Audit:
    """What the labels of a data set are worth.

    Attributes:
        noise_rate: The share of wrong labels; None if nothing can be known about them.
        interval: What it may be, at 95 %.
        transition: ``(k, k)``; row i says how the samples of true class i were labelled.
        class_names: In the order of the matrix.
        samples: How many labels were judged.
        expected_errors: How many of them are wrong, by the sum of their probabilities.
        suspects: Every sample that was judged, most probably wrong first; of an audit that was loaded, maybe the first.
        classes: The noise among the samples given as each class.
        pairs: Which classes are taken for which, most often first.
        duplicates: Near-duplicates under different labels, nearest first.
        checked: What a person said about a random sample, by which rate, interval and probabilities were corrected;
            None if nobody has checked one.
        nothing_known: Why nothing can be said about the labels, in a few sentences; empty if something can.
    """

    noise_rate: float | None
    interval: tuple[float, float]
    transition: Tensor
    class_names: tuple[str, ...]
    samples: int
    expected_errors: float
    suspects: Suspects
    classes: tuple[ClassNoise, ...]
    pairs: tuple[ConfusedPair, ...]
    duplicates: tuple[DuplicateGroup, ...] = ()
    checked: CheckedLabels | None = None
    nothing_known: str = ""

    def describe(self) -> str:
        """Describe the findings in a few sentences."""
        if self.noise_rate is None:
            return self.nothing_known
        low, high = self.interval
        text = (
            f"About {self.noise_rate:.1%} of the {self.samples:,} labels are wrong (between {low:.1%} and {high:.1%}), "
            f"some {self.expected_errors:,.0f} in all."
        )
        known = [each for each in self.classes if each.noise_rate is not None]
        if self.noise_rate > 0.005 and known:
            worst = max(known, key=lambda each: each.noise_rate or 0.0)
            text += f" The worst class is {worst.name!r}, with {worst.noise_rate:.1%} of its {worst.count:,} labels."
            if self.pairs and self.pairs[0].count >= 1:
                pair = self.pairs[0]
                text += f" Most often {pair.suggested!r} is labelled {pair.given!r} (some {pair.count:,.0f} times)."
        if self.duplicates:
            groups = len(self.duplicates)
            text += f" {groups:,} group{'s' * (groups > 1)} of near-duplicates carry different labels."
        return f"{text} {self.basis}"

    @property
    def basis(self) -> str:
        """What the rate rests on, in a sentence: a person's check, or the labels alone with what those cannot show."""
        if self.checked is None:
            return SYSTEMATIC
        return (
            f"The rate rests on {self.checked.checked:,} labels that a person checked at random, "
            f"{self.checked.wrong:,} of them wrong."
        )

    def save(self, folder: str | Path, *, formats: Sequence[str] = ("csv",), spreadsheet_safe: bool = False) -> None:
        """Write ``audit.json`` and ``suspects.csv`` into ``folder``, which is made if it is missing.

        Args:
            folder: The folder to write to.
            formats: Files to write the ranking to: ``csv`` always, ``parquet`` and ``json`` beside it if named.
            spreadsheet_safe: Whether names in the CSV file that look like formulas begin with an apostrophe.

        Raises:
            InputError: The folder cannot be made, or a package for the format is missing.
        """
        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder {folder} for the audit: {error.strerror}") from None
        for form in dict.fromkeys(["csv", *formats]):
            self.suspects.save(folder / f"suspects.{form}", spreadsheet_safe=spreadsheet_safe)
        write_json(folder / ABOUT, self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the ranking as plain values, as ``audit.json`` holds it."""
        return {
            "noise_rate": self.noise_rate,
            "interval": list(self.interval),
            "transition": self.transition.tolist(),
            "class_names": list(self.class_names),
            "samples": self.samples,
            "expected_errors": self.expected_errors,
            "classes": [asdict(each) for each in self.classes],
            "pairs": [asdict(each) for each in self.pairs],
            "duplicates": [
                {"indices": list(g.indices), "ids": list(g.ids), "labels": list(g.labels), "distance": g.distance}
                for g in self.duplicates
            ],
            "nothing_known": self.nothing_known,
            "checked": None if self.checked is None else asdict(self.checked),
        }

    @classmethod
    def load(cls, folder: str | Path, *, top: int | None = None) -> Audit:
        """Read what :meth:`save` wrote.

        Args:
            folder: The folder that :meth:`save` wrote to.
            top: Number of suspects to read, the most suspicious first; None reads all.

        Returns:
            The audit; ``samples`` still counts every label that was judged.

        Raises:
            InputError: The folder holds no audit, or a damaged one.

        Example:
            >>> from tempfile import TemporaryDirectory
            >>> from anchored.data import load_digits
            >>> digits = load_digits().test
            >>> logits = 5.0 * torch.nn.functional.one_hot(digits.labels, 10)
            >>> with TemporaryDirectory() as folder:
            ...     audit(None, digits, logits=logits, duplicates=False).save(folder)
            ...     found = Audit.load(folder, top=3)
            >>> found.samples, len(found.suspects)
            (360, 3)
        """
        folder = Path(folder)
        for name in (ABOUT, RANKED):
            if not (folder / name).is_file():
                raise InputError(f"{folder} holds no audit ({name} is missing); make one with: anchored audit RUN")
        try:
            about = read_json(folder / ABOUT, way_out="make it again")
            return cls(
                noise_rate=None if about["noise_rate"] is None else float(about["noise_rate"]),
                interval=(float(about["interval"][0]), float(about["interval"][1])),
                transition=torch.tensor(about["transition"], dtype=torch.float64),
                class_names=tuple(about["class_names"]),
                samples=int(about["samples"]),
                expected_errors=float(about["expected_errors"]),
                suspects=Suspects.load(folder / RANKED, top=top),
                classes=tuple(ClassNoise(**each) for each in about["classes"]),
                pairs=tuple(ConfusedPair(**each) for each in about["pairs"]),
                duplicates=tuple(
                    DuplicateGroup(tuple(g["indices"]), tuple(g["ids"]), tuple(g["labels"]), g["distance"])
                    for g in about["duplicates"]
                ),
                checked=None if about.get("checked") is None else CheckedLabels(**about["checked"]),
                nothing_known=str(about.get("nothing_known", "")),
            )
        except (OSError, ValueError, KeyError, TypeError, IndexError, OverflowError, csv.Error) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"the audit in {folder} cannot be read ({error}); make it again") from None


def audit(
    model: Asked | None,
    dataset: Dataset,
    *,
    logits: Tensor | None = None,
    duplicates: bool = True,
    answers: Mapping[int, int] | None = None,
    known: bool | None = None,
    generator: torch.Generator | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Audit:
    """Judge every label of ``dataset``.

    A model that was not trained on ``dataset`` can be asked directly. One that was may have learnt some wrong labels
    by heart; then give the logits of :func:`anchored.audit.cross_fit`, in which no model judges a sample that it saw.

    Args:
        model: The model to judge by; None if ``logits`` are given.
        dataset: The labelled data; samples without a label are left out, those that a person has confirmed come last.
        logits: ``(n, k)`` to use instead of the model's own.
        duplicates: Whether to look for near-duplicates under different labels.
        answers: What a person said about samples drawn at random (:func:`anchored.audit.check_sample`): place to true
            class. Rate, interval and probabilities are corrected by it.
        known: Whether anything can be known about the labels, if that was found out before; None tests it here.
        generator: Chooses samples for the law and for near-duplicates if there are very many.
        say: Is told how far a long search for near-duplicates is.

    Returns:
        The noise rate, the transition matrix, every label ranked, and near-duplicates. If labels are predicted no
        better than by naming the largest class, no rate and no suspect: nothing can be known then.

    Raises:
        InputError: The model or the logits do not fit the data, or no sample has a label.

    Example:
        >>> from anchored.data import corrupt, load_digits
        >>> from anchored.audit import cross_fit
        >>> from anchored.runs import complete
        >>> data = corrupt(load_digits().train, "symmetric=0.3", seed=0).dataset
        >>> logits = cross_fit(data, complete({"train": {"epochs": 12}}, data)).logits
        >>> found = audit(None, data, logits=logits, duplicates=False)
        >>> abs(found.noise_rate - 0.3) < 0.08
        True
        >>> first = [data.labels[s.index] != data.clean_labels[s.index] for s in found.suspects[:100]]
        >>> sum(map(int, first)) > 95      # of the hundred most suspicious, so many are wrong indeed
        True
    """
    if logits is None:
        if model is None:
            raise InputError("an audit needs a model or its logits; give one of them")
        if model.class_names != dataset.class_names:
            raise InputError(
                f"{dataset.name}: its classes {dataset.class_names} are not the model's {model.class_names}; "
                f"rename them"
            )
        logits = model.raw_logits(dataset)
    if logits.shape != (len(dataset), dataset.k):
        raise InputError(
            f"logits must be ({len(dataset)}, {dataset.k}), a row per sample of {dataset.name}, "
            f"got {tuple(logits.shape)}"
        )
    index = (dataset.labels >= 0).nonzero()[:, 0]
    if len(index) == 0:
        raise InputError(f"{dataset.name}: no sample has a label, so there is nothing to judge; give labels")
    labelled = dataset.subset(index)
    rows, labels = logits[index], labelled.labels
    known = knowable(rows, labels) if known is None else known
    noise, posterior = judge(labelled, rows, generator=generator) if known else _as_given(labelled)
    probabilities, checked = noise.probabilities(rows), None
    if answers:
        place = {int(own): here for here, own in enumerate(index)}
        told = correct_by_check(noise, posterior, labels, {place.get(own, -1): said for own, said in answers.items()})
        noise, posterior, checked = told.noise, told.posterior, CheckedLabels(told.checked, told.wrong)
    suspects = rank(dataset, index, rows, probabilities, posterior)
    names = dataset.class_names
    counted = posterior.new_zeros(dataset.k, dataset.k).index_add_(0, labels, posterior)  # given x true
    groups = near_duplicates(dataset, generator=generator, say=say) if duplicates else []
    return Audit(
        noise_rate=noise.rate if known or checked is not None else None,
        interval=noise.interval,
        transition=noise.transition,
        class_names=names,
        samples=len(suspects),
        expected_errors=float(sum(suspects.column("probability_wrong"))),
        suspects=suspects,
        classes=_classes(counted, names),
        pairs=_pairs(counted, names),
        duplicates=tuple(
            DuplicateGroup(
                group.indices,
                tuple(dataset.ids[i] for i in group.indices),
                tuple(names[j] for j in group.labels),
                group.distance,
            )
            for group in groups
        ),
        checked=checked,
        nothing_known="" if known else nothing_known(float((rows.argmax(dim=1) == labels).double().mean()), labels),
    )


def _as_given(dataset: Dataset) -> tuple[LabelNoise, Tensor]:
    """Take every label as it is given: nothing is known about them, and the rate may be anything."""
    posterior = torch.nn.functional.one_hot(dataset.labels, dataset.k).to(torch.float64)
    return LabelNoise.unknown(dataset.k, len(dataset)), posterior


def _classes(counted: Tensor, names: tuple[str, ...]) -> tuple[ClassNoise, ...]:
    sizes = counted.sum(dim=1)
    return tuple(
        ClassNoise(name, round(float(sizes[j])), float(1 - counted[j, j] / sizes[j]) if sizes[j] > 0 else None)
        for j, name in enumerate(names)
    )


def _pairs(counted: Tensor, names: tuple[str, ...]) -> tuple[ConfusedPair, ...]:
    k = len(names)
    wrong = counted.clone().fill_diagonal_(0.0)
    found = []
    for place in wrong.flatten().argsort(descending=True, stable=True)[:_MOST_PAIRS].tolist():
        given, true = divmod(place, k)
        count = float(wrong[given, true])
        if count < 0.5:
            break
        share = count / float(counted[given].sum())
        found.append(ConfusedPair(names[given], names[true], round(count, 2), share))
    return tuple(found)
