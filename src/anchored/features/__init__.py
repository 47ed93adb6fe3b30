"""Features: pretrained encoders for photos and text, the encoding of tables, and the cache of what was encoded."""

from anchored.features.base import Encoder
from anchored.features.column_kinds import ASKED, kinds_of
from anchored.features.contributions import Reason, contributions, reasons
from anchored.features.table import ColumnUse, TableEncoder, written_uses

__all__ = [
    "ASKED",
    "ColumnUse",
    "Encoder",
    "Reason",
    "TableEncoder",
    "contributions",
    "kinds_of",
    "reasons",
    "written_uses",
]
