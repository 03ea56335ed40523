"""Points in two or three columns: records, reports, remapped reports and their clusters."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal._records import validate_records
from shoal.exceptions import ParameterError
from shoal.plotting._layout import legend_below, lowest_panels, shape, words
from shoal.plotting._save import check_path, save
from shoal.plotting.style import COLOURS, SPARE, Look, panels

__all__ = ["draw_scatter"]

Floats = npt.NDArray[np.float64]

SHOWN = 3000  # points of a set: more only makes it darker
FAR = 0.01  # share of a set at either end that may lie outside the axes
MARGIN = 0.08
MOST_NAMED = 20  # clusters in the legend
NOISE = -1  # label of points in no cluster
FLAT, SOLID = 2, 3  # columns that can be drawn


def draw_scatter(
    path: Path,
    sets: Mapping[str, Any],
    *,
    labels: Mapping[str, Any] | None = None,
    centres: Mapping[str, Any] | None = None,
    columns: Sequence[str] | None = None,
    title: str | None = None,
) -> Path:
    """Draw sets of points side by side on the same axes.

    Parameters
    ----------
    path : Path
        PNG, PDF or SVG file to write.
    sets : mapping of str to array-like of shape (n, 2) or (n, 3)
        Points by name, such as "records", "reports" and "remapped", which have colours of their
        own; one panel a set, with at most 3,000 points, evenly taken. Axes hold the middle 98 % of
        each set; the title counts points outside.
    labels : mapping of str to array-like of shape (n,), default=None
        Cluster of each point, for some or all sets; -1 is noise.
    centres : mapping of str to array-like of shape (k, 2) or (k, 3), default=None
        Centres, for some or all sets.
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
    middles = _centres(centres, tables, width)
    names = _names(columns, width)
    low, high = _limits([*tables.values(), *middles.values()], len(tables))
    clusters = sorted(set().union(*(np.unique(found).tolist() for found in marks.values())))
    styles = {cluster: _look(cluster) for cluster in clusters}
    flat = width == FLAT
    across = shape(len(tables), most=4 if flat else 2)
    side = 3.9 if flat else 4.6
    size = {"width": max(side * across.columns, 4.8), "height": side * across.rows + 0.6}
    solid: dict[str, Any] = {} if flat else {"subplot_kw": {"projection": "3d"}}
    with panels(across.columns, rows=across.rows, **size, **solid) as (drawing, every):
        entries: dict[str, Any] = {}
        for axes, (name, points) in zip(every, tables.items(), strict=False):
            rows = np.unique(np.linspace(0, len(points) - 1, min(SHOWN, len(points))).astype(int))
            inside = rows[((points[rows] >= low) & (points[rows] <= high)).all(axis=1)]
            if name in marks:
                _clusters(axes, points[inside], marks[name][inside], styles, entries)
            else:
                colour = COLOURS.get(name.lower(), COLOURS["records"])
                _dots(axes, points[inside], Look(colour, "o", "-", ""))
            if name in middles:
                entries["centres"] = _crosses(axes, middles[name])
            beyond = len(rows) - len(inside)
            more = f" ({beyond} of {len(rows)} outside)" if beyond else ""
            axes.set_title(words(name) + more, loc="left")
            _frame(axes, low, high, names)
        lowest_panels(every, len(tables), across.columns)
        if title is not None:
            drawing.suptitle(words(title), fontsize="large", x=0.02, ha="left")
        _legend(drawing, entries)
        return save(drawing, path)


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


def _centres(centres: Any, tables: Mapping[str, Floats], width: int) -> dict[str, Floats]:
    found = {
        name: validate_records(points)
        for name, points in _known("centres", centres, tables).items()
    }
    for name, points in found.items():
        if points.shape[1] != width:
            raise ParameterError(
                f"centres must have {width} columns, got {points.shape[1]} in {name!r}"
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


def _names(columns: Sequence[str] | None, width: int) -> list[str]:
    if columns is None:
        return [f"column {number} (records' unit)" for number in range(1, width + 1)]
    if isinstance(columns, str) or len(columns) != width:
        raise ParameterError(f"columns must be {width} names, got {columns!r}")
    return [words(name) for name in columns]


def _limits(tables: Sequence[Floats], n_sets: int) -> tuple[Floats, Floats]:
    """Hold the middle of each set and all centres; a few far reports must not shrink the rest."""
    shares = [FAR] * n_sets + [0.0] * (len(tables) - n_sets)
    pairs = list(zip(tables, shares, strict=True))
    low = np.min([np.quantile(points, share, axis=0) for points, share in pairs], axis=0)
    high = np.max([np.quantile(points, 1 - share, axis=0) for points, share in pairs], axis=0)
    room = np.where(high > low, MARGIN * (high - low), 0.5)
    return low - room, high + room


def _look(cluster: int) -> Look:
    if cluster == NOISE:
        return Look("0.75", "x", "-", "")
    # After one round, colours come again with other markers.
    turn, place = divmod(cluster % len(SPARE) ** 2, len(SPARE))
    return Look(SPARE[place].colour, SPARE[(place + turn) % len(SPARE)].marker, "-", "")


def _clusters(
    axes: Any,
    points: Floats,
    marks: npt.NDArray[np.int64],
    styles: Mapping[int, Look],
    entries: dict[str, Any],
) -> None:
    for cluster, look in styles.items():
        dots = _dots(axes, points[marks == cluster], look)
        if len(styles) <= MOST_NAMED:
            name = "no cluster" if cluster == NOISE else f"cluster {cluster}"
            entries.setdefault(name, dots)


def _dots(axes: Any, points: Floats, look: Look) -> Any:
    thin = 0.6 if look.marker == "x" else 0.0
    size = 14 if len(points) < SHOWN // 6 else 8
    colours = {"color": look.colour, "alpha": 0.65, **_shade(points)}
    return axes.scatter(*points.T, s=size, marker=look.marker, linewidths=thin, **colours)


def _crosses(axes: Any, points: Floats) -> Any:
    colours = {"color": "black", "edgecolors": "white", **_shade(points)}
    return axes.scatter(*points.T, s=95, marker="X", zorder=5, **colours)


def _shade(points: Floats) -> dict[str, bool]:
    """Keep colours as they are in the depth, or the legend would show others."""
    return {"depthshade": False} if points.shape[1] == SOLID else {}


def _legend(drawing: Any, entries: Mapping[str, Any]) -> None:
    legend = legend_below(drawing, entries, handle=0.4)
    for handle in legend.legend_handles if legend else ():
        handle.set(alpha=1.0, sizes=[40])


def _frame(axes: Any, low: Floats, high: Floats, names: Sequence[str]) -> None:
    for letter, start, end, name in zip("xyz", low, high, names, strict=False):
        axes.set(**{f"{letter}lim": (start, end), f"{letter}label": name})
    if len(names) == SOLID:
        axes.computed_zorder = False  # centres stay in front
        axes.locator_params(nbins=5)
        axes.tick_params(labelsize=8)
        axes.set_box_aspect(None, zoom=0.86)  # the third name lies outside the panel otherwise
