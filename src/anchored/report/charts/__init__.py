"""The pictures of a report, each from plain numbers to inline SVG."""

from anchored.report.charts.bars import Bar, bars
from anchored.report.charts.curves import Line, curves
from anchored.report.charts.heat import heat
from anchored.report.charts.reliability import reliability_diagram
from anchored.report.charts.spread import histogram, spreads

__all__ = ["Bar", "Line", "bars", "curves", "heat", "histogram", "reliability_diagram", "spreads"]
