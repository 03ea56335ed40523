"""Figures from records; needs the extra ``plot``.

The ending of the path chooses the format: PNG, SVG and PDF are drawn by matplotlib, HTML is the
same picture in Plotly, in one page that needs nothing else, and JSON is its figure.
"""

from shoal.plotting.audit import draw_audit
from shoal.plotting.bars import draw_bars
from shoal.plotting.cells import draw_cells
from shoal.plotting.chart import Axis, Chart, Panel
from shoal.plotting.demo import draw_demo
from shoal.plotting.heat_map import draw_heat_map
from shoal.plotting.k_distance import draw_k_distance
from shoal.plotting.lines import draw_lines
from shoal.plotting.marks import Band, Bars, Cells, Level, Line, Mark, Points, Scale, Texts
from shoal.plotting.n_clusters import draw_n_clusters
from shoal.plotting.perturbation_area import draw_perturbation_area
from shoal.plotting.rates import draw_rates
from shoal.plotting.release import draw_release
from shoal.plotting.roc import draw_roc
from shoal.plotting.save import save
from shoal.plotting.scatter import draw_scatter
from shoal.plotting.style import COLORS, LOOKS, MARKERS, Look, looks, panels
from shoal.plotting.thresholds import draw_thresholds
from shoal.plotting.trade_off import draw_trade_off

__all__ = [
    "COLORS",
    "LOOKS",
    "MARKERS",
    "Axis",
    "Band",
    "Bars",
    "Cells",
    "Chart",
    "Level",
    "Line",
    "Look",
    "Mark",
    "Panel",
    "Points",
    "Scale",
    "Texts",
    "draw_audit",
    "draw_bars",
    "draw_cells",
    "draw_demo",
    "draw_heat_map",
    "draw_k_distance",
    "draw_lines",
    "draw_n_clusters",
    "draw_perturbation_area",
    "draw_rates",
    "draw_release",
    "draw_roc",
    "draw_scatter",
    "draw_thresholds",
    "draw_trade_off",
    "looks",
    "panels",
    "save",
]
