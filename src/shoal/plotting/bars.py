"""Bars with error bars: a measure of each mechanism, on one or several data sets."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal._numbers import readable
from shoal.plotting._interval import interval
from shoal.plotting._layout import (
    LETTER,
    check_ends,
    check_logarithm,
    check_reference,
    label,
    levels,
    words,
)
from shoal.plotting._tidy import Columns, distinct, finite, read_columns
from shoal.plotting.chart import Axis, Chart, Panel
from shoal.plotting.marks import Bars, Level, Mark, Points
from shoal.plotting.save import check_path, save
from shoal.plotting.style import GREY, looks

__all__ = ["draw_bars"]

TOGETHER = 0.82  # of the place of a set that its bars fill
ALONE = 0.8  # of that place, for bars with their names below them
WIDEST = 16.0  # inches
HATCHES = ("", "//", "..", "xx")  # of the values of the column hatch


class _Names(NamedTuple):
    """Columns by what they are for."""

    value: str
    group: str
    sets: str | None
    hatch: str | None
    low: str | None
    high: str | None
    published: str | None


def draw_bars(
    path: Path,
    records: Any,
    *,
    value: str,
    group: str = "mechanism",
    sets: str | None = None,
    hatch: str | None = None,
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
        File to write: PNG, SVG, PDF, HTML or JSON.
    records : list of dict, dict of columns, or data frame
        One row a measurement; rows of one group and set are repeats. Rows without a finite value
        are left out.
    value : str
        Column of numbers.
    group : str, default="mechanism"
        Column with one bar a value, each in the color of its mechanism and with its hatch.
    sets : str, default=None
        Column by which bars stand together, such as the data set. None = all in one place.
    hatch : str, default=None
        Column that tells bars of one group apart, such as the version: the first value has plain
        bars, the others hatched ones.
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
    keys = {"group": group, "sets": sets, "hatch": hatch}
    rows = finite(read_columns(records, keys=keys, numbers=numbers), value)
    if log_y:
        check_logarithm("log_y", value, rows[value])
    references = levels(check_reference(reference))
    names = _Names(value, group, sets, hatch, low, high, published)
    groups = distinct(rows[group])
    places = distinct(rows[sets]) if sets else [None]
    beside = len(groups) * (len(distinct(rows[hatch])) if hatch else 1)
    below = [words(name) for name in (places if sets else groups)]
    # Names stand level where there is room for them.
    level = 1.1 * LETTER * max(map(len, below)) * len(below) + 1.4
    width = min(max(4.8, 0.3 * beside * len(places) + 0.5 * len(places) + 1.4, level), WIDEST)
    marks, spots = _marks(rows, places, names)
    negative = any((mark.lengths < 0).any() for mark in marks)
    zero = (Level(at=0.0, color="#666666", width=0.8),) if negative and not log_y else ()
    middles = np.arange(len(below)) if sets else _spread(len(groups), TOGETHER / len(groups))
    x_axis = Axis(
        ticks=tuple(map(float, middles)),
        names=tuple(below),
        slant=level > WIDEST,
        limits=(-0.5, len(places) - 0.5),
    )
    y_axis = Axis(label=label(value, value_label), log=log_y)
    words_above = words(title) if title is not None else ""
    panel = Panel(
        marks=(*zero, *marks, *references, *spots), x=x_axis, y=y_axis, grid=True, title=words_above
    )
    return save(Chart(panels=(panel,), width=width, height=4.2, key=_key(rows, names)), path)


def _spread(number: int, step: float) -> Any:
    return step * (np.arange(number) - (number - 1) / 2)


def _marks(rows: Columns, places: list[Any], names: _Names) -> tuple[list[Bars], list[Points]]:
    """Return bars, one mark a group and version, and the published values in front of them."""
    style = looks(distinct(rows[names.group]))
    versions = distinct(rows[names.hatch]) if names.hatch else [None]
    thick = TOGETHER / len(style) / len(versions)
    asides = _spread(len(style) * len(versions), thick)
    marks: list[Bars] = []
    printed: list[tuple[float, float]] = []
    for number, (name, look) in enumerate(style.items()):
        for turn, version in enumerate(versions):
            aside = asides[number * len(versions) + turn]
            at, found, notes = [], [], []
            for place, one in enumerate(places):
                some = rows[names.group] == name
                if names.sets:
                    some = some & (rows[names.sets] == one)
                if names.hatch:
                    some = some & (rows[names.hatch] == version)
                if some.any():
                    found.append(
                        interval(rows, some, value=names.value, low=names.low, high=names.high)
                    )
                    at.append(place + aside)
                    notes.append(_note(one if names.sets else None, found[-1]))
                    printed += [(at[-1], value) for value in _published(rows, some, names)]
            if not found:
                continue
            mean, low, high = np.array(found).T
            bars = Bars(
                places=np.array(at),
                lengths=mean,
                thick=thick if names.sets else ALONE * thick,
                color=look.color,
                hatch=HATCHES[turn % len(HATCHES)] if names.hatch else look.hatch,
                edge="#ffffff",
                ends=np.array([low, high]) if (high > low).any() else None,
                name=words(name),
                listed=names.sets is not None,  # or its name stands below
                says=f"{words(name)}, {words(version)}" if names.hatch else "",
                notes=tuple(notes) if any(notes) else (),
            )
            marks.append(bars)
    if names.published is None:
        return marks, []
    return marks, [_diamonds(np.array(printed).reshape(-1, 2))]


def _note(place: Any, ends: Any) -> str:
    reach = f"{readable(ends.low)} to {readable(ends.high)}" if ends.high > ends.low else ""
    return ", ".join(part for part in (words(place) if place is not None else "", reach) if part)


def _published(rows: Columns, some: Any, names: _Names) -> list[float]:
    if names.published is None:
        return []
    values = rows[names.published]
    found: list[float] = np.unique(values[some & np.isfinite(values)]).tolist()
    return found


def _diamonds(at: Any) -> Points:
    return Points(at=at, color="#ffffff", edge="#000000", marker="D", area=26.0, name="published")


def _key(rows: Columns, names: _Names) -> tuple[Mark, ...]:
    """Explain hatches, which every color has."""
    if names.hatch is None:
        return ()
    return tuple(
        Bars(
            places=np.empty(0),
            lengths=np.empty(0),
            thick=1.0,
            color=GREY,
            hatch=HATCHES[turn % len(HATCHES)],
            name=words(version),
        )
        for turn, version in enumerate(distinct(rows[names.hatch]))
    )
