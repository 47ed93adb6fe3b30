"""The labels most probably wrong, each with its sample."""

from __future__ import annotations

import shlex
from contextlib import suppress

import torch

from anchored._errors import InputError
from anchored.audit import Suspect
from anchored.data import Dataset, RowIds, data_uri
from anchored.report._evidence import Evidence
from anchored.report._section import Block, Card, Code, Gallery, Paragraph, Section
from anchored.report._words import count, name, percent

__all__ = ["suspects"]

_SIDE, _LONGEST = 96, 420


def suspects(evidence: Evidence) -> Section:
    """Write the section about suspect labels; without an audit it says how to make one."""
    title = "Labels to look at first"
    audited = evidence.audited
    if audited is None:
        lead = "The labels were not checked one by one yet; an audit ranks them by how probably they are wrong."
        commands = "\n".join(shlex.join(["anchored", each, str(evidence.path)]) for each in ("audit", "report"))
        return Section("suspects", title, lead, [Code(commands)])
    shown = [each for each in audited.suspects if each.given != each.suggested]
    if not shown:
        return Section("suspects", title, "The audit found no label that is probably wrong.")
    lead = f"These are the {count(len(shown), 'label')} most probably wrong"
    lead += f", out of some {count(audited.expected_errors)} that the audit expects"
    lead += "; correcting them and training again is the surest way to a better model."
    cards = [_card(each, evidence) for each in shown]
    blocks: list[Block] = [Gallery(cards), Code(shlex.join(["anchored", "review", str(evidence.path)]))]
    if evidence.data is None:
        blocks.append(Paragraph("The samples themselves are not shown, because the data is not at hand.", quiet=True))
    return Section("suspects", title, lead, blocks)


def _card(suspect: Suspect, evidence: Evidence) -> Card:
    note = f"{percent(suspect.probability_wrong, 0)} sure that it is wrong"
    data, image, values = evidence.data, "", []
    if data is not None and _same_sample(suspect, data):
        if data.is_image:
            with suppress(InputError, OSError):
                image = data_uri(data.inputs.take(torch.tensor([suspect.index]))[0], _SIDE)
        values = [(name(title, 40), name(value, _LONGEST)) for title, value in evidence.samples.get(suspect.index, ())]
    return Card(name(suspect.id, 60), name(suspect.given, 40), name(suspect.suggested, 40), note, image, tuple(values))


def _same_sample(suspect: Suspect, data: Dataset) -> bool:
    """Tell whether the data still has the sample in its place: a picture of another one would mislead."""
    if not 0 <= suspect.index < len(data):
        return False
    here = data.ids[suspect.index]
    return here == suspect.id or (isinstance(data.ids, RowIds) and here.removeprefix("row ") == suspect.id)
