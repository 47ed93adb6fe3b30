"""From a run to its report, written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from anchored._errors import InputError
from anchored._files import write_text
from anchored.report._evidence import Evidence, gather
from anchored.report._page import page
from anchored.report._section import Section
from anchored.report._summary import headline, tiles
from anchored.report._words import name
from anchored.report.sections import SECTIONS
from anchored.runs import Fitted

__all__ = ["NAME", "Report", "make", "place", "write"]

NAME = "report.html"
"""Name of the report in the folder of its run."""


@dataclass(frozen=True)
class Report:
    """A report, ready to be saved.

    Attributes:
        evidence: What is known about the run.
        sections: Sections in the order of the page.
    """

    evidence: Evidence
    sections: Sequence[Section]

    def html(self) -> str:
        """Render the page."""
        evidence = self.evidence
        title = f"A model trained on {name(Path(evidence.config.data.source).name or 'data given from Python', 80)}"
        notes = [name(note, 400) for note in evidence.missing]
        return page(title, headline(evidence), tiles(evidence), self.sections, notes)

    def save(self, path: str | Path) -> None:
        """Write the page to ``path``, whole or not at all."""
        write_text(path, self.html())


def make(
    run_folder: str | Path,
    *,
    compare: str | Path | None = None,
    fitted: Fitted | None = None,
    data_root: str | Path | None = None,
    tell: Callable[[int, int], None] = lambda _done, _all: None,
) -> Report:
    """Make the report of a finished run, without writing it.

    Args:
        run_folder: Folder of the run.
        compare: Another finished run to compare with, see :func:`write`.
        fitted: What :func:`anchored.runs.fit` has just returned, or None.
        data_root: Folder of the data, if it was moved since.
        tell: Called with the number of samples that the model has answered, and the number of all.

    Returns:
        The report, to be saved or rendered.

    Raises:
        InputError: The run is not there or not finished, or ``compare`` is no finished run.
    """
    evidence = gather(run_folder, compare=compare, fitted=fitted, data_root=data_root, tell=tell)
    return Report(evidence, [section for part in SECTIONS if (section := part(evidence)) is not None])


def write(
    run_folder: str | Path,
    out: str | Path | None = None,
    *,
    compare: str | Path | None = None,
    fitted: Fitted | None = None,
    data_root: str | Path | None = None,
) -> Path:
    """Write the report of a finished run as one HTML file.

    Args:
        run_folder: Folder of the run.
        out: The file; by default ``report.html`` in the folder of the run.
        compare: Another finished run to compare with; by default the run of the same data that ended before this one
            in the same parent folder, if there is one.
        fitted: What :func:`anchored.runs.fit` has just returned; None opens the data as the configuration says. If
            the data is not at hand any more, the report is made from what the run holds, and says what is missing.
        data_root: Folder of the data, if it was moved since.

    Returns:
        The path of the file.

    Raises:
        InputError: The run is not there or not finished, or the file cannot be written there.

    Example:
        >>> import tempfile
        >>> from anchored.data import load_digits
        >>> from anchored.runs import fit
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     settings = {"data": {"source": "digits"}, "method": {"name": "ce"}, "train": {"epochs": 1}}
        ...     run = fit(load_digits(), settings, folder=f"{folder}/run")
        ...     text = write(f"{folder}/run").read_text(encoding="utf-8")
        >>> "How often it is right" in text
        True
    """
    path = place(run_folder, out)
    make(run_folder, compare=compare, fitted=fitted, data_root=data_root).save(path)
    return path


def place(run_folder: str | Path, out: str | Path | None = None) -> Path:
    """Choose the file of a report, and refuse it before the work if it could not be written after it.

    Args:
        run_folder: Folder of the run.
        out: The file, or None for ``report.html`` in the folder of the run.

    Raises:
        InputError: ``out`` is a folder, or lies in a folder that does not exist.

    Example:
        >>> place("runs/a").as_posix()
        'runs/a/report.html'
    """
    path = Path(run_folder) / NAME if out is None else Path(out)
    if path.is_dir():
        raise InputError(f"{path} is a folder; give a file for the report, for instance {path / NAME}")
    if out is not None and not path.parent.is_dir():
        raise InputError(f"cannot write {path}: the folder {path.parent} does not exist; create it first")
    return path
