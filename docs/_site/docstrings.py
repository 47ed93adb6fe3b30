"""A griffe extension: the mathematics and the references of our docstrings, which are reStructuredText, as Markdown.

``.. math::`` becomes ``$$``, ``:math:`` becomes ``$``, and ``:func:`~anchored.x.y``` becomes a link to the reference,
or code if the reference does not show that object.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

from griffe import Extension, Object

BLOCK = re.compile(r"^( *)\.\. math::[ ]*(.*)\n((?:\1 +\S.*\n|[ ]*\n(?=\1  +\S))*)", flags=re.MULTILINE)
INLINE = re.compile(r":math:`([^`]+)`")
OTHER_SECTION = re.compile(r"^(Shape|References?|Note):\n((?:    .*\n|[ ]*\n(?=    ))+)", flags=re.MULTILINE)
"""Sections that griffe would draw as boxes."""
ROLE = re.compile(r":(?:func|class|mod|data|meth|attr):`(~?)([\w.]+)`")


def to_markdown(text: str) -> str:
    """Return the docstring with its reStructuredText replaced.

    Args:
        text: A docstring without the indentation of its object.

    Example:
        >>> to_markdown("It is :math:`x^2`, see :func:`~anchored.losses.get`.")
        'It is $x^2$, see <autoref identifier="anchored.losses.get" optional><code>get</code></autoref>.'
    """

    def block(found: re.Match[str]) -> str:
        margin, first, rest = found.groups()
        lines = [line.strip() for line in (first, *rest.splitlines()) if line.strip()]
        return "\n".join(["", f"{margin}$$", *(margin + line for line in lines), f"{margin}$$", "", ""])

    def role(found: re.Match[str]) -> str:
        short, name = found.groups()
        shown = name.rpartition(".")[2] if short else name
        return f'<autoref identifier="{name}" optional><code>{shown}</code></autoref>'

    text = BLOCK.sub(block, text + "\n").rstrip("\n")
    text = INLINE.sub(lambda found: f"${found[1]}$", text)
    text = OTHER_SECTION.sub(lambda found: f"**{found[1]}:** {textwrap.dedent(found[2])}", text + "\n").rstrip("\n")
    text = re.sub(r"^Example:$", "Examples:", text, flags=re.MULTILINE)  # the name that griffe knows
    return ROLE.sub(role, text)


class Docstrings(Extension):
    """Rewrites every docstring when griffe has read it."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the docstring of ``obj``, if it has one."""
        if obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value)
