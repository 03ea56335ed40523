"""Points in two or three columns: records, reports, remapped reports and their clusters."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._records import validate_records
from shoal._typing import Floats
from shoal.exceptions import ParameterError
from shoal.plotting._clusters import MAX_NAMED, cluster_look, cluster_name
from shoal.plotting._layout import column_names, shape, words
from shoal.plotting.chart import Axis, Chart, Panel
from shoal.plotting.marks import Mark, Points
from shoal.plotting.save import check_path, save
from shoal.plotting.style import COLORS

__all__ = ["draw_scatter"]


SHOWN = 3000  # points of a set: more only makes it darker
FAR = 0.01  # share of a set at either end that may lie outside the axes
MARGIN = 0.08
FLAT, SOLID = 2, 3  # columns that can be drawn


def draw_scatter(
    path: Path,
    sets: Mapping[str, Any],
    *,
    labels: Mapping[str, Any] | None = None,
    centers: Mapping[str, Any] | None = None,
    columns: Sequence[str] | None = None,
    title: str | None = None,
) -> Path:
    """Draw sets of points side by side on the same axes.

    Parameters
    ----------
    path : Path
        File to write: PNG, SVG, PDF, HTML or JSON.
    sets : mapping of str to array-like of shape (n, 2) or (n, 3)
        Points by name, such as "records", "reports" and "remapped", which have colors of their
        own; one panel a set, with at most 3,000 points, evenly taken. Axes hold the middle 98 % of
        each set; the title counts points outside.
    labels : mapping of str to array-like of shape (n,), default=None
        Cluster of each point, for some or all sets; -1 is noise.
    centers : mapping of str to array-like of shape (k, 2) or (k, 3), default=None
        Centers, for some or all sets.
    columns : sequence of str, default=None
        Names of the columns, with units.
    title : str, default=None
        Of the whole figure.

    Returns
    -------
    path : Path
        The file written. Drawn records are raw records: such a picture stays with the curator.

    Raises
    ------
    ParameterError
        If names, lengths or columns do not fit each other, or the file cannot be written.
    DataError
        If points are not tables of finite numbers.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> points = np.random.default_rng(0).normal(size=(200, 2))
    >>> sets = {"records": points, "reports": points + 0.5}
    >>> near = {"reports": (points[:, 0] > 0).astype(int)}
    >>> draw_scatter(Path(mkdtemp()) / "points.png", sets, labels=near).name
    'points.png'
    """
    check_path(path)
    tables = _tables(sets)
    width = next(iter(tables.values())).shape[1]
    marks = _labels(labels, tables)
    middles = _centers(centers, tables, width)
    names = column_names(columns, width)
    low, high = _limits([*tables.values(), *middles.values()], len(tables))
    flat = width == FLAT
    across = shape(len(tables), most=4 if flat else 2)
    side = 3.9 if flat else 4.6
    axes = [
        Axis(label=name, limits=(float(start), float(end)))
        for name, start, end in zip(names, low, high, strict=True)
    ]
    clusters = sorted(set().union(*(np.unique(found).tolist() for found in marks.values())))
    drawn: list[Panel] = []
    for name, points in tables.items():
        rows = np.unique(np.linspace(0, len(points) - 1, min(SHOWN, len(points))).astype(int))
        inside = rows[((points[rows] >= low) & (points[rows] <= high)).all(axis=1)]
        if name in marks:
            dots = _clusters(points[inside], marks[name][inside], clusters)
        else:
            color = COLORS.get(name.lower(), COLORS["records"])
            dots = [Points(at=points[inside], color=color, says=words(name), **_dots(inside))]
        if name in middles:
            dots.append(_crosses(middles[name]))
        beyond = len(rows) - len(inside)
        more = f" ({beyond} of {len(rows)} outside)" if beyond else ""
        third = None if flat else axes[2]
        drawn.append(
            Panel(marks=tuple(dots), x=axes[0], y=axes[1], z=third, title=words(name) + more)
        )
    chart = Chart(
        panels=tuple(drawn),
        columns=across.columns,
        width=max(side * across.columns, 4.8),
        height=side * across.rows + 0.6,
        title=words(title) if title is not None else "",
    )
    return save(chart, path)


def _tables(sets: Any) -> dict[str, Floats]:
    if not isinstance(sets, Mapping) or not sets:
        raise ParameterError(
            f"sets must be a dict of at least one table, got {type(sets).__name__}"
        )
    tables = {str(name): validate_records(points) for name, points in sets.items()}
    for name, points in tables.items():
        if points.shape[1] not in (FLAT, SOLID):
            raise ParameterError(
                f"sets must have 2 or 3 columns, got {points.shape[1]} in {name!r}: choose some, "
                "or bring them down with PCA"
            )
    if len({points.shape[1] for points in tables.values()}) > 1:
        raise ParameterError("sets must all have the same number of columns, got 2 and 3")
    return tables


def _labels(labels: Any, tables: Mapping[str, Floats]) -> dict[str, npt.NDArray[np.int64]]:
    found: dict[str, npt.NDArray[np.int64]] = {}
    for name, values in _known("labels", labels, tables).items():
        marks = np.asarray(values)
        if marks.shape != (len(tables[name]),) or marks.dtype.kind not in "iub":
            raise ParameterError(
                f"labels must be one whole number a point, got shape {marks.shape} of "
                f"{marks.dtype} for {len(tables[name])} points in {name!r}"
            )
        found[name] = marks.astype(np.int64)
    return found


def _centers(centers: Any, tables: Mapping[str, Floats], width: int) -> dict[str, Floats]:
    found = {
        name: validate_records(points)
        for name, points in _known("centers", centers, tables).items()
    }
    for name, points in found.items():
        if points.shape[1] != width:
            raise ParameterError(
                f"centers must have {width} columns, got {points.shape[1]} in {name!r}"
            )
    return found


def _known(parameter: str, given: Any, tables: Mapping[str, Floats]) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ParameterError(f"{parameter} must be a dict by set, got {type(given).__name__}")
    for name in given:
        if name not in tables:
            raise ParameterError(f"{parameter} must be of {', '.join(tables)}, got {name!r}")
    return given


def _limits(tables: Sequence[Floats], n_sets: int) -> tuple[Floats, Floats]:
    """Hold the middle of each set and all centers; a few far reports must not shrink the rest."""
    shares = [FAR] * n_sets + [0.0] * (len(tables) - n_sets)
    pairs = list(zip(tables, shares, strict=True))
    low = np.min([np.quantile(points, share, axis=0) for points, share in pairs], axis=0)
    high = np.max([np.quantile(points, 1 - share, axis=0) for points, share in pairs], axis=0)
    room = np.where(high > low, MARGIN * (high - low), 0.5)
    return low - room, high + room


def _clusters(points: Floats, marks: npt.NDArray[np.int64], clusters: Sequence[int]) -> list[Mark]:
    """Return the points of each cluster in its color; too many clusters have no names."""
    named = len(clusters) <= MAX_NAMED
    dots: list[Mark] = []
    for cluster in clusters:
        some, look = points[marks == cluster], cluster_look(cluster)
        name = cluster_name(cluster)
        dots.append(
            Points(
                at=some,
                color=look.color,
                marker=look.marker,
                name=name if named else "",
                says=name,
                **_dots(some),
            )
        )
    return dots


def _dots(points: npt.NDArray[Any]) -> dict[str, Any]:
    return {"area": 14.0 if len(points) < SHOWN // 6 else 8.0, "alpha": 0.65}


def _crosses(points: Floats) -> Points:
    return Points(at=points, color="#000000", marker="X", area=95.0, edge="#ffffff", name="centers")
