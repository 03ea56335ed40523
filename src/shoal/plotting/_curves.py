"""Curves with bands: a measure against epsilon, or what privacy costs; a curve a mechanism."""

import math
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from shoal._typing import Bools, Floats
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
from shoal.plotting._picture import Picture
from shoal.plotting._theme import DARK_GRAY, DASHES, RING, SPARSE, line_glyph

__all__ = ["draw_lines", "draw_trade_off"]


CROWDED = 0.07  # of the panel's sides, between two numbers that can both be read
WIDTHS, HEIGHT = {1: 400, 2: 340}, 205  # pixels, by number of panels
WIDTH = 270  # of more


class _Names(NamedTuple):
    """Columns by what they are for."""

    x: str
    y: str
    group: str
    dash: str | None
    low: str | None
    high: str | None
    published: str | None


def draw_lines(
    data: Any,
    *,
    x: str,
    y: str,
    group: str = "mechanism",
    dash: str | None = None,
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
    width: float | None = None,
    height: float | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Picture:
    """Draw means over repeats as curves, with 95% confidence bands.

    Parameters
    ----------
    data : list of dict, dict of columns, or data frame
        One row for each measurement; rows with the same group, panel and x are repeats. Rows
        without a finite ``y`` are left out. Rows with infinite ``x`` (epsilon without privacy)
        become a horizontal line.
    x, y : str
        Columns of numbers for the two axes.
    group : str, default="mechanism"
        Column with one curve for each value, in the color of its mechanism.
    dash : str, default=None
        Column that distinguishes curves of the same group, such as the version: the first value has
        solid lines and filled markers, the others dashed lines and hollow markers.
    panels : str, default=None
        Column with one panel for each value; all share their axes. None draws one panel.
    low, high : str, default=None
        Columns with the ends of the band; None takes the 95% confidence interval of the mean by
        Student's t, and no band for a single repeat.
    published : str, default=None
        Column of published values, drawn as large hollow markers.
    title, x_label, y_label : str, default=None
        Texts; None takes the usual description of each column, or its name.
    log_x, log_y : bool, default=False
        Whether the axis is logarithmic.
    reference : mapping of str to float, default=None
        Horizontal reference lines: value by label.
    width, height : float, default=None
        Size of each panel, in pixels; None chooses it by the number of panels.
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
    >>> rows = [
    ...     {"mechanism": "Laplace", "epsilon": at, "ami": at / (at + 1) + run / 50}
    ...     for at in (0.5, 1, 2, 4)
    ...     for run in range(5)
    ... ]
    >>> draw_lines(rows, x="epsilon", y="ami", log_x=True)
    Picture(panels=1, records=False)
    """
    canvas = Canvas(path, title=title)
    check_ends(low, high)
    columns = read_columns(
        data,
        keys={"group": group, "dash": dash, "panels": panels},
        numbers={"x": x, "y": y, "low": low, "high": high, "published": published},
    )
    columns = _shown(columns, x, y, published)
    if log_x:
        check_logarithm("log_x", x, columns[x])
    if log_y:
        check_logarithm("log_y", y, columns[y])
    levels = check_reference(reference)
    names = _Names(x, y, group, dash, low, high, published)
    parts = distinct(columns[panels]) if panels else [None]
    drawn = [_rows(columns, _inside(columns, panels, part), names) for part in parts]
    at = columns[x][np.isfinite(columns[x])]
    ends = [row[end] for one in drawn for row in one.means for end in ("low", "high")]
    ends += [row["y"] for one in drawn for row in one.spots + one.levels] + [*levels.values()]
    whole = bool((at == np.round(at)).all())  # such as numbers of clusters
    short = all(float(f"{one:.3g}") == one for one in at)  # such as epsilons that were chosen
    x_axis = Axis(
        axis_title(x, x_label),
        around(at, log=log_x),
        log=log_x,
        ticks=at if whole or (log_x and short) else None,
    )
    y_axis = Axis(axis_title(y, y_label), around(ends, log=log_y), log=log_y, grid=True)
    key = _key(columns, names, levels)
    layer = partial(canvas.layer, x=x_axis, y=y_axis, key=key)
    return canvas.finish(
        (
            panel(
                *_layers(layer, one, names, y_axis),
                *canvas.levels(levels, y_axis, key),
                width=WIDTHS.get(len(parts), WIDTH) if width is None else width,
                height=HEIGHT if height is None else height,
                title="" if panels is None else panel_title(panels, part),
            )
            for part, one in zip(parts, drawn, strict=True)
        ),
        columns=columns_for(len(parts)),
        key=key,
    )


class _Drawn(NamedTuple):
    """Rows of a panel: of means, of published values, of what holds without privacy."""

    means: Rows
    spots: Rows
    levels: Rows


def _shown(columns: Columns, x: str, y: str, published: str | None) -> Columns:
    """Keep rows with something to draw: a measurement or a published value."""
    some = np.isfinite(columns[y])
    if published is not None:
        some |= np.isfinite(columns[published])
    some &= ~np.isnan(columns[x])
    finite({y: columns[y][some]}, y)
    return {name: values[some] for name, values in columns.items()}


def _inside(columns: Columns, panels: str | None, part: Any) -> Bools:
    if panels is None:
        return np.full(len(next(iter(columns.values()))), True)
    return np.asarray(columns[panels] == part)


def _key(columns: Columns, names: _Names, levels: Mapping[str, float]) -> Key:
    """Explain groups by color and marker, then what every color has."""
    key = Key.of_groups(distinct(columns[names.group]))
    for index, version in enumerate(distinct(columns[names.dash]) if names.dash else []):
        key.add(text(version), DARK_GRAY, line_glyph(DASHES[index % len(DASHES)]))
    if names.published is not None:
        key.add("published", DARK_GRAY, RING)
    if np.isposinf(columns[names.x]).any():
        key.add(_without(names.x), DARK_GRAY, line_glyph(SPARSE))
    key.add_levels(levels)
    return key


def _without(x: str) -> str:
    return "without privacy" if x == "epsilon" else f"{x} = ∞"


def _rows(columns: Columns, inside: Bools, names: _Names) -> _Drawn:
    drawn = _Drawn([], [], [])
    at, measured = columns[names.x], inside & np.isfinite(columns[names.y])
    versions = distinct(columns[names.dash]) if names.dash else [None]
    for group in distinct(columns[names.group]):
        some = columns[names.group] == group
        for turn, version in enumerate(versions):
            this = measured & some
            if names.dash:
                this &= columns[names.dash] == version
            labels = {"name": text(group), "version": text(version), "turn": turn}
            for one in np.unique(at[this & np.isfinite(at)]):
                mean = interval(
                    columns, this & (at == one), value=names.y, low=names.low, high=names.high
                )
                drawn.means.extend(
                    table(x=one, y=mean.mean, low=mean.low, high=mean.high, **labels)
                )
            without = this & np.isposinf(at)
            if without.any():
                drawn.levels.extend(table(y=columns[names.y][without].mean(), **labels))
        if names.published:
            printed = inside & some & np.isfinite(at) & np.isfinite(columns[names.published])
            # Repeats hold the same published value: one marker is enough.
            spots = sorted(set(zip(at[printed], columns[names.published][printed], strict=True)))
            for one, value in spots:
                drawn.spots.extend(table(name=text(group), x=one, y=value))
    return drawn


def _layers(layer: Callable[..., Any], drawn: _Drawn, names: _Names, y: Axis) -> list[Any]:
    """Return bands behind all curves, markers on them, published values in front."""
    told = {"name": " ", "version": names.dash or " ", "x": names.x, "y": names.y}
    if names.dash is None:
        del told["version"]
    lines = [row | {"series": f"{row['name']}/{row['turn']}"} for row in drawn.means]
    wide = {row["series"] for row in lines if row["high"] > row["low"]}
    bands = [row | {"y": row["low"], "y2": row["high"]} for row in lines if row["series"] in wide]
    layers = [layer(y.clip(bands), "area", opacity=0.15)] if wide else []
    for turn in sorted({row["turn"] for row in lines}):
        some = [row for row in lines if row["turn"] == turn]
        dash = list(DASHES[turn % len(DASHES)])
        layers.append(layer(some, "line", strokeWidth=1.8, strokeDash=dash))
    if wide:
        told |= {"low": "95 % from", "high": "to"}
    for hollow in (False, True):
        some = [row for row in drawn.means if (row["turn"] > 0) is hollow]
        look = {"fill": "#ffffff", "strokeWidth": 1.6} if hollow else {}
        if some:
            layers.append(
                layer(some, "point", told=told, size=45, opacity=1, filled=not hollow, **look)
            )
    if drawn.spots:
        told = {"name": "published", "x": names.x, "y": names.y}
        layers.append(
            layer(
                drawn.spots, "point", told=told, size=130, opacity=1, filled=False, strokeWidth=1.6
            )
        )
    if drawn.levels:
        told = {"name": _without(names.x), "y": names.y}
        layers.append(
            layer(drawn.levels, "rule", x=None, told=told, strokeDash=SPARSE, strokeWidth=1.6)
        )
    return layers


def draw_trade_off(
    data: Any,
    *,
    privacy: str,
    utility: str,
    group: str = "mechanism",
    epsilon: str = "epsilon",
    panels: str | None = None,
    title: str | None = None,
    x_label: str | None = None,
    y_label: str | None = None,
    log_x: bool = False,
    reference: Mapping[str, float] | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Picture:
    """Draw utility against privacy: means over repeats, with 95% error bars in both directions.

    Points of a curve are joined in the order of epsilon.

    Parameters
    ----------
    data : list of dict, dict of columns, or data frame
        One row for each measurement; rows with the same group, panel and epsilon are repeats. Rows
        without both numbers are left out.
    privacy, utility : str
        Columns of numbers for the horizontal axis, such as the advantage of an adversary or epsilon
        itself, and for the vertical axis.
    group : str, default="mechanism"
        Column with one curve for each value, in the color of its mechanism.
    epsilon : str, default="epsilon"
        Column of numbers that orders the points of a curve. It is written beside them where there
        is space, unless it is ``privacy`` itself.
    panels : str, default=None
        Column with one panel for each value; all share their axes. None draws one panel.
    title, x_label, y_label : str, default=None
        Texts; None takes the usual description of each column, or its name.
    log_x : bool, default=False
        Whether the axis of privacy is logarithmic.
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
    >>> rows = [
    ...     {"mechanism": "Laplace", "epsilon": at, "advantage": at / 9, "ami": at / (at + 1)}
    ...     for at in (0.5, 1, 2, 4)
    ... ]
    >>> draw_trade_off(rows, privacy="advantage", utility="ami")
    Picture(panels=1, records=False)
    """
    canvas = Canvas(path, title=title)
    numbers = {"privacy": privacy, "utility": utility, "epsilon": epsilon}
    columns = read_columns(data, keys={"group": group, "panels": panels}, numbers=numbers)
    columns = finite(finite(columns, utility), privacy)
    if log_x:
        check_logarithm("log_x", privacy, columns[privacy])
    levels = check_reference(reference)
    key = Key.of_groups(distinct(columns[group]))
    key.add_levels(levels)
    parts = distinct(columns[panels]) if panels else [None]
    names = {"privacy": privacy, "utility": utility, "group": group, "epsilon": epsilon}
    rows = [_steps(columns, _inside(columns, panels, part), **names) for part in parts]
    every = [row for some in rows for row in some]
    labeled = privacy != epsilon
    note = f" (numbers at points: {axis_title(epsilon, None)})" if labeled else ""
    x_axis = Axis(
        axis_title(privacy, x_label) + note,
        around([row[end] for row in every for end in ("x_low", "x_high")], log=log_x),
        log=log_x,
        ticks=None if labeled or not log_x else [row["x"] for row in every],
    )
    heights = [row[end] for row in every for end in ("low", "high")]
    y_axis = Axis(axis_title(utility, y_label), around([*heights, *levels.values()]), grid=True)
    layer = partial(canvas.layer, x=x_axis, y=y_axis, key=key)
    told = {"name": " ", "order": "ε", "x": privacy, "y": utility, "low": "from", "high": "to"}
    drawn = []
    for part, some in zip(parts, rows, strict=True):
        across = [row | {"x": row["x_low"], "x2": row["x_high"]} for row in some]
        up = [row | {"y": row["low"], "y2": row["high"]} for row in some]
        layers = [
            layer(some, "line", strokeWidth=1.6),
            *(layer(bars, "rule", strokeWidth=1.1) for bars in (across, up)),
            layer(some, "point", told=told, filled=True, size=45, opacity=1),
        ]
        if labeled:
            words = [row | {"words": text(row["order"])} for row in _readable(some, log_x)]
            layers.append(layer(words, "text", align="right", dx=-6, dy=-8, fontSize=10))
        drawn.append(
            panel(
                *layers,
                *canvas.levels(levels, y_axis, key),
                width=WIDTHS.get(len(parts), WIDTH),
                height=HEIGHT + 30,
                title="" if panels is None else panel_title(panels, part),
            )
        )
    return canvas.finish(drawn, columns=columns_for(len(parts), most=3), key=key)


def _steps(
    columns: Columns, inside: Bools, *, privacy: str, utility: str, group: str, epsilon: str
) -> Rows:
    """Return one row for each group and epsilon, with the ends of both intervals."""
    rows: Rows = []
    for name in distinct(columns[group]):
        some = inside & (columns[group] == name) & ~np.isnan(columns[epsilon])
        for step in np.unique(columns[epsilon][some]):
            kept = some & (columns[epsilon] == step)
            x, y = (interval(columns, kept, value=value) for value in (privacy, utility))
            rows += table(
                name=text(name),
                order=float(step),
                **{"x": x.mean, "x_low": x.low, "x_high": x.high},
                **{"y": y.mean, "low": y.low, "high": y.high},
            )
    return rows


def _readable(rows: Rows, log_x: bool) -> Rows:
    """Keep the rows whose number would not lie on top of another one's."""
    at = np.array([[math.log(row["x"]) if log_x else row["x"], row["y"]] for row in rows])
    if not len(at):
        return []
    side = np.ptp(at, axis=0)
    scaled: Floats = at / np.where(side > 0, side, 1.0)
    taken: list[int] = []
    for index in range(len(rows)):
        if all(math.dist(scaled[index], scaled[other]) > CROWDED for other in taken):
            taken.append(index)
    return [rows[index] for index in taken]
