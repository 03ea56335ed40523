"""Figures from records; needs the extra ``plot``."""

from shoal.plotting.demo import draw_demo
from shoal.plotting.style import COLOURS, MARKERS, panels

__all__ = ["COLOURS", "MARKERS", "draw_demo", "panels"]
