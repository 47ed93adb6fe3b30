"""Features: pretrained encoders for photos and text, the encoding of tables, and the cache of what was encoded.

:func:`encode` turns a data set of photos, texts or rows into one of vectors; :func:`get` makes an encoder by name. The
alphabet: ``n`` inputs, ``d`` features of each.
"""

from anchored.features._encode import encode, encode_each, features_of
from anchored.features.base import Encoder
from anchored.features.cache import CacheEntry, FeatureCache
from anchored.features.choice import choose_features
from anchored.features.column_kinds import ASKED, kinds_of
from anchored.features.contributions import Reason, contributions, parts_against, reasons
from anchored.features.joined import Joined
from anchored.features.module import from_module
from anchored.features.names import ENCODERS, choose_encoder, get, kind_of, restore
from anchored.features.progress import Progress
from anchored.features.table import ColumnUse, TableEncoder, written_uses

__all__ = [
    "ASKED",
    "ENCODERS",
    "CacheEntry",
    "ColumnUse",
    "Encoder",
    "FeatureCache",
    "Joined",
    "Progress",
    "Reason",
    "TableEncoder",
    "choose_encoder",
    "choose_features",
    "contributions",
    "encode",
    "encode_each",
    "features_of",
    "from_module",
    "get",
    "kind_of",
    "kinds_of",
    "parts_against",
    "reasons",
    "restore",
    "written_uses",
]
