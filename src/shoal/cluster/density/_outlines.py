"""Where the clusters of a release lie, as GeoJSON: from the release alone, so nothing is spent."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shoal._typing import Floats
from shoal.density import (
    outline_boxes,
    outline_grid,
    outline_intervals,
    place_cells,
    to_geojson,
)
from shoal.exceptions import ParameterError

__all__ = ["find_longitude", "outline_release"]

# Names by which columns of places are known.
EAST = frozenset({"lon", "lng", "long", "longitude", "x"})
NORTH = frozenset({"lat", "latitude", "y"})
PLANE = 2


def outline_release(values: Mapping[str, Any], longitude: int | str | None) -> dict[str, Any]:
    """Return a feature for each cluster: polygons in two columns, intervals in one."""
    columns = len(values["low"])
    if columns > PLANE:
        raise ParameterError(
            f"outlines must be of clusters in 1 or 2 columns, got {columns}: use predict, or "
            "fit two of the columns"
        )
    total = max(float(values["records"]), float(np.sum(values["sizes"])))
    known = {
        cluster: {"size": float(size), "share": float(size) / total}
        for cluster, size in enumerate(values["sizes"])
    }
    if columns == PLANE:
        x = find_longitude(values["columns"], longitude)
        return to_geojson(_polygons(values), x=x, y=1 - x, properties=known)
    low, high = (_placed(values, part) for part in place_cells(values))
    intervals = outline_intervals(low, high, values["clusters"]) if len(low) else {}
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


def _polygons(values: Mapping[str, Any]) -> dict[int, list[list[Floats]]]:
    """Return the polygons of each cluster, in the unit of the bounds."""
    if "shape" in values:
        cells = np.full(values["shape"], -1, dtype=np.int64)
        cells.ravel()[values["cells"]] = values["clusters"]
        polygons = outline_grid(cells, [np.arange(side + 1) / side for side in cells.shape])
    elif len(values["cells"]):
        # Parts of a box that was halved are exact in doubles.
        polygons = outline_boxes(*place_cells(values), values["clusters"])
    else:
        polygons = {}
    return {
        cluster: [[_placed(values, ring) for ring in polygon] for polygon in own]
        for cluster, own in polygons.items()
    }


def _placed(values: Mapping[str, Any], part: Floats) -> Floats:
    """Return parts of the box as points; no difference of its ends is taken: it may overflow."""
    points: Floats = values["low"] * (1 - part) + values["high"] * part
    return points
