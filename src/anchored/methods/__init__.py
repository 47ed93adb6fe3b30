"""Methods by the paper's row names: frozen descriptions of head, loss, batches and weights."""

from anchored.methods.build import make_head, make_loss
from anchored.methods.method import Method
from anchored.methods.parse import parse

__all__ = ["Method", "make_head", "make_loss", "parse"]
