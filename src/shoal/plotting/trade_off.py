"""What privacy costs: utility against what an attacker gains, or against epsilon."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal._numbers import readable
from shoal._typing import Floats
from shoal.plotting._interval import interval
from shoal.plotting._layout import (
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
from shoal.plotting.marks import Line, Mark, Points, Texts
from shoal.plotting.save import check_path, save
from shoal.plotting.style import Look, looks

__all__ = ["draw_trade_off"]


CROWDED = 0.07  # of the panel's sides, between two numbers that can both be read


class _Names(NamedTuple):
    """Columns by what they are for."""

    privacy: str
    utility: str
    group: str
    epsilon: str


def draw_trade_off(
    path: Path,
    records: Any,
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
) -> Path:
    """Draw means over repeats, joined in order of epsilon, with error bars of 95 % both ways.

    Parameters
    ----------
    path : Path
        File to write: PNG, SVG, PDF, HTML or JSON.
    records : list of dict, dict of columns, or data frame
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
    ...     {"mechanism": "Laplace", "epsilon": at, "advantage": at / 9, "ami": at / (at + 1)}
    ...     for at in (0.5, 1, 2, 4)
    ... ]
    >>> file = Path(mkdtemp()) / "trade_off.svg"
    >>> draw_trade_off(file, rows, privacy="advantage", utility="ami").name
    'trade_off.svg'
    """
    check_path(path)
    numbers = {"privacy": privacy, "utility": utility, "epsilon": epsilon}
    rows = read_columns(records, keys={"group": group, "panels": panels}, numbers=numbers)
    rows = finite(finite(rows, utility), privacy)
    if log_x:
        check_logarithm("log_x", privacy, rows[privacy])
    references = levels(check_reference(reference))
    names = _Names(privacy, utility, group, epsilon)
    labeled = privacy != epsilon
    note = f"\n(numbers at points: {label(epsilon, None)})" if labeled else ""
    x_name = label(privacy, x_label) + note
    x_axis = Axis(label=x_name, log=log_x)
    if log_x and not labeled:
        x_axis = logarithmic(x_name, rows[privacy])
    parts = distinct(rows[panels]) if panels else [None]
    across = shape(len(parts), most=3)
    every = np.full(len(rows[utility]), True)
    chart = Chart(
        panels=tuple(
            Panel(
                marks=(
                    *_marks(rows, every if panels is None else rows[panels] == part, names, log_x),
                    *references,
                ),
                x=x_axis,
                y=Axis(label=label(utility, y_label)),
                title="" if panels is None else heading(panels, part),
                grid=True,
            )
            for part in parts
        ),
        columns=across.columns,
        width=max(4.4 * across.columns, 6.4),
        height=3.7 * across.rows + 1.1,
        title=words(title) if title is not None else "",
        shared=True,
    )
    return save(chart, path)


def _marks(rows: Columns, inside: npt.NDArray[np.bool_], names: _Names, log_x: bool) -> list[Mark]:
    """Return curves first, then the numbers beside their points."""
    curves: list[Mark] = []
    spots: list[tuple[Floats, list[float], Look]] = []
    for name, look in looks(distinct(rows[names.group])).items():
        some = inside & (rows[names.group] == name) & ~np.isnan(rows[names.epsilon])
        steps = np.unique(rows[names.epsilon][some]).tolist()
        if not steps:
            continue
        kept = [some & (rows[names.epsilon] == step) for step in steps]
        x, y = (
            np.array([interval(rows, one, value=value) for one in kept])
            for value in (names.privacy, names.utility)
        )
        curves += _curve(words(name), x, y, steps, look)
        spots.append((np.column_stack([x[:, 0], y[:, 0]]), steps, look))
    if names.privacy == names.epsilon or not spots:
        return curves
    return curves + _numbers(spots, log_x)


def _curve(name: str, x: Floats, y: Floats, steps: list[float], look: Look) -> list[Mark]:
    at = np.column_stack([x[:, 0], y[:, 0]])
    notes = tuple(
        f"ε = {words(step)}; {readable(low)} to {readable(high)}"
        for step, (_, low, high) in zip(steps, y, strict=True)
    )
    return [
        Points(
            at=at,
            notes=notes,
            x_ends=_ends(x),
            y_ends=_ends(y),
            area=6.0,
            listed=False,
            name=name,
            color=look.color,
        ),
        Line(
            x=at[:, 0],
            y=at[:, 1],
            dash=look.dash,
            marker=look.marker,
            notes=notes,
            name=name,
            color=look.color,
        ),
    ]


def _ends(values: Floats) -> Floats | None:
    low, high = values[:, 1], values[:, 2]
    return np.array([low, high]) if (high > low).any() else None


def _numbers(spots: list[tuple[Floats, list[float], Look]], log_x: bool) -> list[Mark]:
    """Write epsilon beside points, but not on top of another one's."""
    every = np.concatenate([at for at, _, _ in spots])
    scaled = np.column_stack([np.log(every[:, 0]) if log_x else every[:, 0], every[:, 1]])
    side = np.ptp(scaled, axis=0)
    scaled = scaled / np.where(side > 0, side, 1.0)
    taken: list[Floats] = []
    marks: list[Mark] = []
    place = 0
    for at, steps, look in spots:
        shown: list[int] = []
        for number in range(len(at)):
            here = scaled[place]
            place += 1
            if all(math.dist(here, other) > CROWDED for other in taken):
                taken.append(here)
                shown.append(number)
        if shown:
            texts = tuple(words(steps[number]) for number in shown)
            marks.append(Texts(at=at[shown], words=texts, beside="corner", color=look.color))
    return marks
