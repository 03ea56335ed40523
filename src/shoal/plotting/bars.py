"""Bars with error bars: a measure of each mechanism, on one or several data sets."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from shoal.plotting._interval import interval
from shoal.plotting._layout import (
    LETTER,
    check_ends,
    check_logarithm,
    check_reference,
    label,
    legend_below,
    reference_lines,
    words,
)
from shoal.plotting._save import check_path, save
from shoal.plotting._tidy import Columns, distinct, finite, read_columns
from shoal.plotting.style import Look, looks, panels

__all__ = ["draw_bars"]

TOGETHER = 0.82  # of the place of a set that its bars fill
ALONE = 0.8  # of that place, for bars with their names below them
WIDEST = 16.0  # inches


def draw_bars(
    path: Path,
    records: Any,
    *,
    value: str,
    group: str = "mechanism",
    sets: str | None = None,
    low: str | None = None,
    high: str | None = None,
    published: str | None = None,
    title: str | None = None,
    value_label: str | None = None,
    log_y: bool = False,
    reference: Mapping[str, float] | None = None,
) -> Path:
    """Draw means over repeats as bars, with error bars of 95 %.

    Parameters
    ----------
    path : Path
        PNG, PDF or SVG file to write.
    records : list of dict, dict of columns, or data frame
        One row a measurement; rows of one group and set are repeats. Rows without a finite value
        are left out.
    value : str
        Column of numbers.
    group : str, default="mechanism"
        Column with one bar a value, each in the colour of its mechanism and with its hatch.
    sets : str, default=None
        Column by which bars stand together, such as the data set. None = all in one place.
    low, high : str, default=None
        Columns with the ends of the error bars; None = 95 % for the mean by Student's t, and none
        where there is a single repeat.
    published : str, default=None
        Column of published values, drawn as white diamonds on the bars.
    title, value_label : str, default=None
        Words; None = what is known of the column.
    log_y : bool, default=False
        Whether values have a logarithmic axis.
    reference : mapping of str to float, default=None
        Level lines, by what they are.

    Returns
    -------
    path : Path
        The file written.

    Raises
    ------
    ParameterError
        If a column is missing or holds no numbers, or the file cannot be written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> rows = {"mechanism": ["Laplace", "Laplace", "Piecewise"], "ami": [0.4, 0.5, 0.6]}
    >>> draw_bars(Path(mkdtemp()) / "ami.pdf", rows, value="ami").name
    'ami.pdf'
    """
    check_path(path)
    check_ends(low, high)
    numbers = {"value": value, "low": low, "high": high, "published": published}
    read = read_columns(records, keys={"group": group, "sets": sets}, numbers=numbers)
    rows = finite(read, value)
    if log_y:
        check_logarithm("log_y", value, rows[value])
    lines = check_reference(reference)
    style = looks(distinct(rows[group]))
    places = distinct(rows[sets]) if sets else [None]
    thick, middle = TOGETHER / len(style), (len(style) - 1) / 2
    below = [words(name) for name in (places if sets else style)]
    # Names stand level where there is room for them.
    level = 1.1 * LETTER * max(map(len, below)) * len(below) + 1.4
    width = min(max(4.8, 0.3 * len(style) * len(places) + 0.5 * len(places) + 1.4, level), WIDEST)
    with panels(1, width=width, height=4.2) as (drawing, (axes,)):
        entries: dict[str, Any] = {}
        for number, (name, look) in enumerate(style.items()):
            aside = (number - middle) * thick
            for place, one in enumerate(places):
                some = rows[group] == name
                if sets:
                    some &= rows[sets] == one
                if some.any():
                    ends = interval(rows, some, value=value, low=low, high=high)
                    bar = _bar(axes, place + aside, ends, thick if sets else ALONE * thick, look)
                    entries.setdefault(words(name), bar)
                    if published is not None:
                        _published(axes, rows, some, place + aside, published)
        for name, line in reference_lines(axes, lines).items():
            entries[name] = line
        marks = np.arange(len(below)) if sets else thick * (np.arange(len(below)) - middle)
        _names(axes, marks, below, slant=level > WIDEST)
        if log_y:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
        elif axes.get_ylim()[0] < 0:
            axes.axhline(0.0, color="0.4", linewidth=0.8)
        axes.set_ylabel(label(value, value_label))
        if title is not None:
            axes.set_title(words(title))
        if published is not None:
            diamond = {"facecolors": "white", "edgecolors": "black", "linewidths": 1.0}
            entries["published"] = axes.scatter([], [], s=26, marker="D", **diamond)
        if sets is None:  # names stand below the bars
            entries = {name: entries[name] for name in entries if name not in map(words, style)}
        legend_below(drawing, entries)
        return save(drawing, path)


def _bar(axes: Any, at: float, ends: Any, thick: float, look: Look) -> Any:
    bars = axes.bar(
        at, ends.mean, thick, color=look.colour, hatch=look.hatch, edgecolor="white", linewidth=0.5
    )
    if ends.high > ends.low:
        reach = [[max(ends.mean - ends.low, 0.0)], [max(ends.high - ends.mean, 0.0)]]
        axes.errorbar(at, ends.mean, reach, fmt="none", ecolor="black", elinewidth=1, capsize=2.5)
    return bars


def _published(axes: Any, rows: Columns, some: Any, at: float, published: str) -> None:
    printed = np.unique(rows[published][some & np.isfinite(rows[published])])
    diamond = {"facecolors": "white", "edgecolors": "black", "linewidths": 1.0}
    axes.scatter(np.full(len(printed), at), printed, s=26, marker="D", zorder=3, **diamond)


def _names(axes: Any, marks: Any, below: list[str], *, slant: bool) -> None:
    slanted = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if slant else {}
    axes.set_xticks(marks, below, **slanted)
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="y", color="0.92", linewidth=0.8)
    axes.set_axisbelow(True)
