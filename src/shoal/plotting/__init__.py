"""Figures from records; needs the extra ``plot``."""

from shoal.plotting.audit import draw_audit
from shoal.plotting.demo import draw_demo
from shoal.plotting.release import draw_release
from shoal.plotting.roc import draw_rates
from shoal.plotting.style import COLOURS, MARKERS, panels
from shoal.plotting.thresholds import draw_thresholds

__all__ = [
    "COLOURS",
    "MARKERS",
    "draw_audit",
    "draw_demo",
    "draw_rates",
    "draw_release",
    "draw_thresholds",
    "panels",
]
