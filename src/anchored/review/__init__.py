"""Review: suspect labels in the browser, each decision on the disk before it is confirmed.

:class:`Review` ties the data, its suspects and the record of decisions together; :class:`ReviewServer` serves it on
this machine, :func:`write_static` writes it as one file that needs no server.
"""

from anchored.review.cases import Cases
from anchored.review.decisions import DecisionLog
from anchored.review.neighbours import Neighbours
from anchored.review.server import ReviewServer
from anchored.review.session import Review
from anchored.review.static import static_page, write_static

__all__ = [
    "Cases",
    "DecisionLog",
    "Neighbours",
    "Review",
    "ReviewServer",
    "static_page",
    "write_static",
]
