"""Curves with bands: a measure against epsilon, one curve a mechanism, one panel a clusterer."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.plotting._interval import interval
from shoal.plotting._layout import (
    check_ends,
    check_logarithm,
    check_reference,
    heading,
    label,
    legend_below,
    lowest_panels,
    reference_lines,
    shape,
    words,
)
from shoal.plotting._save import check_path, save
from shoal.plotting._tidy import Columns, distinct, finite, read_columns
from shoal.plotting.style import Look, looks
from shoal.plotting.style import panels as open_panels

__all__ = ["draw_lines"]

LARGE = 75  # area of a published marker: ours fits inside
CROWDED = 0.06  # of a logarithmic axis, between two numbers that can both be read
FEW = 12  # values of x that are all written below the axis


def draw_lines(
    path: Path,
    records: Any,
    *,
    x: str,
    y: str,
    group: str = "mechanism",
    panels: str | None = None,
    low: str | None = None,
    high: str | None = None,
    published: str | None = None,
    title: str | None = None,
    x_label: str | None = None,
    y_label: str | None = None,
    log_x: bool = False,
    log_y: bool = False,
    reference: Mapping[str, float] | None = None,
) -> Path:
    """Draw means over repeats as curves, with bands of 95 %.

    Parameters
    ----------
    path : Path
        PNG, PDF or SVG file to write.
    records : list of dict, dict of columns, or data frame
        One row a measurement; rows of one group, panel and x are repeats. Rows without a finite
        ``y`` are left out. Rows with infinite ``x`` (epsilon without privacy) become a level line.
    x, y : str
        Columns of numbers.
    group : str, default="mechanism"
        Column with one curve a value, each in the colour of its mechanism.
    panels : str, default=None
        Column with one panel a value; all share their axes. None = one panel.
    low, high : str, default=None
        Columns with the ends of the band; None = 95 % for the mean by Student's t, and no band
        where there is a single repeat.
    published : str, default=None
        Column of published values, drawn as hollow markers.
    title, x_label, y_label : str, default=None
        Words; None = what is known of the columns.
    log_x, log_y : bool, default=False
        Whether the axis is logarithmic.
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
    >>> rows = [
    ...     {"mechanism": "Laplace", "epsilon": at, "ami": at / (at + 1) + run / 50}
    ...     for at in (0.5, 1, 2, 4)
    ...     for run in range(5)
    ... ]
    >>> draw_lines(Path(mkdtemp()) / "ami.svg", rows, x="epsilon", y="ami").name
    'ami.svg'
    """
    check_path(path)
    check_ends(low, high)
    rows = read_columns(
        records,
        keys={"group": group, "panels": panels},
        numbers={"x": x, "y": y, "low": low, "high": high, "published": published},
    )
    rows = _shown(rows, x, y, published)
    if log_x:
        check_logarithm("log_x", x, rows[x])
    if log_y:
        check_logarithm("log_y", y, rows[y])
    lines = check_reference(reference)
    parts = distinct(rows[panels]) if panels else [None]
    style = looks(distinct(rows[group]))
    across = shape(len(parts))
    size = {"width": max(3.3 * across.columns, 5.6), "height": 3.0 * across.rows + 1.1}
    with open_panels(across.columns, rows=across.rows, sharex=True, sharey=True, **size) as (
        drawing,
        every,
    ):
        entries: dict[str, Any] = {}
        for axes, part in zip(every, parts, strict=False):
            inside = np.full(len(rows[x]), True) if panels is None else rows[panels] == part
            for name, look in style.items():
                some = inside & (rows[group] == name)
                curve = _curve(axes, rows, some, look, x=x, y=y, low=low, high=high)
                if curve is not None:
                    entries.setdefault(words(name), curve)
                _level(axes, rows, some, look, x=x, y=y)
                if published is not None:
                    _published(axes, rows, some, look, x=x, published=published)
            for name, line in reference_lines(axes, lines).items():
                entries.setdefault(name, line)
            if panels is not None:
                axes.set_title(heading(panels, part))
        _axis(every, rows[x], log_x, log_y)
        for axes in lowest_panels(every, len(parts), across.columns):
            axes.set_xlabel(label(x, x_label))
        for axes in every[:: across.columns]:
            axes.set_ylabel(label(y, y_label))
        if title is not None:
            drawing.suptitle(words(title), fontsize="large", x=0.02, ha="left")
        entries |= _grey_entries(every[0], rows, x, published)
        legend_below(drawing, entries)
        return save(drawing, path)


def _shown(rows: Columns, x: str, y: str, published: str | None) -> Columns:
    """Keep rows with something to draw: a measurement or a published value."""
    some = np.isfinite(rows[y])
    if published is not None:
        some |= np.isfinite(rows[published])
    some &= ~np.isnan(rows[x])
    finite({y: rows[y][some]}, y)
    return {name: values[some] for name, values in rows.items()}


def _curve(
    axes: Any,
    rows: Columns,
    some: npt.NDArray[np.bool_],
    look: Look,
    *,
    x: str,
    y: str,
    low: str | None,
    high: str | None,
) -> Any:
    measured = some & np.isfinite(rows[x]) & np.isfinite(rows[y])
    if not measured.any():
        return None
    at = np.unique(rows[x][measured])
    found = [interval(rows, measured & (rows[x] == one), value=y, low=low, high=high) for one in at]
    mean, lower, upper = np.array(found).T
    if (upper > lower).any():
        axes.fill_between(at, lower, upper, color=look.colour, alpha=0.18, linewidth=0)
    (line,) = axes.plot(
        at, mean, color=look.colour, linestyle=look.dash, marker=look.marker, markersize=4.5
    )
    return line


def _level(
    axes: Any, rows: Columns, some: npt.NDArray[np.bool_], look: Look, *, x: str, y: str
) -> None:
    without = some & np.isposinf(rows[x]) & np.isfinite(rows[y])
    if without.any():
        axes.axhline(rows[y][without].mean(), color=look.colour, linestyle=(0, (1, 3)), linewidth=1)


def _published(
    axes: Any, rows: Columns, some: npt.NDArray[np.bool_], look: Look, *, x: str, published: str
) -> None:
    printed = some & np.isfinite(rows[x]) & np.isfinite(rows[published])
    # Repeats hold the same published value: one marker is enough.
    spots = np.unique(np.column_stack([rows[x][printed], rows[published][printed]]), axis=0)
    if len(spots):
        hollow = {"facecolors": "none", "edgecolors": look.colour, "linewidths": 1.2}
        axes.scatter(*spots.T, s=LARGE, marker=look.marker, zorder=3, **hollow)


def _grey_entries(axes: Any, rows: Columns, x: str, published: str | None) -> dict[str, Any]:
    """Explain what every colour has: hollow markers and level lines."""
    entries: dict[str, Any] = {}
    if published is not None:
        hollow = {"facecolors": "none", "edgecolors": "0.3", "linewidths": 1.2}
        entries["published"] = axes.scatter([], [], s=LARGE, marker="o", **hollow)
    if np.isposinf(rows[x]).any():
        name = "without privacy" if x == "epsilon" else f"{words(x)} = ∞"
        (entries[name],) = axes.plot([], [], color="0.3", linestyle=(0, (1, 3)), linewidth=1)
    return entries


def _axis(every: Any, at: npt.NDArray[Any], log_x: bool, log_y: bool) -> None:
    marks = np.unique(at[np.isfinite(at)])
    for axes in every:
        axes.grid(axis="y", color="0.92", linewidth=0.8)
        axes.set_axisbelow(True)
        if log_y:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
        if log_x:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter("{x:g}")
            if 0 < len(marks) <= FEW:
                axes.set_xticks(marks, _apart(marks), fontsize=8)
                axes.xaxis.minorticks_off()


def _apart(marks: npt.NDArray[np.float64]) -> list[str]:
    """Write numbers below a logarithmic axis, but none too near to the one before."""
    places = np.log(marks) / max(float(np.log(marks[-1] / marks[0])), 1e-9)
    shown: list[str] = []
    last = -np.inf
    for mark, place in zip(marks, places, strict=True):
        fits = place - last >= CROWDED
        shown.append(words(float(mark)) if fits else "")
        last = place if fits else last
    return shown
