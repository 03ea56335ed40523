"""A chart as one page that needs nothing else."""

import html

from shoal._optional import require
from shoal.plotting._plotly.render import as_json
from shoal.plotting._plotly.sizes import PIXELS
from shoal.plotting.chart import Chart

__all__ = ["page"]

WIDER = 1.25  # than on paper, at most: panels that are much wider hide what is steep

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>body {{ margin: 12px; font-family: sans-serif }} \
#chart {{ width: 100%; max-width: {width}px; height: {height}px }}</style>
<script>{library}</script>
</head>
<body>
<div id="chart"></div>
<script>
const chart = {chart};
Plotly.newPlot("chart", chart.data, chart.layout, {{responsive: true, displaylogo: false}});
</script>
</body>
</html>
"""


def page(chart: Chart) -> str:
    """Write a chart as a page with Plotly in it.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Returns
    -------
    page : str
        HTML that opens without a network.
    """
    library = require("plotly.offline", extra="plot").get_plotlyjs()
    headings = [chart.title, *(panel.title for panel in chart.panels)]
    return PAGE.format(
        title=html.escape(next((heading for heading in headings if heading), "shoal")),
        width=round(chart.width * PIXELS * WIDER),
        height=round(chart.height * PIXELS),
        library=library,
        chart=as_json(chart).replace("</", "<\\/"),  # a name must not end the script
    )
