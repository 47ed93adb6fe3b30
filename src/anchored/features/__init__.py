"""Features: pretrained encoders for photos and text, the encoding of tables, and the cache of what was encoded."""

from anchored.features.base import Encoder

__all__ = ["Encoder"]
