"""Where the clusters of a release lie, as GeoJSON: from the release alone, so nothing is spent."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shoal._typing import Floats
from shoal.density import outline_grid, outline_intervals, to_geojson
from shoal.exceptions import ParameterError

__all__ = ["find_longitude", "outline_release"]

# Names by which columns of places are known.
EAST = frozenset({"lon", "lng", "long", "longitude", "x"})
NORTH = frozenset({"lat", "latitude", "y"})
PLANE = 2


def outline_release(values: Mapping[str, Any], longitude: int | str | None) -> dict[str, Any]:
    """Return a feature for each cluster: polygons in two columns, intervals in one."""
    cells = np.full(values["shape"], -1, dtype=np.int64)
    cells.ravel()[values["cells"]] = values["clusters"]
    if cells.ndim > PLANE:
        raise ParameterError(
            f"outlines must be of clusters in 1 or 2 columns, got {cells.ndim}: use predict, or "
            "fit two of the columns"
        )
    edges = [
        _edges(float(low), float(high), side)
        for low, high, side in zip(values["low"], values["high"], cells.shape, strict=True)
    ]
    total = max(float(values["records"]), float(np.sum(values["sizes"])))
    known = {
        cluster: {"size": float(size), "share": float(size) / total}
        for cluster, size in enumerate(values["sizes"])
    }
    if cells.ndim == PLANE:
        x = find_longitude(values["columns"], longitude)
        return to_geojson(outline_grid(cells, edges), x=x, y=1 - x, properties=known)
    intervals = outline_intervals(edges[0][:-1], edges[0][1:], cells)
    features = [
        {
            "type": "Feature",
            "properties": {"cluster": cluster, **known[cluster], "intervals": list(map(list, own))},
            "geometry": None,
        }
        for cluster, own in intervals.items()
    ]
    return {"type": "FeatureCollection", "features": features}


def find_longitude(columns: Sequence[str] | None, longitude: int | str | None) -> int:
    """Return which of two columns goes east: the one that is named, or known by its name.

    >>> find_longitude(["lat", "lon"], None), find_longitude(["age", "height"], None)
    (1, 0)
    """
    names = list(columns or ())
    if longitude is None:
        plain = [name.strip().lower() for name in names]
        if len(plain) != PLANE:
            return 0
        first, second = plain
        known = (second in EAST and first not in EAST) or (first in NORTH and second not in NORTH)
        return int(known)
    if longitude in names:
        return names.index(str(longitude))
    if isinstance(longitude, str) or longitude not in (0, 1):
        raise ParameterError(
            f"longitude must be 0, 1 or one of the columns {names}, got {longitude!r}"
        )
    return int(longitude)


def _edges(low: float, high: float, side: int) -> Floats:
    """Return the borders of cells; no difference of the ends is taken, which may be too large."""
    part = np.arange(side + 1) / side
    return low * (1 - part) + high * part
