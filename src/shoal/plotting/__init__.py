"""Figures from records; needs the extra ``plot``."""

from shoal.plotting.demo import draw_demo
from shoal.plotting.style import COLOURS, MARKERS, panels
from shoal.plotting.thresholds import draw_thresholds

__all__ = ["COLOURS", "MARKERS", "draw_demo", "draw_thresholds", "panels"]
