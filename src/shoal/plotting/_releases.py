"""What was released, drawn: centers and their sizes in the public box; no record is in it."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from shoal._bounds import Box
from shoal._numbers import readable
from shoal._outlines import place_of_release, release_geojson
from shoal._typing import Floats, Ints
from shoal.density import find_boxes
from shoal.exceptions import ParameterError
from shoal.plotting._canvas import Axis, Canvas, Key, around, panel, table
from shoal.plotting._cells import draw_thresholds
from shoal.plotting._center_tables import draw_center_table
from shoal.plotting._density import cluster_heading, cluster_panels, density_panels
from shoal.plotting._maps import draw_map
from shoal.plotting._picture import Picture, alt
from shoal.plotting._points import BOX, FLAT, box_rows
from shoal.plotting._theme import COLORS, GRAY, NOISE, RING, line_glyph
from shoal.plotting._trees import tree_panel
from shoal.schema import Place, Schema

__all__ = ["draw_release"]

LARGEST, SMALLEST = 900.0, 14.0  # area of a cluster's dot, in pixels
HOLLOW = 190.0  # of a dot that may be noise alone, at least: its number fits inside
MAX_NAMES = 16  # columns whose names still fit below a chart
SHORT = 24  # letters of a name
WIDTH, HEIGHT = 420, 300
WIDE, HIGH = 660, 500  # where centers have labels
SMALLER = 0.35  # their dots, which labels lie beside
LETTER, LINE = 5.7, 13.0  # pixels of a label's letter, and of its line
CENTER, UNSURE = "center", "may be noise alone"
GAP = 4.0  # pixels between a dot and its label
# Where a label may be, from its dot: how much of its width aside, and how many lines below.
SIDES = np.array(
    [(side, line) for far in range(6) for line in (far, -far) for side in (1, -1, 0) if far or side]
)
DIRECTIONS = ("first principal direction of the centers", "second")
UNIT, BOUNDS_UNIT = "records' unit", "in units of the bounds"
MARGIN = 0.1  # around clusters of boxes, of their width
RASTER = {1: 1024, 2: 256, 3: 48, 4: 24}  # cells along each column that these are drawn on
NO_PROMISE = " (nothing is promised: not to be published)"


def draw_release(
    release: Any,
    columns: Sequence[str] | None = None,
    *,
    labels: Sequence[str] | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Picture | None:
    """Draw a release of clusters, with the public box around it.

    Parameters
    ----------
    release : Release
        Release of ``DPKMeans``, ``DPWaveCluster``, ``DPDensity``, or of an estimator on reports.
    columns : sequence of str, default=None
        Names of the columns; None takes those of the release, or else their indices.
    labels : sequence of str, default=None
        Names of the centers, which must be public. They replace the indices if centers are drawn in
        a plane (with one or two columns, or more than 16; others are drawn as a table).
    path : path, default=None
        File to write as well: PNG; for a release with a guarantee also SVG, PDF, HTML or JSON.

    Returns
    -------
    picture : Picture or None
        The chart; None if the release contains nothing that can be drawn (the significant cells of
        a sparse grid). If the release has no guarantee, the picture counts as one of records, for
        the curator only.

    Raises
    ------
    ParameterError
        If the file cannot be written.
    MissingPackageError
        If the extra ``plot`` is not installed.

    Examples
    --------
    >>> from shoal import DPKMeans
    >>> points = np.random.default_rng(0).uniform(size=(500, 2))
    >>> model = DPKMeans(3, bounds=(0.0, 1.0)).fit(points)
    >>> draw_release(model.release_, ["age", "income"])
    Picture(panels=1, records=False)
    """
    values = release.values
    place = place_of_release(values)
    if place is not None and ("sizes" in values or "centers" in values):
        return _draw_places(release, place, path)
    if "density" in values or "tree" in values:
        return _draw_density_release(release, _named(values, columns), path)
    if "centers" not in values:
        return draw_thresholds(release, path=path) if "band" in values else None
    measured = "noisy sizes"
    if "sizes" not in values:  # of reports: shares, and every center is one
        certain = np.ones(len(values["centers"]), dtype=np.bool_)
        values = {**values, "sizes": values["weights"], "certain": certain}
        measured = "shares"
    columns = _named(values, columns)
    holds = release.guarantee.holds
    canvas = Canvas(path, records=not holds)
    if labels is not None and len(labels) != len(values["centers"]):
        raise ParameterError(
            f"labels must be one for each of {len(values['centers'])} centers, got {len(labels)}"
        )
    title = f"Released centers and {measured}{'' if holds else NO_PROMISE}"
    names = short_names(columns)
    if "schema" in values or FLAT < len(names) <= MAX_NAMES:
        return draw_center_table(canvas, values, names, title=title)
    key = Key()
    if values["certain"].any():
        key.add(CENTER, COLORS["central"], "circle")
    if not values["certain"].all():
        key.add(UNSURE, GRAY, RING)
    if len(names) <= FLAT:
        key.add("public box", GRAY, line_glyph(BOX["strokeDash"]))
    if len(names) > MAX_NAMES:
        layers = _places(canvas, _mapped(values), DIRECTIONS, key, labels, in_box=False)
    else:
        layers = _places(canvas, values, names, key, labels)
    width, height = (WIDTH, HEIGHT) if labels is None else (WIDE, HIGH)
    drawn = panel(*layers, canvas.legend(key), width=width, height=height, title=title)
    return canvas.finish([drawn], key=key)


def _draw_places(release: Any, place: Place, path: str | os.PathLike[str] | None) -> Picture:
    """Show the clusters of places on a map."""
    holds = release.guarantee.holds
    what = "centers" if "centers" in release.values else "clusters"
    return draw_map(
        release_geojson(release.values),
        center=place.center or (0.0, 0.0),
        radius=float(place.radius or 0.0),
        records=not holds,
        title=f"Released {what} of {place.title or place.name}{'' if holds else NO_PROMISE}",
        path=path,
    )


def _draw_density_release(
    release: Any, columns: Sequence[str], path: str | os.PathLike[str] | None
) -> Picture:
    """Show the noisy density, its clusters and their tree side by side."""
    values, holds = release.values, release.guarantee.holds
    title = f"Released density, clusters and their tree{'' if holds else NO_PROMISE}"
    canvas = Canvas(path, title=title, records=not holds)
    released = released_density(values)
    clusters_of = np.full(released.shape, NOISE, dtype=np.int64)
    clusters_of.flat[values["cells"]] = values["clusters"]
    heading = cluster_heading(clusters_of, released)
    density, cells, box = gridded(values, released, clusters_of)
    names = [f"{name} ({UNIT})" for name in short_names(columns)]
    maps = density_panels(canvas, density, box, names)
    clusters = cluster_panels(canvas, cells, density, box, names, heading=heading)
    given = {"nodes": values["nodes"], "sizes": values["sizes"], "height": float(maps[0].height)}
    if "cell_low" in values:  # densities are per volume of the box
        given |= {"unit": "records in the finest cell", "volume": finest_volume(values)}
    tree, least = tree_panel(canvas, values["tree"], **given)
    # A pair of columns has its density and its clusters side by side.
    sides = [one for both in zip(maps, clusters, strict=True) for one in both]
    across = 3 if len(maps) == 1 else 4
    return canvas.finish([*sides, tree], columns=across, square=True, least=least)


def released_density(values: Mapping[str, Any]) -> Floats:
    """Return the density of all cells; where only those of clusters have one, 0 elsewhere."""
    if "density" in values:
        return np.asarray(values["density"], dtype=np.float64)
    density = np.zeros(tuple(values["shape"]))
    density.flat[values["cells"]] = values["values"]
    return density


def _named(values: Mapping[str, Any], columns: Sequence[str] | None) -> list[str]:
    """Return names of the columns, or their numbers."""
    if columns is None and "schema" in values:  # a place has two columns
        columns = Schema.from_dict(values["schema"]).space.names
    count = len(values["low"])
    return list(columns or values.get("columns") or [f"column {n}" for n in range(1, count + 1)])


def finest_volume(values: Mapping[str, Any]) -> float:
    """Return the volume of the smallest of the boxes, as a part of the public box."""
    widths = np.asarray(values["cell_high"], dtype=np.float64) - values["cell_low"]
    return float((widths / (2 * values["half"])).prod(axis=1).min())


def gridded(values: Mapping[str, Any], density: Floats, cells: Ints) -> tuple[Floats, Ints, Box]:
    """Return density and clusters on a grid, and its box; of boxes, on one around the clusters."""
    low, high = (np.asarray(values[end], dtype=np.float64) for end in ("low", "high"))
    if "cell_low" not in values:
        return density, cells, Box(low, high)
    starts, ends = (np.asarray(values[end], dtype=np.float64) for end in ("cell_low", "cell_high"))
    inside = cells != NOISE if len(values["cells"]) else np.ones(len(cells), dtype=np.bool_)
    first, last = starts[inside].min(axis=0), ends[inside].max(axis=0)
    half = values["half"]
    margin = MARGIN * (last - first)
    first, last = np.maximum(first - margin, -half), np.minimum(last + margin, half)
    side = RASTER[len(low)]
    ticks = (np.arange(side) + 0.5) / side
    axes = [start + ticks * (end - start) for start, end in zip(first, last, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    held = find_boxes(starts, ends, points.reshape(-1, len(low))).reshape(points.shape[:-1])
    # Records of a cell of the raster, which is a part of a box or as large as several.
    ratio = ((last - first) / side / (ends - starts)).prod(axis=1)
    unit = (high - low) / (2 * half)
    drawn = Box(low + (first + half) * unit, low + (last + half) * unit)
    return (density * ratio)[held], cells[held], drawn


def short_names(columns: Sequence[str]) -> list[str]:
    """Return names of columns that fit beside a chart."""
    return [name if len(name) <= SHORT else name[: SHORT - 1] + "…" for name in columns]


def _mapped(values: Any) -> dict[str, Any]:
    """Turn centers of many columns so that two of them show the most; no record takes part."""
    low, high = (np.asarray(values[name], dtype=np.float64) / 2 for name in ("low", "high"))
    centers = np.asarray(values["centers"], dtype=np.float64) / 2 / (high - low)
    weights = np.maximum(np.asarray(values["sizes"], dtype=np.float64), 1.0)[:, None]
    offsets = centers - (weights * centers).sum(axis=0) / weights.sum()
    _, _, directions = np.linalg.svd(np.sqrt(weights) * offsets, full_matrices=False)
    plane = np.zeros((len(centers), FLAT))
    plane[:, : len(directions[:FLAT])] = offsets @ directions[:FLAT].T
    corners = {"low": plane.min(axis=0), "high": plane.max(axis=0)}
    return {**values, **corners, "centers": plane}


def _places(
    canvas: Canvas,
    values: Any,
    names: Sequence[str],
    key: Key,
    labels: Sequence[str] | None,
    *,
    in_box: bool = True,
) -> list[Any]:
    """Show centers of one column on a line, of two in the plane."""

    def plane(points: Any) -> Floats:
        return points if points.shape[1] == 2 else np.column_stack([points, np.zeros(len(points))])

    low, high = plane(np.stack([values["low"], values["high"]]).astype(np.float64))
    centers = plane(np.asarray(values["centers"], dtype=np.float64))
    reach = np.vstack([centers, low, high])
    unit = UNIT if in_box else BOUNDS_UNIT
    x = Axis(f"{names[0]} ({unit})", around(reach[:, 0], 0.08))
    y = Axis("", (-1.0, 1.0), labels=False, ticks=False)
    if len(names) > 1:
        y = Axis(f"{names[1]} ({unit})", around(reach[:, 1], 0.08))
    layer = partial(canvas.layer, x=x, y=y)
    certain = np.asarray(values["certain"], dtype=bool)
    areas = np.maximum(_areas(values["sizes"]), np.where(certain, 0.0, HOLLOW))
    if labels is not None:
        areas *= SMALLER
    size = {"size": alt.Size("area:Q", scale=None, legend=None)}
    told = {"note": " ", "x": names[0]} | ({"y": names[1]} if len(names) > 1 else {})
    layers = [layer(box_rows(low, high), "line", key=key, **BOX)] if in_box else []
    for chosen, name in ((certain, CENTER), (~certain, UNSURE)):
        rows = table(
            name=[name] * int(chosen.sum()),
            x=centers[chosen, 0],
            y=centers[chosen, 1],
            area=areas[chosen],
            note=[_note(values, number, labels) for number in np.flatnonzero(chosen).tolist()],
        )
        look: dict[str, Any] = {
            "filled": name == CENTER,
            "opacity": 0.55 if name == CENTER else 1.0,
        }
        layers.append(
            layer(rows, "point", key=key, told=told, channels=size, shape="circle", **look)
        )
    if labels is None:
        numbers = [*map(str, range(len(centers)))]
        words = table(x=centers[:, 0], y=centers[:, 1], words=numbers)
        return [*layers, layer(words, "text", fontSize=11)]
    ends = np.array([x.domain, y.domain]).T
    spots = _apart(centers, ends, np.sqrt(areas / np.pi), labels)
    (x1, y1), (x2, y2) = centers.T, spots.T
    lines = layer(table(x=x1, y=y1, x2=x2, y2=y2), "rule", color=GRAY, opacity=0.35)
    words = table(x=x2, y=y2, words=[*labels])
    # A halo of the paper's color keeps words readable where they lie on a line.
    halo = layer(words, "text", fontSize=11, stroke="#ffffff", strokeWidth=3.5)
    return [lines, *layers, halo, layer(words, "text", fontSize=11)]


def _apart(centers: Floats, ends: Floats, radii: Floats, labels: Sequence[str]) -> Floats:
    """Return where labels go: beside their dots, off each other and inside the panel if they can.

    Large dots choose first, among places around them, the nearest first.
    """
    scale = np.array([WIDE, -HIGH]) / (ends[1] - ends[0])
    dots = (centers - ends[0]) * scale + [0.0, HIGH]  # pixels, from the upper left
    taken = np.column_stack([dots - radii[:, None], dots + radii[:, None]])
    spots = np.empty_like(dots)
    for number in np.argsort(-radii, kind="stable"):
        half = np.array([LETTER * len(labels[number]), LINE]) / 2
        beside = SIDES * [half[0] + radii[number] + GAP, LINE]
        beside[:, 1] += np.sign(SIDES[:, 1]) * np.where(SIDES[:, 0] == 0, radii[number], 0.0)
        found = dots[number] + beside
        boxes = np.hstack([found - half, found + half])
        over = np.minimum(boxes[:, None, 2:], taken[:, 2:]) - np.maximum(
            boxes[:, None, :2], taken[:, :2]
        )
        cost = np.maximum(over, 0.0).prod(axis=2).sum(axis=1)
        cost += 1e3 * ((boxes[:, :2] < 0) | (boxes[:, 2:] > [WIDE, HIGH])).sum(axis=1)
        best = int(cost.argmin())
        spots[number], taken = found[best], np.vstack([taken, boxes[best]])
    return np.asarray((spots - [0.0, HIGH]) / scale + ends[0])


def _note(values: Any, number: int, labels: Sequence[str] | None = None) -> str:
    label = "" if labels is None else f" ({labels[number]})"
    size = readable(float(values["sizes"][number]))
    unsure = "" if values["certain"][number] else f", {UNSURE}"
    measure = "share" if "weights" in values else "noisy size"
    return f"cluster {number}{label}, {measure} {size}{unsure}"


def _areas(sizes: Any) -> Floats:
    every = np.asarray(sizes, dtype=np.float64)
    return np.asarray(np.maximum(LARGEST * every / max(float(np.max(every)), 1.0), SMALLEST))
