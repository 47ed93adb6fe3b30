"""How to make the run again: the command, the whole configuration, and the versions it was made with."""

from __future__ import annotations

import shlex

from anchored.report._evidence import Evidence
from anchored.report._section import Block, Code, Paragraph, Section

__all__ = ["again", "command"]


def again(evidence: Evidence) -> Section:
    """The section."""
    versions = evidence.result.get("versions") or {}
    made = ", ".join(f"{what} {which}" for what, which in versions.items())
    blocks: list[Block] = [Code(command(evidence)), Code(evidence.config.to_yaml(), folded="The whole configuration")]
    if made:
        blocks.append(Paragraph(f"Made with {made}.", quiet=True))
    lead = (
        f"The configuration below decides the result, down to the seed {evidence.config.train.seed}; on the same data, "
        "this command gives the same model."
    )
    return Section("again", "How to make it again", lead, blocks)


def command(evidence: Evidence) -> str:
    """A line for the shell that repeats the run in a folder beside it."""
    if not evidence.config.data.source:
        return "# the data was given from Python: anchored.runs.fit(split, settings), with the settings below"
    config, out = evidence.path / "config.yaml", f"{evidence.path}-again"
    return shlex.join(["anchored", "fit", "--config", str(config), "--out", out])
