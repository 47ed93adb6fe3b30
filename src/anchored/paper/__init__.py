"""The paper as a catalogue: every table is a command, run for real, shown beside the published numbers.

:data:`TABLES` holds the tables as values and :func:`get` finds one by name; :func:`run` runs the jobs of one, keeps the
runs in a :class:`Store` and the records in :class:`Results`; :func:`compare` puts these beside the published numbers.
"""

from anchored.paper.comparison import Comparison, compare
from anchored.paper.names import TABLES, get
from anchored.paper.published import Published, published_numbers
from anchored.paper.results import Record, Results, record_of
from anchored.paper.runner import Summary, Watcher, run
from anchored.paper.store import Store
from anchored.paper.table import Cell, Job, Row, Table
from anchored.paper.worker import Outcome, Placement, run_job

__all__ = [
    "TABLES",
    "Cell",
    "Comparison",
    "Job",
    "Outcome",
    "Placement",
    "Published",
    "Record",
    "Results",
    "Row",
    "Store",
    "Summary",
    "Table",
    "Watcher",
    "compare",
    "get",
    "published_numbers",
    "record_of",
    "run",
    "run_job",
]
