"""The paper as a catalogue: every table is a command, run for real, shown beside the published numbers.

:data:`TABLES` holds the tables as values; :func:`run` does the jobs of one in a :class:`Store` and keeps the records in
:class:`Results`; :func:`compare` lays these beside the published numbers.
"""

from anchored.paper.catalogue import TABLES, get_table
from anchored.paper.comparison import Comparison, compare
from anchored.paper.published import Published, published
from anchored.paper.results import Record, Results, record_of
from anchored.paper.runner import Summary, Watcher, run
from anchored.paper.store import Store
from anchored.paper.table import Cell, Job, Row, Table
from anchored.paper.worker import Outcome, Place, work

__all__ = [
    "TABLES",
    "Cell",
    "Comparison",
    "Job",
    "Outcome",
    "Place",
    "Published",
    "Record",
    "Results",
    "Row",
    "Store",
    "Summary",
    "Table",
    "Watcher",
    "compare",
    "get_table",
    "published",
    "record_of",
    "run",
    "work",
]
