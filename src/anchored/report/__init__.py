"""The report of a run: one HTML file that says in plain words what was trained, how good it is and what to do next.

The file stands alone: styles, pictures (matplotlib's SVG) and thumbnails are inside, nothing is fetched and no script
runs, so it can be mailed, archived and printed.
"""

from anchored.report._evidence import Evidence, gather
from anchored.report._write import Report, make, place, write

__all__ = ["Evidence", "Report", "gather", "make", "place", "write"]
