"""Means in bars, or in the cells of a map, with published figures beside ours."""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from shoal._numbers import readable
from shoal.exceptions import ParameterError
from shoal.plotting._canvas import (
    Axis,
    Canvas,
    Key,
    Rows,
    add_levels,
    around,
    columns_for,
    panel,
    table,
    tooltip,
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
from shoal.plotting._theme import AXES, DARK_GRAY, GROWING, HOLLOW_DIAMOND, SHADED, looks

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
    """Draw means over repeats as bars, with error bars of 95 %.

    Parameters
    ----------
    data : list of dict, dict of columns, or data frame
        One row a measurement; rows of one group and set are repeats. Rows without a finite value
        are left out.
    value : str
        Column of numbers.
    group : str, default="mechanism"
        Column with one bar a value, each in the color of its mechanism and with its marker.
    sets : str, default=None
        Column by which bars stand together, such as the data set. None = all in one place.
    shade : str, default=None
        Column that tells bars of one group apart, such as the version: the first value has full
        bars, the others lighter ones.
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
    path : path, default=None
        File to write as well: PNG, SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture
        The chart.

    Raises
    ------
    ParameterError
        If a column is missing or holds no numbers, or the file cannot be written.
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
    key = Key(shown=any((sets, shade, published, levels)))
    for name, look in looks(distinct(columns[group])).items():
        key.add(text(name), look.color, look.marker)
    versions = [text(one) for one in distinct(columns[shade])] if shade else [text(None)]
    if shade:
        for index, version in enumerate(versions):
            key.add(version, DARK_GRAY, SHADED[index % len(SHADED)])
    if published:
        key.add("published", DARK_GRAY, HOLLOW_DIAMOND)
    add_levels(key, levels)
    heights = [row[end] for row in rows for end in ("y", "low", "high")]
    heights += [*(row["y"] for row in spots), *levels.values()]
    y = Axis(
        axis_title(value, value_label),
        around(heights, log=log_y, zero=not log_y),
        log=log_y,
        grid=True,
    )
    places = list(dict.fromkeys(row["set"] for row in rows))
    bars = sorted({row["bar"] for row in rows})
    wide = len(places) * (len(bars) * BAR + GAP)
    width = min(max(wide, NARROWEST, sum(7 * len(name) + 14 for name in places)), WIDEST)
    drawn = panel(
        *_bar_layers(
            canvas,
            rows,
            spots,
            key=key,
            y=y,
            versions=versions,
            width=width,
            title=AXES.get(sets or ""),
        ),
        *canvas.levels(levels, y, key),
        width=width,
        height=HEIGHT,
    )
    return canvas.finish([drawn], key=key, least=min(width, 12 * len(places) * len(bars)))


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
                }
                mean = interval(columns, some, value=names.value, low=names.low, high=names.high)
                rows += table(**where, y=mean.mean, low=mean.low, high=mean.high)
                if names.published:
                    printed = columns[names.published][some & np.isfinite(columns[names.published])]
                    spots += [row for y in np.unique(printed) for row in table(**where, y=y)]
    return rows, spots


def _bar_layers(
    canvas: Canvas,
    rows: Rows,
    spots: Rows,
    *,
    key: Key,
    y: Axis,
    versions: list[str],
    width: float,
    title: str | None,
) -> list[Any]:
    places = list(dict.fromkeys(row["set"] for row in rows))
    fits = sum(7 * len(name) + 12 for name in places) <= width
    axis = alt.Axis(
        title=title, labelAngle=0 if fits else -35, labelOverlap=False, ticks=False, labelPadding=6
    )
    channels = {
        "x": alt.X("set:N", axis=axis, scale=alt.Scale(domain=places, paddingInner=0.18)),
        "xOffset": alt.XOffset(
            "bar:O", scale=alt.Scale(domain=sorted({row["bar"] for row in rows}), paddingInner=0.12)
        ),
    }
    base = max(y.domain[0], 0.0) if not y.log else y.domain[0]
    words = {"name": " ", "set": " ", "version": " ", "y": "mean", "low": "from", "high": "to"}
    if len(versions) == 1:
        del words["version"]
    shades = {version: OPACITIES[at % len(OPACITIES)] for at, version in enumerate(versions)}
    bars = canvas.add([{**row, "base": base, "shade": shades[row["version"]]} for row in rows])
    place = {**channels, "y": y.y(), "y2": "base:Q", "color": key.color()}
    layers = [
        bars.mark_bar().encode(
            **place,
            fillOpacity=alt.FillOpacity("shade:Q", scale=None, legend=None),
            tooltip=tooltip(**words),
        ),
        bars.mark_bar(filled=False, strokeWidth=1).encode(**place),
    ]
    wide = [row for row in rows if row["high"] > row["low"]]
    if wide:
        ends = [
            {**row, **{end: float(y.clipped(row[end])) for end in ("low", "high")}} for row in wide
        ]
        layers.append(
            canvas.add(ends)
            .mark_rule(strokeWidth=1.4, color="#262626")
            .encode(**channels, y=y.y("low"), y2="high:Q")
        )
    layers.append(
        bars.mark_point(
            filled=True, size=30, opacity=1, stroke="#ffffff", strokeWidth=0.9, yOffset=-8
        ).encode(**channels, y=y.y("base"), color=key.color(), shape=key.shape())
    )
    if spots:
        layers.append(
            canvas.add(spots)
            .mark_point(shape="diamond", size=60, fill="#ffffff", stroke="#000000", opacity=1)
            .encode(**channels, y=y.y(), tooltip=tooltip(name="published", y=" "))
        )
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
        One row a measurement; those of one cell are averaged. A cell without a finite number stays
        white.
    x, y : str
        Columns whose values are the columns and rows of the map.
    value : str
        Column of numbers.
    panels : str, default=None
        Column with one panel a value, such as the mechanism. None = one panel.
    published : str, default=None
        Column of published values, written small below ours.
    limits : tuple of float, default=None
        Ends of the colors' scale; None = smallest and largest mean.
    title, x_label, y_label, value_label : str, default=None
        Words; None = what is known of the columns.
    path : path, default=None
        File to write as well: PNG, SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture
        The chart.

    Raises
    ------
    ParameterError
        If a column is missing or holds no numbers, or the file cannot be written.
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
    sides = [[text(one) for one in distinct(columns[name])] for name in (x, y)]
    cell_height = CELL_HEIGHT + (12 if published else 0)
    width, height = CELL_WIDTH * len(sides[0]), cell_height * len(sides[1])
    label = axis_title(value, value_label)
    note = " (small: published)" if published else ""
    place = {
        "x": alt.X(
            "x:N",
            sort=sides[0],
            axis=alt.Axis(title=axis_title(x, x_label), labelAngle=0, ticks=False, domain=False),
        ),
        "y": alt.Y(
            "y:N",
            sort=sides[1],
            axis=alt.Axis(title=axis_title(y, y_label), ticks=False, domain=False),
        ),
    }
    scale = alt.Scale(
        domain=np.linspace(lowest, highest, len(GROWING)).tolist(), range=list(GROWING), clamp=True
    )
    legend = alt.Legend(title=label + note, gradientLength=180, gradientThickness=12)
    words = {"x": axis_title(x, x_label), "y": axis_title(y, y_label), "value": label}
    if published:
        words["published"] = "published"
    middle = lowest + DARK * (highest - lowest)
    ink = alt.condition(f"datum.value < {middle:g}", alt.value("#ffffff"), alt.value("#000000"))
    drawn = []
    for part, rows in zip(parts, cells, strict=True):
        chart = canvas.add(rows)
        layers = [
            chart.mark_rect(stroke="#ffffff", strokeWidth=1).encode(
                **place,
                color=alt.Color("value:Q", scale=scale, legend=legend),
                tooltip=tooltip(**words),
            ),
            chart.mark_text(fontSize=11, dy=-6 if published else 0).encode(
                **place, text="short:N", color=ink
            ),
        ]
        if published:
            layers.append(
                chart.mark_text(fontSize=9, dy=8, fontStyle="italic").encode(
                    **place, text="printed:N", color=ink
                )
            )
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
