"""How to make the run again: the command, the whole configuration, and the versions it was made with."""

from __future__ import annotations

import shlex
from pathlib import Path

from anchored.data import BUILT_IN
from anchored.report._evidence import Evidence
from anchored.report._section import Block, Code, Paragraph, Section

__all__ = ["again", "command"]


def again(evidence: Evidence) -> Section:
    """Write the section about making the run again."""
    versions = evidence.result.get("versions") or {}
    made = ", ".join(f"{what} {which}" for what, which in versions.items())
    blocks: list[Block] = [Code(command(evidence)), Code(evidence.config.to_yaml(), folded="The whole configuration")]
    if made:
        blocks.append(Paragraph(f"Made with {made}.", quiet=True))
    lead = (
        f"The configuration below decides the result, down to the seed {evidence.config.train.seed}: on the same data, "
        f"{'these lines of Python give' if _only_python(evidence) else 'this command gives'} the same model."
    )
    return Section("again", "How to make it again", lead, blocks)


def command(evidence: Evidence) -> str:
    """Write what repeats the run in a folder beside it: a line for the shell, or Python if only Python can.

    A run that was given its data or its network from Python cannot be repeated from the shell; there the lines use
    ``split`` and ``module``, the data and the untrained network as they were given to :func:`anchored.runs.fit`.
    """
    config, out = evidence.path / "config.yaml", f"{evidence.path}-again"
    if not _only_python(evidence):
        return shlex.join(["anchored", "fit", "--config", str(config), "--out", out])
    given = "split and module are the data and the untrained network" if evidence.own_module else "split is the data"
    module = ", module=module" if evidence.own_module else ""
    return (
        f"# {given}, as before\nfrom pathlib import Path\nimport yaml\nfrom anchored.runs import fit\n"
        f"settings = yaml.safe_load(Path({str(config)!r}).read_text(encoding='utf-8'))\n"
        f"fit(split, settings, folder={out!r}{module})"
    )


def _only_python(evidence: Evidence) -> bool:
    """Tell whether the shell has no way to the data or to the network: it writes paths as absolute ones."""
    source = evidence.config.data.source
    path = Path(source).expanduser()
    return evidence.own_module or not source or not (source in BUILT_IN or path.is_absolute() or path.exists())
