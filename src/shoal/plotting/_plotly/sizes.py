"""Where panels lie: shares of the picture, from what axes, titles and legends need in pixels."""

import math
import textwrap
from typing import NamedTuple

from shoal.plotting.chart import Axis, Chart, Panel
from shoal.plotting.marks import Points

__all__ = ["PIXELS", "POINT", "Frame", "Margins", "Share", "arrange", "entry_width"]

PIXELS = 96  # of an inch
POINT = PIXELS / 72  # pixels
PAGE = 900  # pixels, in which everything must fit
LETTER = 6.6  # pixels, in a label
TITLE_LETTER = 6.9  # pixels, in a title
LINE = 18  # pixels of a line of words
NUMBERS = 34  # pixels that numbers beside an axis take
BAR = 92  # pixels of a scale of colors with its numbers and label
SECOND = 60  # pixels of a second axis
GAP = 16
LEAST = 0.2  # of the width that panels keep, however long the names beside them


class Share(NamedTuple):
    """Part of the picture, from 0 to 1, left to right or bottom to top."""

    low: float
    high: float


class Margins(NamedTuple):
    """Pixels around the panels."""

    left: float
    right: float
    top: float
    bottom: float


class Frame(NamedTuple):
    """Panels in a picture.

    Parameters
    ----------
    width, height : float
        Pixels of the area that the panels share.
    margins : Margins
        Around it.
    under : float
        Pixels between the panels and their legend.
    across, up : list of Share
        Of each panel.
    titles : list of str
        Of each panel, in lines that fit it.
    """

    width: float
    height: float
    margins: Margins
    under: float
    across: list[Share]
    up: list[Share]
    titles: list[str]


def arrange(chart: Chart) -> Frame:
    """Lay out the panels of a chart at the width that it has on paper, or of a page at most.

    Parameters
    ----------
    chart : Chart
        What to draw.

    Returns
    -------
    frame : Frame
        For a page that is wider or narrower, all widths grow or shrink alike.
    """
    grid = [chart.panels[start :: chart.columns] for start in range(chart.columns)]
    left = [
        0.0 if chart.shared and column else max(_beside(panel) for panel in panels)
        for column, panels in enumerate(grid)
    ]
    alone = [places for places in chart.scales().values() if len(places) < len(chart.panels)]
    barred = {place for places in alone for place in places}
    after = [_after(panel, barred=at in barred) for at, panel in enumerate(chart.panels)]
    right = [max(after[column :: chart.columns]) for column in range(chart.columns)]
    bar = BAR if len(alone) < len(chart.scales()) else 0.0
    inner = [right[at] + left[at + 1] + GAP for at in range(chart.columns - 1)]
    sides = left[0] + 8, right[-1] + bar + 12
    width = max(_page(chart) - sum(sides), 120.0)
    across = _columns(width, inner)
    letters = int((across[0].high - across[0].low) * width / TITLE_LETTER)
    titles = [textwrap.fill(panel.title, max(letters, 12)) for panel in chart.panels]
    under = max(_under(panel) for panel in chart.panels) + 6
    lines = max(title.count("\n") + bool(title) for title in titles)
    # The buttons of Plotly stand at the top.
    above = 30.0 + LINE * lines + (12 if chart.title else 0)
    margins = Margins(*sides, above, under + _legend(chart))
    height = max(chart.height * PIXELS - above - margins.bottom, 80.0)
    up = _rows(chart, height, LINE * lines)
    places = range(len(chart.panels))
    return Frame(
        width,
        height,
        margins,
        under,
        [across[place % chart.columns] for place in places],
        [up[place // chart.columns] for place in places],
        titles,
    )


def entry_width(names: list[str], *, dots: bool) -> float:
    """Return the pixels of the widest entry of a legend."""
    return max(map(len, names)) * LETTER + (28 if dots else 48)


def _page(chart: Chart) -> float:
    return min(chart.width * PIXELS, PAGE)


def _columns(width: float, gaps: list[float]) -> list[Share]:
    number = len(gaps) + 1
    # Long names may leave little room; then they lie below their panel's neighbor.
    squeeze = min(1.0, (1 - LEAST) * width / sum(gaps)) if gaps else 1.0
    each = (width - squeeze * sum(gaps)) / number
    starts = [at * each + squeeze * sum(gaps[:at]) for at in range(number)]
    return [Share(start / width, min((start + each) / width, 1.0)) for start in starts]


def _rows(chart: Chart, height: float, titles: float) -> list[Share]:
    gap = titles + GAP + (0 if chart.shared else _under(chart.panels[0]))
    each = (height - gap * (chart.rows - 1)) / chart.rows
    tops = [height - row * (each + gap) for row in range(chart.rows)]
    return [Share(max(top - each, 0.0) / height, top / height) for top in tops]


def _beside(panel: Panel) -> float:
    """Return the pixels of numbers, names and label on the left of a panel."""
    if panel.z is not None or panel.frame == "none":
        return 8.0
    return _numbers(panel.y) + (LINE + 6 if panel.y.label else 0)


def _after(panel: Panel, *, barred: bool) -> float:
    """Return the pixels of a scale of colors and a second axis on the right of a panel."""
    return (BAR if barred else 0.0) + (SECOND if panel.second is not None else 0.0)


def _numbers(axis: Axis) -> float:
    if axis.names is None:
        return NUMBERS if axis.ticks != () else 6.0
    longest = max((len(line) for name in axis.names for line in name.split("\n")), default=0)
    return min(longest * (5.6 if axis.small else LETTER) + 12, 260.0)


def _under(panel: Panel) -> float:
    if panel.z is not None or panel.frame == "none":
        return 8.0
    axis = panel.x
    numbers = 0.0 if axis.ticks == () else 22.0
    if axis.slant and axis.names:
        numbers = 0.5 * LETTER * max(map(len, axis.names)) + 20
    return numbers + (LINE * (1 + axis.label.count("\n")) + 4 if axis.label else 0)


def _legend(chart: Chart) -> float:
    """Return the pixels that legends take."""
    if chart.legend == "panels":
        return 22.0 * max(len(chart.entries(panel)) for panel in chart.panels) + 10
    entries = chart.entries()
    if not entries:
        return 0.0
    dots = all(isinstance(mark, Points) for mark in entries.values())
    fitting = max(1, int((_page(chart) - 60) // entry_width(list(entries), dots=dots)))
    return 21.0 * math.ceil(len(entries) / fitting) + 8
