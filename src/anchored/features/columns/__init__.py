"""How one column becomes features, kind by kind: number, category, boolean, date, text, list of numbers."""

from anchored.features.columns._base import ColumnEncoder
from anchored.features.columns.boolean import BooleanEncoder
from anchored.features.columns.category import ONE_HOT, CategoryEncoder
from anchored.features.columns.date import DateEncoder
from anchored.features.columns.number import NumberEncoder
from anchored.features.columns.text import FreeTextEncoder
from anchored.features.columns.vector import VectorEncoder

__all__ = [
    "ONE_HOT",
    "BooleanEncoder",
    "CategoryEncoder",
    "ColumnEncoder",
    "DateEncoder",
    "FreeTextEncoder",
    "NumberEncoder",
    "VectorEncoder",
]
