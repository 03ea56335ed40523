"""Figures from records; needs the extra ``plot``."""

from shoal.plotting.audit import draw_audit
from shoal.plotting.bars import draw_bars
from shoal.plotting.demo import draw_demo
from shoal.plotting.heat_map import draw_heat_map
from shoal.plotting.k_distance import draw_k_distance
from shoal.plotting.lines import draw_lines
from shoal.plotting.n_clusters import draw_n_clusters
from shoal.plotting.release import draw_release
from shoal.plotting.roc import draw_rates
from shoal.plotting.scatter import draw_scatter
from shoal.plotting.style import COLOURS, LOOKS, MARKERS, Look, looks, panels
from shoal.plotting.thresholds import draw_thresholds

__all__ = [
    "COLOURS",
    "LOOKS",
    "MARKERS",
    "Look",
    "draw_audit",
    "draw_bars",
    "draw_demo",
    "draw_heat_map",
    "draw_k_distance",
    "draw_lines",
    "draw_n_clusters",
    "draw_rates",
    "draw_release",
    "draw_scatter",
    "draw_thresholds",
    "looks",
    "panels",
]
