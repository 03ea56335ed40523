"""Charts of measurements, releases and points; they need the extra ``plot``.

Every ``draw_`` function returns a :class:`Picture`, which a notebook displays and which can be
saved as PNG, SVG, PDF, a self-contained web page (HTML) or Vega-Lite (JSON). Charts are built with
Altair and rendered by vl-convert, without a browser and without network access.

A chart file contains the values that it shows, with all digits. Charts of records are therefore
marked and can be saved as PNG only, and pages meant for publication do not accept them.
"""

from shoal.plotting._attacks import draw_audit, draw_rates, draw_roc
from shoal.plotting._cells import draw_cells, draw_thresholds
from shoal.plotting._collection import draw_collection
from shoal.plotting._curves import draw_lines, draw_trade_off
from shoal.plotting._demo import draw_demo
from shoal.plotting._density import draw_density, draw_density_clusters
from shoal.plotting._maps import draw_map
from shoal.plotting._means import draw_bars, draw_heat_map
from shoal.plotting._picture import CHART_STYLE, Picture, chart_library, page_scripts
from shoal.plotting._plan import draw_device_plan, draw_plan, draw_shuffled_plan
from shoal.plotting._planes import PlaneAxis, PlaneRows, draw_plane, plane_rows
from shoal.plotting._points import draw_perturbation_area, draw_scatter
from shoal.plotting._profile_page import profile_page
from shoal.plotting._profiles import draw_profile
from shoal.plotting._releases import draw_release
from shoal.plotting._selection import draw_k_distance, draw_n_clusters
from shoal.plotting._shapes import ShapesAxis, draw_shapes, shapes_rows
from shoal.plotting._trees import draw_cluster_tree

__all__ = [
    "CHART_STYLE",
    "Picture",
    "PlaneAxis",
    "PlaneRows",
    "ShapesAxis",
    "chart_library",
    "draw_audit",
    "draw_bars",
    "draw_cells",
    "draw_cluster_tree",
    "draw_collection",
    "draw_demo",
    "draw_density",
    "draw_density_clusters",
    "draw_device_plan",
    "draw_heat_map",
    "draw_k_distance",
    "draw_lines",
    "draw_map",
    "draw_n_clusters",
    "draw_perturbation_area",
    "draw_plan",
    "draw_plane",
    "draw_profile",
    "draw_rates",
    "draw_release",
    "draw_roc",
    "draw_scatter",
    "draw_shapes",
    "draw_shuffled_plan",
    "draw_thresholds",
    "draw_trade_off",
    "page_scripts",
    "plane_rows",
    "profile_page",
    "shapes_rows",
]
