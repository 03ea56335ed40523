"""Where a mechanism puts the reports of one record: the smallest areas that hold most of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import ndimage

from shoal._bounds import public_box
from shoal._numbers import positive_probability, readable
from shoal._records import validate_records
from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.plotting._layout import around, column_names, shape, words
from shoal.plotting.chart import Axis, Chart, Panel
from shoal.plotting.marks import Cells, Line, Mark, Points, Scale
from shoal.plotting.save import check_path, save
from shoal.plotting.style import COLORS, DASH, GREY

__all__ = ["draw_perturbation_area"]


SIDE = 56  # cells of a side of the table that densities are counted in
SMOOTH = 1.4  # cells: single reports make no islands
SHOWN = 250  # reports that are drawn as dots
FAR = 0.004  # share of reports at either end of a column that lie outside the table
# From the area that holds most to the one that holds least.
SHADES = ("#dbe8f3", "#8ab6d6", "#2c6c9c", "#0b3c5d")


class _Areas(NamedTuple):
    """For each cell the place of the smallest area it belongs to, and the size of each area."""

    cells: Floats
    x: tuple[float, float]
    y: tuple[float, float]
    sizes: list[float]


def draw_perturbation_area(
    path: Path,
    reports: Mapping[str, Any],
    record: Any,
    *,
    bounds: Any = None,
    shares: Sequence[float] = (0.5, 0.9, 0.99),
    columns: Sequence[str] | None = None,
    title: str | None = None,
) -> Path:
    """Draw the areas that hold given shares of the reports of one record, a panel a mechanism.

    Parameters
    ----------
    path : Path
        File to write: PNG, SVG, PDF, HTML or JSON.
    reports : mapping of str to array-like of shape (n, 2)
        Many reports of the same record, by name of the mechanism; some thousands for a smooth
        picture.
    record : array-like of shape (2,)
        The record, drawn as a cross. It is shown: take an invented one.
    bounds : tuple (low, high), default=None
        Public box, drawn as a broken line.
    shares : sequence of float, default=(0.5, 0.9, 0.99)
        Shares of reports, up to four. Areas are where the reports are densest, by counting them
        in cells and smoothing the counts, so they are estimates.
    columns : sequence of str, default=None
        Names of the columns, with units.
    title : str, default=None
        Of the whole figure.

    Returns
    -------
    path : Path
        The file written; each panel's title says how large the area of the middle share is.

    Raises
    ------
    ParameterError
        If reports, record or shares do not fit, or the file cannot be written.
    DataError
        If reports are not tables of finite numbers.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> reports = np.random.default_rng(0).laplace(size=(2_000, 2))
    >>> draw_perturbation_area(Path(mkdtemp()) / "area.svg", {"Laplace": reports}, [0, 0]).name
    'area.svg'
    """
    check_path(path)
    tables = _tables(reports)
    point = validate_records([record])
    if point.shape[1] != 2:
        raise ParameterError(f"record must have 2 columns, got {point.shape[1]}: choose two")
    wanted = sorted((positive_probability("shares", share) for share in shares), reverse=True)
    if not 1 <= len(set(wanted)) == len(wanted) <= len(SHADES):
        raise ParameterError(f"shares must be 1 to {len(SHADES)} different ones, got {shares!r}")
    names = column_names(columns, 2)
    box = public_box(bounds, 2) if bounds is not None else None
    found = {name: _areas(points, wanted) for name, points in tables.items()}
    ends = [np.transpose([area.x, area.y]) for area in found.values()]
    reach = np.concatenate([*ends, point, *([np.stack(box)] if box is not None else [])])
    axes = [
        Axis(label=name, limits=around(reach[:, place], 0.03)) for place, name in enumerate(names)
    ]
    across = shape(len(tables), most=3)
    middle = len(wanted) // 2
    chart = Chart(
        panels=tuple(
            Panel(
                marks=(*_marks(tables[name], area, wanted), *_box(box), _cross(point)),
                x=axes[0],
                y=axes[1],
                equal=True,
                title=_title(name, wanted[middle], area.sizes[middle]),
            )
            for name, area in found.items()
        ),
        columns=across.columns,
        width=max(4.0 * across.columns, 4.8),
        height=4.0 * across.rows + 0.9,
        title=words(title) if title is not None else "",
        key=_key(wanted),
    )
    return save(chart, path)


def _title(name: str, share: float, size: float) -> str:
    return f"{name} ({100 * share:.3g} % in {readable(size)} unit²)"


def _tables(reports: Any) -> dict[str, Floats]:
    if not isinstance(reports, Mapping) or not reports:
        kind = type(reports).__name__
        raise ParameterError(f"reports must be a dict of at least one table, got {kind}")
    tables = {words(name): validate_records(points) for name, points in reports.items()}
    for name, points in tables.items():
        if points.shape[1] != 2:
            raise ParameterError(
                f"reports must have 2 columns, got {points.shape[1]} in {name!r}: choose two"
            )
    return tables


def _areas(points: Floats, shares: Sequence[float]) -> _Areas:
    low, high = np.quantile(points, [FAR, 1 - FAR], axis=0)
    # The smoothing needs room, and a report that never moves has no spread.
    room = np.where(high > low, 0.15 * (high - low), 0.5)
    edges = [np.linspace(*ends, SIDE + 1) for ends in zip(low - room, high + room, strict=True)]
    counts = np.histogram2d(points[:, 0], points[:, 1], bins=edges)[0].T
    density = ndimage.gaussian_filter(counts, SMOOTH, mode="constant")
    # Smoothed counts say which cells come first; plain ones how many reports these hold.
    order = np.argsort(-density, axis=None, kind="stable")
    held = np.cumsum(counts.ravel()[order]) / len(points)
    cells = np.full(density.shape, np.nan)
    sizes: list[float] = []
    cell = float(np.prod([side[1] - side[0] for side in edges]))
    for place, share in enumerate(shares):
        number = min(int(np.searchsorted(held, share)) + 1, int((density > 0).sum()))
        cells.ravel()[order[:number]] = place
        sizes.append(cell * number)
    x, y = ((float(side[0]), float(side[-1])) for side in edges)
    return _Areas(cells, x, y, sizes)


def _marks(points: Floats, area: _Areas, shares: Sequence[float]) -> list[Mark]:
    rows = np.unique(np.linspace(0, len(points) - 1, min(SHOWN, len(points))).astype(int))
    some = points[rows]
    ends = np.transpose([area.x, area.y])
    near = some[((some >= ends[0]) & (some <= ends[1])).all(axis=1)]
    scale = Scale(_shades(shares), (-0.5, len(shares) - 0.5), steps=True)
    notes = np.full(area.cells.shape, "", dtype=object)
    for place, (share, size) in enumerate(zip(shares, area.sizes, strict=True)):
        notes[area.cells == place] = f"{_name(share)}: {readable(size)} unit²"
    return [
        Cells(values=area.cells, x=area.x, y=area.y, scale=scale, notes=notes),
        Points(at=near, color=COLORS["local"], area=3.0, alpha=0.7, name="reports"),
    ]


def _box(box: Any) -> list[Mark]:
    if box is None:
        return []
    (left, bottom), (right, top) = box
    return [
        Line(
            x=np.array([left, right, right, left, left]),
            y=np.array([bottom, bottom, top, top, bottom]),
            color=GREY,
            dash=DASH,
            width=1.0,
            name="public box",
        )
    ]


def _cross(point: Floats) -> Points:
    return Points(at=point, color="#000000", marker="X", area=80.0, edge="#ffffff", name="record")


def _key(shares: Sequence[float]) -> tuple[Mark, ...]:
    none = np.empty((0, 2))
    areas = [
        Points(at=none, color=shade, marker="s", area=60.0, name=_name(share))
        for shade, share in zip(_shades(shares), shares, strict=True)
    ]
    # Larger than in the panels, where it could not be seen in a legend.
    return Points(at=none, color=COLORS["local"], name="reports"), *areas


def _shades(shares: Sequence[float]) -> tuple[str, ...]:
    return SHADES[: len(shares)] if len(shares) > 1 else SHADES[1:2]


def _name(share: float) -> str:
    return f"{100 * share:.3g} % of reports"
