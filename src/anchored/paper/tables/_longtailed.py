"""What the long-tailed tables have in common: rows with anchors in the paper's and in our orientation.

Everything is trained on and nothing held out, so that the class counts are the published ones; the temperature is
then fitted on the training data, and the calibration error reported is that of the logits as they are. The references
of these tables print the best test epoch; records keep every epoch, and both the best and the last are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anchored.paper.table import Row

__all__ = ["WHOLE", "longtailed_row", "rows_with_anchors"]

WHOLE: Mapping[str, Any] = {"data": {"hold_out": 0.0}, "method": {"noise_rate": 0.0}}
"""Train on all samples; no label is wrong."""

_RANDOM: Mapping[str, Any] = {"method": {"anchors": "random"}}
_ALIGNED: Mapping[str, Any] = {"method": {"anchors": "aligned"}}


def longtailed_row(name: str, *, ours: bool = False) -> Row:
    """Make a row from the name of its method; anchors are randomly turned, as far as is known the paper's.

    Args:
        name: Name of the row and of the method.
        ours: Whether the paper has no such row.

    Returns:
        The row.

    Example:
        >>> longtailed_row("ce+pal").settings
        {'method': {'anchors': 'random'}}
    """
    return Row(name=name, method=name, settings=_RANDOM if name.endswith("+pal") else {}, ours=ours)


def rows_with_anchors(*names: str, ours: bool = False) -> tuple[Row, ...]:
    """Make a row for each name, and at the end the anchored ones again with aligned anchors.

    Example:
        >>> [row.name for row in rows_with_anchors("ce", "ce+pal")]
        ['ce', 'ce+pal', 'ce+pal (aligned)']
    """
    aligned = (
        Row(name=f"{name} (aligned)", method=name, settings=_ALIGNED, ours=True)
        for name in names
        if name.endswith("+pal")
    )
    return (*(longtailed_row(name, ours=ours) for name in names), *aligned)
