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
"""What the report is called in the folder of its run."""


@dataclass(frozen=True)
class Report:
    """A report, ready to be saved.

    Attributes:
        evidence: What it speaks of.
        sections: What it says.
    """

    evidence: Evidence
    sections: Sequence[Section]

    def html(self) -> str:
        """The page."""
        evidence = self.evidence
        source = Path(evidence.config.data.source).name or "data given from Python"
        title = f"{name(evidence.result.get('method', 'A model'), 60)} on {name(source, 80)}"
        notes = [name(note, 400) for note in evidence.missing]
        return page(title, headline(evidence), tiles(evidence), self.sections, notes)

    def save(self, path: str | Path) -> None:
        """Write the page, atomically."""
        write_text(path, self.html())


def make(
    run_folder: str | Path,
    *,
    compare: str | Path | None = None,
    fitted: Fitted | None = None,
    data_root: str | Path | None = None,
    tell: Callable[[int, int], None] = lambda _done, _all: None,
) -> Report:
    """The report of a finished run; arguments as :func:`write`, and ``tell`` hears how far the work is."""
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
        run_folder: The run.
        out: The file, by default ``report.html`` in the run's folder.
        compare: Another finished run to compare with; by default the one made before it in the same parent folder,
            from the same data.
        fitted: What training has just given back; None opens the data as the configuration says. If it is not at
            hand any more, the report comes out with what the run holds, and says what is missing.
        data_root: Where the data lies, if it was moved since.

    Returns:
        The path of the file.

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
    """Where the report goes, refused at once where it could not be written after all the work."""
    path = Path(run_folder) / NAME if out is None else Path(out)
    if path.is_dir():
        raise InputError(f"{path} is a folder; give a file for the report, for instance {path / NAME}")
    if out is not None and not path.parent.is_dir():
        raise InputError(f"cannot write {path}: the folder {path.parent} does not exist; create it first")
    return path
