"""Curves with bands: a measure against epsilon, one curve a mechanism, one panel a clusterer."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._numbers import readable
from shoal.plotting._interval import interval
from shoal.plotting._layout import (
    check_ends,
    check_logarithm,
    check_reference,
    heading,
    label,
    levels,
    logarithmic,
    shape,
    words,
)
from shoal.plotting._tidy import Columns, distinct, finite, read_columns
from shoal.plotting.chart import Axis, Chart, Panel
from shoal.plotting.marks import Band, Level, Line, Mark, Points
from shoal.plotting.save import check_path, save
from shoal.plotting.style import DARK_GREY, DASH, DOTS, FULL, MIXED, SPARSE, Look, looks

__all__ = ["draw_lines"]

LARGE = 75.0  # area of a published marker: ours fits inside
DASHES = (FULL, DASH, DOTS, MIXED)  # of the values of the column dash
NOTHING = np.empty(0)


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
    path: Path,
    records: Any,
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
) -> Path:
    """Draw means over repeats as curves, with bands of 95 %.

    Parameters
    ----------
    path : Path
        File to write: PNG, SVG, PDF, HTML or JSON.
    records : list of dict, dict of columns, or data frame
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
        keys={"group": group, "dash": dash, "panels": panels},
        numbers={"x": x, "y": y, "low": low, "high": high, "published": published},
    )
    rows = _shown(rows, x, y, published)
    if log_x:
        check_logarithm("log_x", x, rows[x])
    if log_y:
        check_logarithm("log_y", y, rows[y])
    references = levels(check_reference(reference))
    names = _Names(x, y, group, dash, low, high, published)
    parts = distinct(rows[panels]) if panels else [None]
    across = shape(len(parts))
    every = np.full(len(rows[x]), True)
    x_name = label(x, x_label)
    x_axis = logarithmic(x_name, rows[x]) if log_x else Axis(label=x_name)
    y_axis = Axis(label=label(y, y_label), log=log_y)
    chart = Chart(
        panels=tuple(
            Panel(
                marks=(
                    *_marks(rows, every if panels is None else rows[panels] == part, names),
                    *references,
                ),
                x=x_axis,
                y=y_axis,
                title="" if panels is None else heading(panels, part),
                grid=True,
            )
            for part in parts
        ),
        columns=across.columns,
        width=max(3.3 * across.columns, 5.6),
        height=3.0 * across.rows + 1.1,
        title=words(title) if title is not None else "",
        shared=True,
        key=_key(rows, names),
    )
    return save(chart, path)


def _shown(rows: Columns, x: str, y: str, published: str | None) -> Columns:
    """Keep rows with something to draw: a measurement or a published value."""
    some = np.isfinite(rows[y])
    if published is not None:
        some |= np.isfinite(rows[published])
    some &= ~np.isnan(rows[x])
    finite({y: rows[y][some]}, y)
    return {name: values[some] for name, values in rows.items()}


def _marks(rows: Columns, inside: npt.NDArray[np.bool_], names: _Names) -> list[Mark]:
    """Return what a panel holds: bands behind all curves, published values in front."""
    bands: list[Mark] = []
    curves: list[Mark] = []
    spots: list[Mark] = []
    versions = distinct(rows[names.dash]) if names.dash else [None]
    for name, look in looks(distinct(rows[names.group])).items():
        some = inside & (rows[names.group] == name)
        for place, version in enumerate(versions):
            this = some if names.dash is None else some & (rows[names.dash] == version)
            worn = look if names.dash is None else look._replace(dash=DASHES[place % len(DASHES)])
            says = words(name) if names.dash is None else f"{words(name)}, {words(version)}"
            found = _curve(rows, this, worn, names, hollow=place > 0, says=says)
            bands += found[:-1]
            curves += [*found[-1:], *_without(rows, this, look, names, says=says)]
        spots += _published(rows, some, look, names)
    return bands + curves + spots


def _curve(
    rows: Columns,
    some: npt.NDArray[np.bool_],
    look: Look,
    names: _Names,
    *,
    hollow: bool,
    says: str,
) -> list[Mark]:
    """Return the curve of a group, after its band if it has one."""
    measured = some & np.isfinite(rows[names.x]) & np.isfinite(rows[names.y])
    if not measured.any():
        return []
    at = np.unique(rows[names.x][measured])
    found = [
        interval(
            rows, measured & (rows[names.x] == one), value=names.y, low=names.low, high=names.high
        )
        for one in at
    ]
    mean, lower, upper = np.array(found).T
    name = words(rows[names.group][measured][0])
    wide = bool((upper > lower).any())
    band = Band(x=at, low=lower, high=upper, color=look.color, name=name, listed=False)
    curve = Line(
        x=at,
        y=mean,
        color=look.color,
        dash=look.dash,
        marker=look.marker,
        hollow=hollow,
        name=name,
        says=says,
        notes=tuple(f"{readable(a)} to {readable(b)}" for _, a, b in found) if wide else (),
    )
    return [band, curve] if wide else [curve]


def _without(
    rows: Columns, some: npt.NDArray[np.bool_], look: Look, names: _Names, *, says: str
) -> list[Mark]:
    without = some & np.isposinf(rows[names.x]) & np.isfinite(rows[names.y])
    if not without.any():
        return []
    return [
        Level(
            at=float(rows[names.y][without].mean()),
            color=look.color,
            dash=SPARSE,
            name=words(rows[names.group][without][0]),
            listed=False,
            says=says,
        )
    ]


def _published(rows: Columns, some: npt.NDArray[np.bool_], look: Look, names: _Names) -> list[Mark]:
    if names.published is None:
        return []
    printed = some & np.isfinite(rows[names.x]) & np.isfinite(rows[names.published])
    if not printed.any():
        return []
    # Repeats hold the same published value: one marker is enough.
    spots = np.column_stack([rows[names.x][printed], rows[names.published][printed]])
    name = words(rows[names.group][printed][0])
    return [
        Points(
            at=np.unique(spots, axis=0),
            color=look.color,
            marker=look.marker,
            area=LARGE,
            hollow=True,
            edge_width=1.2,
            name=name,
            listed=False,
            says=f"{name}, published",
        )
    ]


def _key(rows: Columns, names: _Names) -> tuple[Mark, ...]:
    """Explain what every color has: broken lines, hollow markers and level lines."""
    key: list[Mark] = []
    if names.dash is not None:
        for place, version in enumerate(distinct(rows[names.dash])):
            key.append(
                Line(
                    x=NOTHING,
                    y=NOTHING,
                    color=DARK_GREY,
                    dash=DASHES[place % len(DASHES)],
                    marker="o",
                    hollow=place > 0,
                    name=words(version),
                )
            )
    if names.published is not None:
        key.append(
            Points(
                at=np.empty((0, 2)),
                color=DARK_GREY,
                area=LARGE,
                hollow=True,
                edge_width=1.2,
                name="published",
            )
        )
    if np.isposinf(rows[names.x]).any():
        name = "without privacy" if names.x == "epsilon" else f"{words(names.x)} = ∞"
        key.append(Line(x=NOTHING, y=NOTHING, color=DARK_GREY, dash=SPARSE, width=1.0, name=name))
    return tuple(key)
