"""A density, its clusters and their tree on a frame that stays while thresholds move.

A page that lets a reader move thresholds shows many states of one density. The frame of this chart
(axes, colors, layers) knows the columns alone; all else is rows, headings included, so that a page
draws the frame once and exchanges rows, which takes milliseconds.
"""

import itertools
import json
import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from shoal._bounds import Box
from shoal._numbers import readable
from shoal._typing import Floats, Ints
from shoal.density import find_boxes
from shoal.exceptions import ParameterError
from shoal.plotting._canvas import Axis, Canvas, Key, Rows, panel, table
from shoal.plotting._cells import outline, pieces, runs
from shoal.plotting._density import (
    BANDS,
    band_levels,
    block_labels,
    block_means,
    cluster_heading,
    number_spots,
    seen_along,
)
from shoal.plotting._picture import Picture, alt
from shoal.plotting._releases import RASTER, finest_volume
from shoal.plotting._theme import (
    DARK_GRAY,
    GROWING,
    NOISE,
    RED,
    SQUARE,
    cluster_look,
    cluster_name,
)
from shoal.plotting._trees import (
    INSIDE,
    LETTER,
    STEM,
    Branches,
    branch_clusters,
    branch_places,
    chosen_branches,
    labels_apart,
    read_branches,
    whole_number,
)

__all__ = ["ShapesAxis", "draw_shapes", "shapes_rows"]

SIDE = 300  # pixels of a panel
AXIS_MARGIN = 105  # pixels of a panel beside its frame: long numbers have room
NAMED = 60  # clusters with a color of their own in the frame; colors repeat long before
MAP_LAYERS = 3  # of rectangles of a map: each takes as many rows as a layer of a chart may have
AXIS_PARTS = 4  # of an axis that has words instead of numbers
HEADROOM = 1.25  # above the highest peak of a tree, for labels
SEEN_PART = 0.98  # of the records: what boxes of the view hold
MARGIN = 0.1  # around them, of their width
MAX_STEPS = 512  # cells of a single column that are drawn
CHANNELS = {
    "rect": {"x2": "x2:Q", "y2": "y2:Q"},
    "rule": {"x2": "x2:Q", "y2": "y2:Q"},
    "text": {"text": "words:N"},
}


class ShapesAxis(NamedTuple):
    """Axis for one column of a density, in the units of the table.

    Parameters
    ----------
    name : str
        Name of the column, with its unit.
    low, high : float
        Public bounds of the column, or 0 and 1 if ``words`` are given.
    words : sequence of str, default=()
        Labels of five ticks from end to end, if values are not spaced evenly; empty if they are.

    Examples
    --------
    >>> from shoal.plotting import ShapesAxis
    >>> ShapesAxis("age (years)", 0.0, 120.0).name
    'age (years)'
    """

    name: str
    low: float
    high: float
    words: Sequence[str] = ()


def draw_shapes(
    release: Any,
    axes: Sequence[ShapesAxis] | None = None,
    *,
    level: float | None = None,
    title: str | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Picture:
    """Draw a density, its clusters and their tree, in a chart whose data can be replaced.

    Parameters
    ----------
    release : Release
        Release of a :class:`shoal.cluster.DPDensity` without strata.
    axes : sequence of ShapesAxis, default=None
        Axes of the columns, in the units of the table; None takes the columns of the release.
    level : float, default=None
        Density at which the tree was cut, drawn as a line.
    title : str, default=None
        Title of the whole chart.
    path : path, default=None
        File to write as well: PNG, SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture
        The chart; its data are those of :func:`shapes_rows`.

    Raises
    ------
    ParameterError
        If the release has strata or no density, or the file cannot be written.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> from shoal.cluster import DPDensity
    >>> from shoal.datasets import make_circle
    >>> X = make_circle(2_000, random_state=0).X
    >>> model = DPDensity(epsilon=4.0, bounds=(-1.5, 1.5), random_state=0).fit(X)
    >>> draw_shapes(model.release_)
    Picture(panels=3, records=False)
    """
    canvas = Canvas(path, title=title)
    shown = _Shown(release, axes)
    sheets = iter(_sheets(shown, level, density=True))
    key = Key(shown=False)
    for cluster in range(NOISE, NAMED):
        key.add(cluster_name(cluster), cluster_look(cluster).color, SQUARE)
    stems = Key(shown=False)
    for cluster in range(NOISE, NAMED):
        color = STEM if cluster == NOISE else cluster_look(cluster).color
        stems.add(cluster_name(cluster), color, SQUARE)
    panels: list[Any] = []
    for pair in shown.pairs:
        panels += [_map(canvas, sheets, shown, pair), _clusters(canvas, sheets, shown, pair, key)]
    panels.append(_tree(canvas, sheets, stems, shown.unit))
    across = 3 if len(panels) <= 3 else 4
    return canvas.finish(panels, columns=across, square=True, margin=AXIS_MARGIN)


def shapes_rows(
    release: Any,
    axes: Sequence[ShapesAxis] | None = None,
    *,
    level: float | None = None,
    density: bool = True,
) -> dict[str, Rows]:
    """Return the data of the chart of :func:`draw_shapes`, by the names of their data sets.

    Parameters
    ----------
    release, axes, level
        As for :func:`draw_shapes`.
    density : bool, default=True
        Whether to include the rows of the density, which is the same for other clusters.

    Returns
    -------
    rows : dict of str to list of dict
        Rows of each data set, to replace those in a chart of the same columns.

    Raises
    ------
    ParameterError
        If the release has strata or no density.

    Examples
    --------
    >>> from shoal.cluster import DPDensity
    >>> from shoal.datasets import make_circle
    >>> X = make_circle(2_000, random_state=0).X
    >>> model = DPDensity(epsilon=4.0, bounds=(-1.5, 1.5), random_state=0).fit(X)
    >>> shapes_rows(model.release_) == draw_shapes(model.release_).spec["datasets"]
    True
    """
    sheets = _sheets(_Shown(release, axes), level, density=density)
    return {f"rows-{number}": rows for number, rows in enumerate(sheets) if rows is not None}


class _Shown:
    """What is drawn of a release: density and clusters on a grid, and the tree."""

    def __init__(self, release: Any, axes: Sequence[ShapesAxis] | None) -> None:
        values: Mapping[str, Any] = release.values
        if "density" not in values or "tree" not in values:
            raise ParameterError(
                "release must be of a DPDensity without strata, got one of several or of another "
                "kind: choose columns without categories"
            )
        density = np.asarray(values["density"], dtype=np.float64)
        labels = np.full(density.shape, NOISE, dtype=np.int64)
        labels.flat[np.asarray(values["cells"], dtype=np.int64)] = values["clusters"]
        self.heading = cluster_heading(labels, density).replace(" of the records", "")
        self.values = values
        self.volume, self.unit = 1.0, "records a cell"
        if "cell_low" in values:
            self.volume, self.unit = finest_volume(values), "records in the finest cell"
        self.density, self.labels, view = _on_grid(values, density, labels)
        self.axes = _placed_axes(values, axes, view)
        self.columns = self.density.ndim
        wanted = itertools.combinations(range(self.columns), 2)
        self.pairs: list[tuple[int, ...]] = [(0,)] if self.columns == 1 else list(wanted)

    def ends(self, column: int) -> tuple[float, float]:
        """Return the ends of an axis."""
        return self.axes[column].low, self.axes[column].high


def _on_grid(values: Mapping[str, Any], density: Floats, labels: Ints) -> tuple[Floats, Ints, Box]:
    """Return density and clusters on a grid, and its box in parts of the public one."""
    columns = len(values["low"])
    if "cell_low" not in values:
        return density, labels, Box(np.zeros(columns), np.ones(columns))
    # Boxes are seen where the records are, whatever the clusters: the view stays as they change.
    half = values["half"]
    starts, ends = (np.asarray(values[end], dtype=np.float64) for end in ("cell_low", "cell_high"))
    order = np.argsort(-density / (ends - starts).prod(axis=1))
    held = np.cumsum(np.maximum(density[order], 0.0))
    inside = order[: int(np.searchsorted(held, SEEN_PART * held[-1])) + 1]
    first, last = starts[inside].min(axis=0), ends[inside].max(axis=0)
    margin = MARGIN * (last - first)
    first, last = np.maximum(first - margin, -half), np.minimum(last + margin, half)
    side = RASTER[columns]
    ticks = (np.arange(side) + 0.5) / side
    lines = [start + ticks * (end - start) for start, end in zip(first, last, strict=True)]
    points = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1)
    box = find_boxes(starts, ends, points.reshape(-1, columns)).reshape(points.shape[:-1])
    volumes = (ends - starts).prod(axis=1)
    view = Box((first + half) / (2 * half), (last + half) / (2 * half))
    # Cells of the raster have the unit of the tree: records in a cell as small as the finest.
    return (density * volumes.min() / volumes)[box], labels[box], view


def _placed_axes(
    values: Mapping[str, Any], axes: Sequence[ShapesAxis] | None, view: Box
) -> list[ShapesAxis]:
    """Return the axes of the part of the public box that is seen."""
    low, high = (np.asarray(values[end], dtype=np.float64) for end in ("low", "high"))
    names = values.get("columns") or [f"column {number}" for number in range(1, len(low) + 1)]
    given = axes or [ShapesAxis(*one) for one in zip(names, low, high, strict=False)]
    if len(given) != len(low):
        raise ParameterError(f"axes must be one for each of {len(low)} columns, got {len(given)}")
    return [
        axis._replace(
            low=float(axis.low + first * (axis.high - axis.low)),
            high=float(axis.low + last * (axis.high - axis.low)),
        )
        for axis, first, last in zip(given, view.low, view.high, strict=True)
    ]


# Rows, in the order in which layers take them.


def _sheets(shown: _Shown, level: float | None, *, density: bool) -> list[Rows | None]:
    """Return the rows of all layers; None for those of a density that is left out."""
    sheets: list[Rows | None] = []
    for number, pair in enumerate(shown.pairs):
        heading = shown.heading if not number else "Clusters"
        if len(pair) == 1:
            sheets += _line_sheets(shown, heading)
        else:
            left_out: list[Rows | None] = [None] * (MAP_LAYERS + 2)
            sheets += _map_sheets(shown, pair) if density else left_out
            sheets += _cluster_sheets(shown, pair, heading)
    return [*sheets, *_tree_sheets(shown, level)]


def _map_sheets(shown: _Shown, pair: tuple[int, ...]) -> list[Rows]:
    """Return rows of the density of two columns."""
    x, y = (shown.ends(column) for column in pair)
    others = tuple(column for column in range(shown.columns) if column not in pair)
    density = block_means(shown.density.sum(axis=others))
    levels = band_levels(density)
    bands = np.searchsorted(levels, density, side="right") - 1
    cells = runs(bands.T, x, y, names=[*map(str, range(BANDS))], overlap=0.3)
    for row in cells:
        row["band"] = int(row.pop("name"))
        row["value"] = float(f"{levels[row['band']]:.4g}")
    top = float(density.max())
    words = f"Density, from {_short(levels[0])} to {_short(top)}"
    frame = table(x=x[0], x2=x[1], y=y[0], y2=y[1])
    return [*_spread(cells), frame, table(words=words)]


def _cluster_sheets(shown: _Shown, pair: tuple[int, ...], heading: str) -> list[Rows]:
    """Return rows of the clusters in two columns."""
    one, other = pair
    x, y = shown.ends(one), shown.ends(other)
    found = np.setdiff1d(shown.labels, [NOISE])
    seen, held = seen_along(shown.labels, np.maximum(shown.density, 0.0), found, (one, other))
    labels = block_labels(seen, held)
    here = np.setdiff1d(labels, [NOISE])
    places = np.where(labels == NOISE, NOISE, np.searchsorted(here, labels))
    names = [cluster_name(int(cluster)) for cluster in here]
    filled = runs(places.T, x, y, names=names, overlap=0.3) if len(here) else []
    numbers: Rows = []
    if len(found):
        spots = number_spots(seen, held, found)
        at = [end[0] + spots[:, axis] * (end[1] - end[0]) for axis, end in enumerate((x, y))]
        rows = table(x=at[0], y=at[1], words=[*map(str, found.tolist())])
        numbers = [row for row in rows if row["x"] is not None]
    start_x, start_y, end_x, end_y = outline(labels.T, x=x, y=y).T
    border = table(x=start_x, y=start_y, x2=end_x, y2=end_y)
    frame = table(x=x[0], x2=x[1], y=y[0], y2=y[1])
    return [*_spread(filled), *_spread(border), frame, numbers, table(words=heading)]


def _line_sheets(shown: _Shown, heading: str) -> list[Rows]:
    """Return rows of the density of one column, and of its clusters."""
    step = -(-len(shown.density) // MAX_STEPS)
    starts = np.arange(0, len(shown.density), step)
    density = np.add.reduceat(shown.density, starts) / np.diff([*starts, len(shown.density)])
    labels = shown.labels[starts]
    low, high = shown.ends(0)
    edges = low + np.append(starts, len(shown.density)) / len(shown.density) * (high - low)
    names = [cluster_name(int(one)) for one in labels]
    heights = np.maximum(density, 0.0)
    bars = table(name=names, x=edges[:-1], x2=edges[1:], y=0.0, y2=heights)
    inside = [row for row, label in zip(bars, labels, strict=True) if label != NOISE]
    found = np.setdiff1d(labels, [NOISE])
    at = [int(np.where(labels == one, density, -np.inf).argmax()) for one in found]
    middles = (edges[at] + edges[[one + 1 for one in at]]) / 2
    numbers = table(x=middles, y=heights[at], words=[*map(str, found)]) if len(found) else []
    words = f"Density, up to {_short(float(density.max()))}"
    return [
        bars,
        table(words=words),
        inside or _unseen(low, name=cluster_name(NOISE)),
        numbers or _unseen(low, words=""),
        table(words=heading),
    ]


def _tree_sheets(shown: _Shown, level: float | None) -> list[Rows]:
    """Return rows of the tree, and of the level at which it is cut."""
    values = shown.values
    branches = read_branches(values["tree"], shown.volume)
    chosen, records = chosen_branches(branches, values["nodes"], values["sizes"])
    cluster = branch_clusters(branches, chosen)
    middle, half = branch_places(branches, float(SIDE))
    inner = np.ones(len(cluster), dtype=np.bool_)
    inner[chosen] = False
    names = [cluster_name(int(one)) for one in cluster]
    rows = table(
        name=names,
        x=middle - half,
        x2=middle + half,
        y=np.maximum(branches.base, 0.0),
        y2=np.maximum(branches.top, 0.0),
        size=branches.size,
    )
    part = inner & (cluster >= 0)
    words, summits = _tree_labels(branches, chosen, records, cluster)
    apart = labels_apart(middle[summits], LETTER * np.array([*map(len, words)], dtype=np.float64))
    labels = table(
        x=middle[summits[apart]],
        y=np.maximum(branches.top[summits[apart]], 0.0),
        words=[words[one] for one in apart],
    )
    joints: Rows = []
    for node in np.flatnonzero(~branches.is_leaf):
        children = np.flatnonzero(branches.parent == node)
        first, last = (middle - half)[children].min(), (middle + half)[children].max()
        at = max(float(branches.top[node]), 0.0)
        joints += table(x=first, x2=last, y=at, y2=at)
    highest = max(float(branches.top.max()), np.finfo(float).tiny)
    cut, named = [], ""
    if level is not None:
        at = level * shown.volume
        cut, named = table(x=0.0, x2=float(SIDE), y=at, y2=at), f"cut at {_short(at)}"
    unseen = _unseen(0.0, name=cluster_name(NOISE), size=0.0)
    return [
        joints or _unseen(0.0),
        [row for row, drawn in zip(rows, part, strict=True) if drawn] or unseen,
        [row for row, drawn in zip(rows, part, strict=True) if not drawn],
        labels if len(apart) else _unseen(0.0, words=""),
        cut or _unseen(0.0),
        [{name: row[name] for name in ("x", "y")} | {"words": named} for row in cut]
        or _unseen(0.0, words=""),
        table(x=0.0, y=HEADROOM * highest),
        table(words="Tree: number (noisy size)"),
    ]


def _tree_labels(
    branches: Branches, chosen: Ints, records: Floats, cluster: Ints
) -> tuple[list[str], Ints]:
    """Return the labels of clusters, and the branch that each stands above."""
    words = [f"{number} ({whole_number(size)})" for number, size in enumerate(records)]
    parts = [np.where(cluster == one, branches.top, -np.inf) for one in range(len(chosen))]
    return words, np.array([part.argmax() for part in parts], dtype=np.int64)


def _unseen(x: float, *, words: str | None = None, **fields: Any) -> Rows:
    """Return a row that is not seen: where an axis ends where rows do, no layer may be without."""
    if words is not None:
        return table(x=x, y=0.0, words=words)
    return table(**fields, x=x, x2=x, y=0.0, y2=0.0)


def _spread(rows: Rows) -> list[Rows]:
    """Return rows in a fixed number of layers."""
    parts = pieces(rows)[:MAP_LAYERS]
    return [*parts, *([] for _ in range(MAP_LAYERS - len(parts)))]


def _short(value: float) -> str:
    return readable(float(f"{value:.2g}"))


# The frame, which takes rows in the same order.


def _map(canvas: Canvas, sheets: Any, shown: _Shown, pair: tuple[int, ...]) -> Any:
    """Return the panel of the density."""
    layer = _layers(canvas, shown, pair)
    if len(pair) == 1:
        drawn = [layer(next(sheets), "rect", color=GROWING[2])]
    else:
        scale = alt.Scale(type="threshold", domain=[*range(1, BANDS)], range=list(GROWING[::-1]))
        color = {"color": alt.Color("band:Q", scale=scale, legend=None)}
        told = {"value": f"{shown.unit}, at least"}
        drawn = [
            *(
                layer(next(sheets), "rect", told=told, channels=color | CHANNELS["rect"])
                for _ in range(MAP_LAYERS)
            ),
            layer(next(sheets), "rect", filled=False, stroke=DARK_GRAY, strokeWidth=0.5),
        ]
    return panel(*drawn, _heading(canvas, next(sheets)), width=SIDE, height=SIDE)


def _clusters(canvas: Canvas, sheets: Any, shown: _Shown, pair: tuple[int, ...], key: Key) -> Any:
    """Return the panel of clusters with their numbers."""
    layer = _layers(canvas, shown, pair)
    told = {"name": " "}
    if len(pair) == 1:
        drawn = [layer(next(sheets), "rect", key=key, told=told)]
    else:
        line = {"color": DARK_GRAY, "strokeWidth": 0.8}
        drawn = [
            *(layer(next(sheets), "rect", key=key, told=told) for _ in range(MAP_LAYERS)),
            *(layer(next(sheets), "rule", **line) for _ in range(MAP_LAYERS)),
            layer(next(sheets), "rect", filled=False, stroke=DARK_GRAY, strokeWidth=0.5),
        ]
    numbers = next(sheets)
    look: dict[str, Any] = {"fontSize": 11, "fontWeight": 600}
    drawn += [layer(numbers, "text", stroke="#ffffff", strokeWidth=3.0, **look)]
    drawn += [layer(numbers, "text", **look)]
    return panel(*drawn, _heading(canvas, next(sheets)), width=SIDE, height=SIDE)


def _tree(canvas: Canvas, sheets: Any, key: Key, unit: str) -> Any:
    """Return the panel of the tree; where its axis ends is for the rows to say."""
    x = Axis("width of a branch: records (noisy)", (0.0, SIDE), labels=False, ticks=False)
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(type="sqrt", nice=False, zero=True),
        axis=alt.Axis(
            title=f"density ({unit}), square root",
            format=",.4~r",
            tickCount=6,
            labelOverlap="greedy",
        ),
    )
    layer = partial(_layer, canvas, x=x, y=y)
    told = {"name": " ", "y": "splits off at", "y2": "up to", "size": "records"}
    look: dict[str, Any] = {"stroke": DARK_GRAY, "strokeWidth": 0.6}
    drawn = [
        layer(next(sheets), "rule", color=DARK_GRAY, strokeWidth=1.2),
        layer(next(sheets), "rect", key=key, told=told, opacity=INSIDE, **look),
        layer(next(sheets), "rect", key=key, told=told, opacity=1.0, **look),
    ]
    labels = next(sheets)
    drawn += [layer(labels, "text", stroke="#ffffff", strokeWidth=2.5, dy=-8, fontSize=11)]
    drawn += [layer(labels, "text", dy=-8, fontSize=11)]
    drawn += [layer(next(sheets), "rule", color=RED, strokeWidth=1.8, strokeDash=[6, 3])]
    cut = next(sheets)
    place: dict[str, Any] = {"align": "left", "dx": 4, "dy": -6, "fontSize": 11}
    drawn += [layer(cut, "text", stroke="#ffffff", strokeWidth=2.5, **place)]
    drawn += [layer(cut, "text", color=RED, **place)]
    drawn += [layer(next(sheets), "point", opacity=0)]
    return panel(*drawn, _heading(canvas, next(sheets)), width=SIDE, height=SIDE)


def _layers(canvas: Canvas, shown: _Shown, pair: tuple[int, ...]) -> Any:
    axes = [_axis(shown.axes[column]) for column in pair]
    if len(axes) == 1:
        scale = alt.Scale(nice=False, zero=True)
        height = alt.Y("y:Q", scale=scale, axis=alt.Axis(title=shown.unit, tickCount=6))
        return partial(_layer, canvas, x=axes[0], y=height)
    return partial(_layer, canvas, x=axes[0], y=axes[1])


def _axis(axis: ShapesAxis) -> Axis:
    if not axis.words:
        return Axis(axis.name, (axis.low, axis.high))
    # Numbers that are not spread evenly: words at even parts of the public bounds, from 0 to 1.
    ticks = np.arange(AXIS_PARTS + 1) / AXIS_PARTS
    words = json.dumps(list(axis.words))
    expression = f"{words}[round(datum.value * {AXIS_PARTS})]"
    return Axis(axis.name, (axis.low, axis.high), ticks=ticks, labelExpr=expression)


def _layer(canvas: Canvas, rows: Rows, mark: str, **kwargs: Any) -> Any:
    """Return a layer that has all channels of its mark, whether or not it has rows."""
    channels = {**CHANNELS.get(mark, {}), **kwargs.pop("channels", {})}
    return canvas.layer(rows, mark, channels=channels, **kwargs)


def _heading(canvas: Canvas, rows: Rows) -> Any:
    """Return a line above a panel, which changes with the rows."""
    place = {"x": alt.value(0), "y": alt.value(-10)}
    look = {"align": "left", "baseline": "bottom", "fontSize": 12, "fontWeight": 600}
    return _layer(canvas, rows, "text", channels=CHANNELS["text"] | place, **look)
