"""What a reader sees of a suspect that is no picture: its text and the words, or the cells, that speak against it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch

from anchored.audit import Suspect
from anchored.data import Dataset, TableInputs, TextInputs
from anchored.features import Reason
from anchored.runs import RunData, SpeakingColumns, TrainedModel, speaking_words

__all__ = ["describe_sample", "describe_samples"]

_VALUES, _CHARACTERS = 6, 400
Values = tuple[tuple[str, str], ...]


def describe_samples(model: TrainedModel | None, run: RunData, suspects: Iterable[Suspect]) -> dict[int, Values]:
    """Describe suspects in a few named values each.

    Args:
        model: The model of the run, which says what speaks for either label; None if it is not at hand.
        run: The data of the run.
        suspects: Which samples.

    Returns:
        Names and values by the place of the sample; nothing for pictures.
    """
    data = run.raw
    if data.is_image:
        return {}
    here = [each for each in suspects if 0 <= each.index < len(data)]
    speaking = SpeakingColumns.of(run, model) if here else None
    number = {name: j for j, name in enumerate(data.class_names)}
    known = [each for each in here if {each.given, each.suggested} <= set(number)]
    if speaking is None or not known:
        return {each.index: describe_sample(model, data, each) for each in here}
    given, suggested = ([number[getattr(each, name)] for each in known] for name in ("given", "suggested"))
    found = speaking.against([each.index for each in known], given, suggested, most=_VALUES)
    return {each.index: _cells(reasons) for each, reasons in zip(known, found, strict=True)}


def _cells(reasons: Sequence[Reason]) -> Values:
    """Those that speak against the label; if none does, the one that stands by it least."""
    against = [reason for reason in reasons if reason.against > 0] or list(reasons[:1])
    return tuple((reason.column, "missing" if reason.value is None else reason.value) for reason in against)


def describe_sample(model: TrainedModel | None, data: Dataset, suspect: Suspect) -> Values:
    """Describe one suspect: its text and the words that speak for either label, or the first cells of its row.

    Args:
        model: The model of the run, or None.
        data: The samples as people see them.
        suspect: Which of them.

    Returns:
        Names and values, in the order in which they are shown.
    """
    inputs = data.inputs
    if isinstance(inputs, TextInputs):
        text = inputs.texts[suspect.index]
        shown = [("text", text if len(text) <= _CHARACTERS else text[:_CHARACTERS] + " …")]
        if model is not None and {suspect.given, suspect.suggested} <= set(model.class_names):
            given, suggested = (model.class_names.index(name) for name in (suspect.given, suspect.suggested))
            for label, words in zip(
                (suspect.suggested, suspect.given), speaking_words(model, text, given, suggested), strict=True
            ):
                shown.append((f"speaks for {label}", ", ".join(words) or "no single word"))
        return tuple(shown)
    if isinstance(inputs, TableInputs):
        cells = list(inputs.row(suspect.index).items())[:_VALUES]
        return tuple((column, "" if cell is None else cell) for column, cell in cells)
    row = inputs.take(torch.tensor([suspect.index]))[0]
    columns = data.columns or tuple(f"feature {i}" for i in range(len(row)))
    return tuple((column, f"{value:.4g}") for column, value in zip(columns, row.tolist()[:_VALUES], strict=False))
