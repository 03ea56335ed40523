"""Charts drawn by Plotly in a browser."""

from shoal.plotting._plotly.page import page
from shoal.plotting._plotly.render import as_json

__all__ = ["as_json", "page"]
