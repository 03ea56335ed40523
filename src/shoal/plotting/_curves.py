"""Curves with bands: a measure against epsilon, or what privacy costs; a curve a mechanism."""

import math
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from shoal._typing import Bools, Floats
from shoal.plotting._canvas import (
    Axis,
    Canvas,
    Key,
    Rows,
    add_levels,
    add_versions,
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
from shoal.plotting._theme import DARK_GRAY, DASHES, RING, SPARSE, line_glyph, looks

__all__ = ["draw_lines", "draw_trade_off"]


CROWDED = 0.07  # of the panel's sides, between two numbers that can both be read
WIDTH, HEIGHT = 270, 205
ALONE = 400  # width of a single panel


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
    path: str | os.PathLike[str] | None = None,
) -> Picture:
    """Draw means over repeats as curves, with bands of 95 %.

    Parameters
    ----------
    data : list of dict, dict of columns, or data frame
        One row a measurement; rows of one group, panel and x are repeats. Rows without a finite
        ``y`` are left out. Rows with infinite ``x`` (epsilon without privacy) become a level line.
    x, y : str
        Columns of numbers.
    group : str, default="mechanism"
        Column with one curve a value, each in the color of its mechanism.
    dash : str, default=None
        Column that tells curves of one group apart, such as the version: the first value has full
        lines and filled markers, the others broken lines and hollow ones.
    panels : str, default=None
        Column with one panel a value; all share their axes. None = one panel.
    low, high : str, default=None
        Columns with the ends of the band; None = 95 % for the mean by Student's t, and no band
        where there is a single repeat.
    published : str, default=None
        Column of published values, drawn as large hollow markers.
    title, x_label, y_label : str, default=None
        Words; None = what is known of the columns.
    log_x, log_y : bool, default=False
        Whether the axis is logarithmic.
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
    everywhere = np.full(len(columns[x]), True)
    drawn = [
        _rows(columns, everywhere if panels is None else columns[panels] == part, names)
        for part in parts
    ]
    at = columns[x][np.isfinite(columns[x])]
    ends = [row[end] for one in drawn for row in one.means for end in ("low", "high")]
    ends += [row["y"] for one in drawn for row in one.spots + one.levels]
    curves = _Curves(
        canvas=canvas,
        names=names,
        versions=[text(version) for version in distinct(columns[dash])] if dash else [],
        key=_key(columns, names, levels),
        x=Axis(
            axis_title(x, x_label), around(at, log=log_x), log=log_x, ticks=at if log_x else None
        ),
        y=Axis(
            axis_title(y, y_label),
            around([*ends, *levels.values()], log=log_y),
            log=log_y,
            grid=True,
        ),
    )
    across = columns_for(len(parts))
    return canvas.finish(
        (
            panel(
                *curves.layers(one),
                *canvas.levels(levels, curves.y, curves.key),
                width=WIDTH if across > 1 else ALONE,
                height=HEIGHT,
                title="" if panels is None else panel_title(panels, part),
            )
            for part, one in zip(parts, drawn, strict=True)
        ),
        columns=across,
        key=curves.key,
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


def _key(columns: Columns, names: _Names, levels: Mapping[str, float]) -> Key:
    """Explain groups by color and marker, then what every color has."""
    key = Key()
    for name, look in looks(distinct(columns[names.group])).items():
        key.add(text(name), look.color, look.marker)
    if names.dash is not None:
        add_versions(key, map(text, distinct(columns[names.dash])))
    if names.published is not None:
        key.add("published", DARK_GRAY, RING)
    if np.isposinf(columns[names.x]).any():
        key.add(_without(names.x), DARK_GRAY, line_glyph(SPARSE))
    add_levels(key, levels)
    return key


def _without(x: str) -> str:
    return "without privacy" if x == "epsilon" else f"{x} = ∞"


def _rows(columns: Columns, inside: Bools, names: _Names) -> _Drawn:
    drawn = _Drawn([], [], [])
    versions = distinct(columns[names.dash]) if names.dash else [None]
    for group in distinct(columns[names.group]):
        some = inside & (columns[names.group] == group)
        for version in versions:
            this = some if names.dash is None else some & (columns[names.dash] == version)
            measured = this & np.isfinite(columns[names.y])
            labels = {"name": text(group), "version": text(version), "series": f"{group}/{version}"}
            at = np.unique(columns[names.x][measured & np.isfinite(columns[names.x])])
            if len(at):
                ends = [
                    interval(
                        columns,
                        measured & (columns[names.x] == one),
                        value=names.y,
                        low=names.low,
                        high=names.high,
                    )
                    for one in at
                ]
                mean, low, high = np.array(ends).T
                drawn.means.extend(table(x=at, y=mean, low=low, high=high, **labels))
            without = measured & np.isposinf(columns[names.x])
            if without.any():
                mean = columns[names.y][without].mean()
                drawn.levels.extend(table(y=mean, **labels))
        drawn.spots.extend(_published(columns, some, names))
    return drawn


def _published(columns: Columns, some: Bools, names: _Names) -> Rows:
    if names.published is None:
        return []
    printed = some & np.isfinite(columns[names.x]) & np.isfinite(columns[names.published])
    # Repeats hold the same published value: one marker is enough.
    spots = {
        (
            text(columns[names.group][index]),
            columns[names.x][index],
            columns[names.published][index],
        )
        for index in np.flatnonzero(printed)
    }
    return [row for name, x, y in sorted(spots) for row in table(name=name, x=x, y=y)]


class _Curves(NamedTuple):
    """What the panels of a chart of curves share."""

    canvas: Canvas
    names: _Names
    versions: list[str]
    key: Key
    x: Axis
    y: Axis

    def layers(self, drawn: _Drawn) -> list[Any]:
        """Return bands behind all curves, markers on them, published values in front."""
        layers = self._bands(drawn.means)
        if drawn.means:
            means = self.canvas.add(drawn.means)
            line = means.mark_line(strokeWidth=1.8).encode(**self._place(), detail="series:N")
            if self.versions:
                dashes = [list(DASHES[index % len(DASHES)]) for index in range(len(self.versions))]
                scale = alt.Scale(domain=self.versions, range=dashes)
                line = line.encode(strokeDash=alt.StrokeDash("version:N", scale=scale, legend=None))
            layers.append(line)
        first = [row for row in drawn.means if row["version"] in (*self.versions[:1], "None")]
        later = [row for row in drawn.means if row["version"] in self.versions[1:]]
        for rows, hollow in ((first, False), (later, True)):
            layers += self._markers(rows, hollow=hollow, size=45)
        layers += self._markers(drawn.spots, hollow=True, size=130, note="published")
        if drawn.levels:
            layers.append(
                self.canvas.add(drawn.levels)
                .mark_rule(strokeDash=SPARSE, strokeWidth=1.6)
                .encode(
                    y=self.y.y(),
                    color=self.key.color(),
                    tooltip=tooltip(name=_without(self.names.x), y=self.names.y),
                )
            )
        return layers

    def _place(self) -> dict[str, Any]:
        return {"x": self.x.x(), "y": self.y.y(), "color": self.key.color()}

    def _bands(self, means: Rows) -> list[Any]:
        wide = {row["series"] for row in means if row["high"] > row["low"]}
        if not wide:
            return []
        rows = [
            {**row, **{end: float(self.y.clipped(row[end])) for end in ("low", "high")}}
            for row in means
            if row["series"] in wide
        ]
        channels = {**self._place(), "y": self.y.y("low"), "y2": "high:Q", "detail": "series:N"}
        return [self.canvas.add(rows).mark_area(opacity=0.15).encode(**channels)]

    def _markers(self, rows: Rows, *, hollow: bool, size: float, note: str = "") -> list[Any]:
        if not rows:
            return []
        words = {"name": note or " ", "x": self.names.x, "y": self.names.y}
        if self.versions and not note:
            words["version"] = self.names.dash or ""
        if any(row.get("low") != row.get("high") for row in rows):
            words |= {"low": "95 % from", "high": "to"}
        chart = self.canvas.add(rows)
        # Hollow markers hide the line below them, but not a smaller marker of ours.
        inside = {"filled": False, **({} if note else {"fill": "#ffffff"})}
        mark = (
            chart.mark_point(size=size, opacity=1, strokeWidth=1.6, **inside)
            if hollow
            else chart.mark_point(size=size, opacity=1, filled=True)
        )
        return [mark.encode(**self._place(), shape=self.key.shape(), tooltip=tooltip(**words))]


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
    """Draw means over repeats, joined in order of epsilon, with error bars of 95 % both ways.

    Parameters
    ----------
    data : list of dict, dict of columns, or data frame
        One row a measurement; rows of one group, panel and epsilon are repeats. Rows without both
        numbers are left out.
    privacy, utility : str
        Columns of numbers: across, such as the advantage of an adversary or epsilon itself, and up.
    group : str, default="mechanism"
        Column with one curve a value, each in the color of its mechanism.
    epsilon : str, default="epsilon"
        Column of numbers that orders the points of a curve and is written beside them where there
        is room; not where it is ``privacy``.
    panels : str, default=None
        Column with one panel a value; all share their axes. None = one panel.
    title, x_label, y_label : str, default=None
        Words; None = what is known of the columns.
    log_x : bool, default=False
        Whether privacy has a logarithmic axis.
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
    key = Key()
    for name, look in looks(distinct(columns[group])).items():
        key.add(text(name), look.color, look.marker)
    add_levels(key, levels)
    parts = distinct(columns[panels]) if panels else [None]
    rows = []
    for part in parts:
        inside = np.full(len(columns[utility]), True) if panels is None else columns[panels] == part
        rows.append(
            _steps(columns, inside, privacy=privacy, utility=utility, group=group, epsilon=epsilon)
        )
    every = [row for some in rows for row in some]
    labeled = privacy != epsilon
    note = f" (numbers at points: {axis_title(epsilon, None)})" if labeled else ""
    x_axis = Axis(
        axis_title(privacy, x_label) + note,
        around([row[end] for row in every for end in ("x", "x_low", "x_high")], log=log_x),
        log=log_x,
        ticks=None if labeled or not log_x else [row["x"] for row in every],
    )
    heights = [row[end] for row in every for end in ("y", "low", "high")]
    y_axis = Axis(axis_title(utility, y_label), around([*heights, *levels.values()]), grid=True)
    words = {"name": " ", "epsilon": "ε", "x": privacy, "y": utility, "low": "from", "high": "to"}
    drawn = []
    for part, some in zip(parts, rows, strict=True):
        shown = _readable(some, log_x) if labeled else []
        place = {"y": y_axis.y(), "color": key.color()}
        base = canvas.add(some)
        layers = [
            base.mark_line(strokeWidth=1.6).encode(x=x_axis.x(), order="epsilon:Q", **place),
            base.mark_rule(strokeWidth=1.1).encode(x=x_axis.x("x_low"), x2="x_high:Q", **place),
            base.mark_rule(strokeWidth=1.1).encode(
                **{**place, "y": y_axis.y("low")}, y2="high:Q", x=x_axis.x()
            ),
            base.mark_point(filled=True, size=45, opacity=1).encode(
                x=x_axis.x(), shape=key.shape(), tooltip=tooltip(**words), **place
            ),
            canvas.add(shown)
            .mark_text(align="right", dx=-6, dy=-8, fontSize=10)
            .encode(x=x_axis.x(), text="label:N", **place),
        ]
        drawn.append(
            panel(
                *(layers if shown else layers[:-1]),
                *canvas.levels(levels, y_axis, key),
                width=WIDTH if len(parts) > 1 else ALONE,
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
                epsilon=float(step),
                label=text(float(step)),
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
