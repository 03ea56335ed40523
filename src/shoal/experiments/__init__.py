"""Comparisons that end in a table, a picture and a report."""

from shoal.experiments.demo import DemoRow, Example, demo_rows, example
from shoal.experiments.demo_report import demo_report

__all__ = ["DemoRow", "Example", "demo_report", "demo_rows", "example"]
