"""Everything that a report is about, gathered once: what the run holds, what can still be measured, what is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from torch import Tensor

from anchored._errors import InputError
from anchored._files import read_json
from anchored.audit import Audit, look_settings
from anchored.data import Dataset
from anchored.features import ColumnUse, Encoder, TableEncoder
from anchored.report._measured import Measured, measure
from anchored.report._previous import Previous, class_names, find_previous, read_previous
from anchored.report._samples import describe_samples
from anchored.runs import (
    OWN_BACKBONE,
    Fitted,
    RunData,
    RunFolder,
    TrainedModel,
    kept_config,
    load,
    make_look,
    open_data,
    read_encoder,
    was_tuned,
)
from anchored.training import LookConfig, RunConfig

__all__ = ["PARTS", "Evidence", "gather"]

PARTS = ("test", "estimated", "held_out")
"""Parts of ``result.json`` that a model can be judged by, the most reliable first."""
_TOP = 24
"""Number of suspect labels that are read for the page."""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Evidence:
    """A finished run, and what is known about it.

    Attributes:
        path: Folder of the run.
        config: Resolved configuration of the run.
        result: The final numbers, as in ``result.json``.
        history: One record per epoch.
        seconds: Training time, or None if it was not measured.
        class_names: Names of the classes, in the order of the labels.
        measured: The model's answers to unseen data; None if the model or the data is not at hand.
        data: The labelled data as people see it, to show samples of it; None if it is not at hand.
        samples: What is shown of the most suspect samples that are no pictures: names and values by their places.
        column_uses: What is done with each column, if the data is a table that was encoded.
        audited: Result of the audit of the labels; None if there was no audit.
        previous: The run to compare with; None if there is none.
        missing: What the report has to do without, one sentence each.
        own_module: Whether the network was a module of the user's own, which only Python can make again.
    """

    path: Path
    config: RunConfig
    result: Mapping[str, Any]
    history: Sequence[Mapping[str, Any]] = ()
    seconds: float | None = None
    class_names: tuple[str, ...] = ()
    measured: Measured | None = None
    data: Dataset | None = None
    samples: Mapping[int, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    column_uses: tuple[ColumnUse, ...] = ()
    audited: Audit | None = None
    previous: Previous | None = None
    missing: tuple[str, ...] = ()
    own_module: bool = False

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.class_names)

    @property
    def counts(self) -> list[int]:
        """Training samples per class, by the labels given."""
        return list(self.result.get("class_counts") or ())

    @property
    def part(self) -> str | None:
        """The numbers to judge the model by: ``"test"``, else ``"estimated"``, else ``"held_out"``, else None.

        Held-out labels are as imperfect as the others. If a look at the labels has found how far each can be trusted,
        the numbers that allow for it are called estimated.
        """
        return next((name for name in PARTS if self.result.get(name)), None)

    @property
    def scores(self) -> Mapping[str, Any]:
        """The numbers of :attr:`part`; empty if there is none."""
        return {} if self.part is None else self.result[self.part]

    @property
    def part_in_words(self) -> str:
        """The name of :attr:`part` in a sentence."""
        return {"test": "test", "estimated": "held-out", "held_out": "held-out"}.get(self.part or "", "unseen")

    @property
    def labels_in_doubt(self) -> bool:
        """Whether the model is judged by labels that may be wrong, and nobody knows how many are."""
        return self.part == "held_out" and not self.noise_was_added

    @property
    def noise_was_added(self) -> bool:
        """Whether the run corrupted labels itself, so that their true number is known."""
        return bool((self.result.get("corruption") or {}).get("noise"))


def gather(
    run_folder: str | Path,
    *,
    compare: str | Path | None = None,
    fitted: Fitted | None = None,
    data_root: str | Path | None = None,
    tell: Callable[[int, int], None] = lambda _done, _all: None,
) -> Evidence:
    """Gather what is known about a finished run.

    Args:
        run_folder: Folder of the run.
        compare: Another finished run to compare with; by default the run of the same data that ended before this one
            in the same parent folder, if there is one.
        fitted: What :func:`anchored.runs.fit` has just returned; None opens data and model as the folder says.
        data_root: Folder of the data, if it was moved since.
        tell: Called with the number of samples that the model has answered, and the number of all.

    Returns:
        The evidence; what could not be had is named in ``missing``.

    Raises:
        InputError: The run is not there or not finished, or ``compare`` is no finished run.
    """
    run = RunFolder.open(run_folder)
    result = run.read_result()
    config = kept_config(run.read_config(), result)
    previous = find_previous(run) if compare is None else read_previous(compare)
    about = _model_file(run.path)
    names = class_names(about.get("class_names")) or tuple(map(str, range(len(result.get("class_counts") or ()))))
    missing: list[str] = []
    if fitted is not None:
        data: RunData | None = fitted.data
    else:
        data = _tried(
            lambda: RunData.open(open_data(config, root=data_root), config, encoder=_tuned_encoder(run, result)),
            "the data is not at hand",
            missing,
        )
    measured = None
    if data is not None:
        measured = _tried(
            lambda: _measured(run, data, config, result, fitted, tell), "the model cannot be asked again", missing
        )
    audited = _tried(lambda: _audit(run.path / "audit"), "the audit was left out", missing)
    samples = None
    if data is not None and audited is not None:
        found = [each for each in audited.suspects if each.given != each.suggested]
        samples = _tried(
            lambda: describe_samples(_model(run, fitted, data.raw), data, found), "suspects are not described", missing
        )
    speed = run.read_lines("speed.jsonl")
    return Evidence(
        path=run.path,
        config=config,
        result=result,
        history=run.read_lines("history.jsonl"),
        seconds=sum(line.get("seconds") or 0.0 for line in speed) or None,
        class_names=names,
        measured=measured,
        data=None if data is None else data.raw,
        samples=samples or {},
        column_uses=_column_uses(run.path, data),
        audited=audited,
        previous=previous,
        missing=tuple(missing),
        own_module=isinstance(made := about.get("backbone"), dict) and made.get("name") == OWN_BACKBONE,
    )


def _column_uses(path: Path, data: RunData | None) -> tuple[ColumnUse, ...]:
    """Read what is done with each column from the encoder, or from its file if the data is not at hand."""
    if data is not None:
        return data.encoder.uses if isinstance(data.encoder, TableEncoder) else ()
    try:
        found = read_encoder(path)
    except InputError:
        return ()
    return found.uses if isinstance(found, TableEncoder) else ()


def _model(run: RunFolder, fitted: Fitted | None, data: Dataset) -> TrainedModel | None:
    """The model, if it is needed to say what speaks for a label."""
    if fitted is not None:
        return fitted.model
    return load(run.path) if data.kind in ("texts", "table") else None


def _tuned_encoder(run: RunFolder, result: Mapping[str, Any]) -> Encoder | None:
    """The encoder of the run's model if it was fine-tuned; any other is made again as the configuration says."""
    return read_encoder(run.path) if was_tuned(result) else None


def _audit(folder: Path) -> Audit | None:
    """Read the audit of the run; None if there is none."""
    return Audit.load(folder, top=_TOP) if folder.is_dir() and any(folder.iterdir()) else None


def _model_file(path: Path) -> dict[str, Any]:
    try:
        return read_json(path / "model.json")
    except InputError:
        return {}  # the report is drawn from other files, and says that the model cannot be asked


def _measured(
    run: RunFolder,
    data: RunData,
    config: RunConfig,
    result: Mapping[str, Any],
    fitted: Fitted | None,
    tell: Callable[[int, int], None],
) -> Measured | None:
    unseen = data.unseen(config)
    if unseen is None:
        return None
    part, dataset = unseen
    before = (result.get(part) or {}).get("n")
    if before is not None and before != len(dataset):
        raise InputError(
            f"the data has changed since training: {before} {part.replace('_', '-')} samples are {len(dataset)}"
        )
    model = load(run.path) if fitted is None else fitted.model
    if dataset.class_names != model.class_names or dataset.inputs.shape != model.input_shape:
        raise InputError("the data has changed since training: other classes, or inputs of another shape")
    posterior = None
    if part == "held_out" and result.get("estimated"):
        posterior = _posterior(run, data, config) if fitted is None or fitted.look is None else fitted.look.posterior
        held = data.held_index(config)
        posterior = None if posterior is None or held is None else posterior[held]
    return measure(model, dataset, part, posterior=posterior, tell=tell)


def _posterior(run: RunFolder, data: RunData, config: RunConfig) -> Tensor | None:
    """Compute the probabilities ``(n, k)`` of the true labels from the look before training; None if it is gone."""
    answers = run.read_look(len(data.labelled))
    if answers is None:
        return None
    look = config.look if isinstance(config.look, LookConfig) else look_settings(config, len(data.labelled))
    return make_look(config, look, answers, data.labelled).posterior


def _tried(get: Callable[[], T], what: str, missing: list[str]) -> T | None:
    """Return ``get()``, or None and add a sentence about why: a report with a gap is better than none."""
    try:
        return get()
    except (InputError, OSError) as error:
        missing.append(f"{what}: {error}")
        return None
