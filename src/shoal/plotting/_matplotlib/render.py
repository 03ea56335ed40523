"""A chart as a file of pixels or of vectors."""

import io
import textwrap
from typing import Any

from shoal.plotting._matplotlib.frame import frame_panel, plain
from shoal.plotting._matplotlib.legends import legend_below_all, legend_below_one
from shoal.plotting._matplotlib.marks import draw_mark
from shoal.plotting.chart import Chart
from shoal.plotting.style import panels

__all__ = ["METADATA", "render"]

# The time of drawing is left out, so that the same figure is the same file.
METADATA: dict[str, dict[str, None]] = {
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}
LETTER = 0.078  # inches of a letter in a title


def render(chart: Chart, ending: str) -> bytes:
    """Draw a chart.

    Parameters
    ----------
    chart : Chart
        What to draw.
    ending : str
        ".png", ".svg" or ".pdf".

    Returns
    -------
    content : bytes
        Of the file; the same for the same chart.
    """
    more: dict[str, Any] = {"sharex": True, "sharey": True} if chart.shared else {}
    if chart.solid:
        more["subplot_kw"] = {"projection": "3d"}
    size = {"width": chart.width, "height": chart.height}
    content = io.BytesIO()
    with panels(chart.columns, rows=chart.rows, **size, **more) as (drawing, every):
        _draw(drawing, every, chart)
        drawing.savefig(content, format=ending[1:], metadata=METADATA[ending])
    return content.getvalue()


def _draw(drawing: Any, every: Any, chart: Chart) -> None:
    letters = int(chart.width / chart.columns / LETTER)
    listed: dict[str, Any] = {}
    entries = chart.entries()
    for place, (axes, panel) in enumerate(zip(every, chart.panels, strict=False)):
        second = axes.twinx() if panel.second is not None else None
        own = chart.entries(panel)
        own_listed: dict[str, Any] = {}
        for number, mark in enumerate(panel.marks):
            artist = draw_mark(axes, second, mark, order=2 + number / 1000)
            if entries.get(mark.name) is mark:
                listed[mark.name] = artist
            if own.get(mark.name) is mark:
                own_listed[mark.name] = artist
        frame_panel(axes, second, panel, chart, place)
        if panel.title:
            axes.set_title(plain(textwrap.fill(panel.title, letters)), loc="left")
        if chart.legend == "panels":
            legend_below_one(axes, own, own_listed, panel, chart.width / chart.columns)
    for axes in every[len(chart.panels) :]:
        axes.set_axis_off()
    for mark in chart.key:
        listed[mark.name] = draw_mark(every[0], None, mark, order=1)
    _color_bars(drawing, every, chart)
    if chart.title:
        drawing.suptitle(plain(chart.title), fontsize="large", x=0.02, ha="left")
    if chart.legend == "chart":
        legend_below_all(drawing, entries, listed)


def _color_bars(drawing: Any, every: Any, chart: Chart) -> None:
    for scale, places in chart.scales().items():
        image = every[places[0]].images[0]
        beside = list(every) if len(places) == len(chart.panels) else [every[at] for at in places]
        drawing.colorbar(image, ax=beside, label=plain(scale.label), pad=0.02)
