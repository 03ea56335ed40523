"""Means in bars, or in the cells of a map, with published figures beside ours."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from shoal._numbers import readable
from shoal.exceptions import ParameterError
from shoal.plotting._canvas import (
    Axis,
    Canvas,
    Key,
    Rows,
    around,
    columns_for,
    panel,
    table,
)
from shoal.plotting._data import (
    Columns,
    axis_title,
    check_ends,
    check_logarithm,
    check_reference,
    distinct,
    finite,
    interval,
    panel_title,
    read_columns,
    text,
)
from shoal.plotting._picture import Picture, alt
from shoal.plotting._theme import AXES, DARK_GRAY, GROWING, HOLLOW_DIAMOND, SHADED

__all__ = ["draw_bars", "draw_heat_map"]

BAR, GAP = 17, 22  # pixels of a bar, and between sets of bars
NARROWEST, WIDEST, HEIGHT = 300, 1100, 230
OPACITIES = (1.0, 0.35, 0.65, 0.15)  # of the values of the column shade
CELL_WIDTH, CELL_HEIGHT = 38, 24  # pixels, enough for a number
WIDEST_MAPS = 1150  # pixels of maps side by side
SMALL = 10.0  # numbers below it have two digits after the point
DARK = 0.55  # of the scale: words in cells below it are white


class _Names(NamedTuple):
    """Columns by what they are for."""

    value: str
    group: str
    sets: str | None
    shade: str | None
    low: str | None
    high: str | None
    published: str | None


def draw_bars(
    data: Any,
    *,
    value: str,
    group: str = "mechanism",
    sets: str | None = None,
    shade: str | None = None,
    low: str | None = None,
    high: str | None = None,
    published: str | None = None,
    title: str | None = None,
    value_label: str | None = None,
    log_y: bool = False,
    reference: Mapping[str, float] | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Picture:
    """Draw means over repeats as bars, with 95% error bars.

    Parameters
    ----------
    data : list of dict, dict of columns, or data frame
        One row for each measurement; rows with the same group and set are repeats. Rows without a
        finite value are left out.
    value : str
        Column of numbers.
    group : str, default="mechanism"
        Column with one bar for each value, in the color and with the marker of its mechanism.
    sets : str, default=None
        Column by which bars are grouped along the axis, such as the data set. None makes one group.
    shade : str, default=None
        Column that distinguishes bars of the same group, such as the version: the first value has
        solid bars, the others lighter ones.
    low, high : str, default=None
        Columns with the ends of the error bars; None takes the 95% confidence interval of the mean
        by Student's t, and no error bar for a single repeat.
    published : str, default=None
        Column of published values, drawn as white diamonds on the bars.
    title, value_label : str, default=None
        Texts; None takes the usual description of the column, or its name.
    log_y : bool, default=False
        Whether the axis of values is logarithmic.
    reference : mapping of str to float, default=None
        Horizontal reference lines: value by label.
    path : path, default=None
        File to write as well: PNG, SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture
        The chart.

    Raises
    ------
    ParameterError
        If a column is missing or is not numeric, or the file cannot be written.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> rows = {"mechanism": ["Laplace", "Laplace", "Piecewise"], "ami": [0.4, 0.5, 0.6]}
    >>> draw_bars(rows, value="ami")
    Picture(panels=1, records=False)
    """
    canvas = Canvas(path, title=title)
    check_ends(low, high)
    numbers = {"value": value, "low": low, "high": high, "published": published}
    keys = {"group": group, "sets": sets, "shade": shade}
    columns = finite(read_columns(data, keys=keys, numbers=numbers), value)
    if log_y:
        check_logarithm("log_y", value, columns[value])
    levels = check_reference(reference)
    names = _Names(value, group, sets, shade, low, high, published)
    rows, spots = _bars(columns, names)
    key = Key.of_groups(distinct(columns[group]), shown=any((sets, shade, published, levels)))
    for index, version in enumerate(distinct(columns[shade]) if shade else []):
        key.add(text(version), DARK_GRAY, SHADED[index % len(SHADED)])
    if published:
        key.add("published", DARK_GRAY, HOLLOW_DIAMOND)
    key.add_levels(levels)
    ends = [row[end] for row in rows for end in ("y", "low", "high")]
    ends += [*(row["y"] for row in spots), *levels.values()]
    title_of = axis_title(value, value_label)
    y = Axis(title_of, around(ends, log=log_y, zero=not log_y), log=log_y, grid=True)
    places = list(dict.fromkeys(row["set"] for row in rows))
    bars = sorted({row["bar"] for row in rows})
    letters = sum(7 * len(name) + 14 for name in places)
    width = min(max(len(places) * (len(bars) * BAR + GAP), NARROWEST, letters), WIDEST)
    axis = alt.Axis(
        title=AXES.get(sets or ""),
        ticks=False,
        labelPadding=6,
        labelAngle=-35 if letters > width else 0,
        labelOverlap=False,
    )
    offset = alt.XOffset("bar:O", scale=alt.Scale(domain=bars, paddingInner=0.12))
    x = alt.X("set:N", axis=axis, scale=alt.Scale(domain=places, paddingInner=0.18))
    layers = _bar_layers(partial(canvas.layer, x=x, y=y), rows, spots, offset=offset, key=key, y=y)
    drawn = panel(*layers, *canvas.levels(levels, y, key), width=width, height=HEIGHT)
    # Names that do not turn need their width on a narrow screen too.
    least = max(12 * len(places) * len(bars), letters if letters <= width else 0)
    return canvas.finish([drawn], key=key, least=least)


def _bars(columns: Columns, names: _Names) -> tuple[Rows, Rows]:
    """Return one row for each bar, and one for each published value."""
    rows: Rows = []
    spots: Rows = []
    groups = distinct(columns[names.group])
    versions = distinct(columns[names.shade]) if names.shade else [None]
    every = np.full(len(columns[names.value]), True)
    for place in distinct(columns[names.sets]) if names.sets else [None]:
        here = columns[names.sets] == place if names.sets else every
        for index, group in enumerate(groups):
            for turn, version in enumerate(versions):
                some = here & (columns[names.group] == group)
                if names.shade:
                    some = some & (columns[names.shade] == version)
                if not some.any():
                    continue
                # Without sets, each group stands alone above its name.
                where = {
                    "set": text(place if names.sets else group),
                    "bar": index * len(versions) + turn if names.sets else turn,
                    "name": text(group),
                    "version": text(version),
                    "shade": OPACITIES[turn % len(OPACITIES)],
                }
                mean = interval(columns, some, value=names.value, low=names.low, high=names.high)
                rows += table(**where, y=mean.mean, low=mean.low, high=mean.high)
                if names.published:
                    printed = columns[names.published][some & np.isfinite(columns[names.published])]
                    spots += [row for y in np.unique(printed) for row in table(**where, y=y)]
    return rows, spots


def _bar_layers(
    draw: Callable[..., Any], rows: Rows, spots: Rows, *, offset: Any, key: Key, y: Axis
) -> list[Any]:
    layer = partial(draw, channels={"xOffset": offset})
    base = y.domain[0] if y.log else max(y.domain[0], 0.0)
    told = {"name": " ", "set": " ", "version": " ", "y": "mean", "low": "from", "high": "to"}
    if len({row["version"] for row in rows}) == 1:
        del told["version"]
    bars = [row | {"y2": base} for row in rows]
    shades = alt.FillOpacity("shade:Q", scale=None, legend=None)
    layers = [
        draw(bars, "bar", key=key, told=told, channels={"xOffset": offset, "fillOpacity": shades}),
        layer(bars, "bar", key=key, filled=False, strokeWidth=1),
    ]
    ends = [row | {"y": row["low"], "y2": row["high"]} for row in rows if row["high"] > row["low"]]
    if ends:
        layers.append(layer(y.clip(ends), "rule", strokeWidth=1.4, color="#262626"))
    # Markers at the feet of bars tell groups apart in gray.
    feet = [row | {"y": base} for row in rows]
    look = {"size": 30, "opacity": 1, "stroke": "#ffffff", "strokeWidth": 0.9, "yOffset": -8}
    layers.append(layer(feet, "point", key=key, filled=True, **look))
    if spots:
        told = {"name": "published", "y": " "}
        look = {"shape": "diamond", "size": 60, "fill": "#ffffff", "stroke": "#000000"}
        layers.append(layer(spots, "point", told=told, opacity=1, **look))
    return layers


def draw_heat_map(
    data: Any,
    *,
    x: str,
    y: str,
    value: str,
    panels: str | None = None,
    published: str | None = None,
    limits: tuple[float, float] | None = None,
    title: str | None = None,
    x_label: str | None = None,
    y_label: str | None = None,
    value_label: str | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Picture:
    """Draw means as colored cells with numbers; all panels share one scale.

    Parameters
    ----------
    data : list of dict, dict of columns, or data frame
        One row for each measurement; those of the same cell are averaged. A cell without a finite
        number stays white.
    x, y : str
        Columns of `data` whose values become the columns and rows of the map.
    value : str
        Column of numbers.
    panels : str, default=None
        Column with one panel for each value, such as the mechanism. None draws one panel.
    published : str, default=None
        Column of published values, written small below those of `value`.
    limits : tuple of float, default=None
        Ends of the color scale; None takes the smallest and the largest mean.
    title, x_label, y_label, value_label : str, default=None
        Texts; None takes the usual description of each column, or its name.
    path : path, default=None
        File to write as well: PNG, SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture
        The chart.

    Raises
    ------
    ParameterError
        If a column is missing or is not numeric, or the file cannot be written.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> cells = {"epsilon": [1, 1, 2, 2], "columns": [2, 3, 2, 3], "ami": [0.2, 0.1, 0.5, 0.3]}
    >>> draw_heat_map(cells, x="columns", y="epsilon", value="ami")
    Picture(panels=1, records=False)
    """
    canvas = Canvas(path, title=title)
    columns = read_columns(
        data,
        keys={"x": x, "y": y, "panels": panels},
        numbers={"value": value, "published": published},
    )
    columns = finite(columns, value)
    parts = distinct(columns[panels]) if panels else [None]
    everywhere = np.full(len(columns[value]), True)
    cells = [
        _cells(
            columns,
            columns[panels] == part if panels else everywhere,
            x=x,
            y=y,
            value=value,
            published=published,
        )
        for part in parts
    ]
    lowest, highest = _limits(limits, [row["value"] for rows in cells for row in rows])
    (acrosses, downs) = ([text(one) for one in distinct(columns[name])] for name in (x, y))
    width = CELL_WIDTH * len(acrosses)
    height = (CELL_HEIGHT + (12 if published else 0)) * len(downs)
    words = {"x": axis_title(x, x_label), "y": axis_title(y, y_label)}
    words["value"] = axis_title(value, value_label)
    axes: dict[str, Any] = {"ticks": False, "domain": False}
    layer = partial(
        canvas.layer,
        x=alt.X("x:N", sort=acrosses, axis=alt.Axis(title=words["x"], labelAngle=0, **axes)),
        y=alt.Y("y:N", sort=downs, axis=alt.Axis(title=words["y"], **axes)),
    )
    steps = np.linspace(lowest, highest, len(GROWING)).tolist()
    color = alt.Color(
        "value:Q",
        scale=alt.Scale(domain=steps, range=list(GROWING), clamp=True),
        legend=alt.Legend(
            title=words["value"] + (" (small: published)" if published else ""),
            gradientLength=180,
            gradientThickness=12,
        ),
    )
    middle = lowest + DARK * (highest - lowest)
    ink = alt.condition(f"datum.value < {middle:g}", alt.value("#ffffff"), alt.value("#000000"))
    told = words | ({"published": "published"} if published else {})
    drawn = []
    for part, rows in zip(parts, cells, strict=True):
        layers = [
            layer(
                rows, "rect", told=told, channels={"color": color}, stroke="#ffffff", strokeWidth=1
            ),
            layer(
                [row | {"words": row["short"]} for row in rows],
                "text",
                channels={"color": ink},
                fontSize=11,
                dy=-6 if published else 0,
            ),
        ]
        if published:
            small = [row | {"words": row["printed"]} for row in rows]
            look: dict[str, Any] = {"fontSize": 9, "dy": 8, "fontStyle": "italic"}
            layers.append(layer(small, "text", channels={"color": ink}, **look))
        heading = "" if panels is None else panel_title(panels, part)
        drawn.append(panel(*layers, width=width, height=height, title=heading))
    across = columns_for(len(parts), most=int(min(max(WIDEST_MAPS // (width + 70), 1), 4)))
    return canvas.finish(drawn, columns=across, key=Key(), least=width)


def _cells(
    columns: Columns, inside: Any, *, x: str, y: str, value: str, published: str | None
) -> Rows:
    """Return one row for each cell of a map that holds a number."""
    rows: Rows = []
    for down in distinct(columns[y]):
        for across in distinct(columns[x]):
            cell = inside & (columns[y] == down) & (columns[x] == across)
            if not cell.any():
                continue
            mean = float(columns[value][cell].mean())
            row = table(x=text(across), y=text(down), value=mean, short=_short(mean))[0]
            if published:
                printed = columns[published][cell & np.isfinite(columns[published])]
                shown = float(printed.mean()) if len(printed) else None
                row |= {"published": shown, "printed": "" if shown is None else _short(shown)}
            rows.append(row)
    return rows


def _limits(limits: Any, means: list[float]) -> tuple[float, float]:
    if limits is None:
        lowest, highest = min(means), max(means)
        # One value alone has no scale.
        return (lowest, highest) if highest > lowest else (lowest - 0.5, lowest + 0.5)
    try:
        lowest, highest = (float(end) for end in limits)
    except (TypeError, ValueError):
        raise ParameterError(f"limits must be two numbers (low, high), got {limits!r}") from None
    if not (np.isfinite([lowest, highest]).all() and lowest < highest):
        raise ParameterError(f"limits must be finite with low < high, got {limits!r}")
    return lowest, highest


def _short(mean: float) -> str:
    return readable(mean) if abs(mean) >= SMALL else f"{round(mean, 2) + 0.0:.2f}"
